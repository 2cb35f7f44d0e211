package report

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// labelWidth is the column at which the text of an aligned line begins.
const labelWidth = 13

// subWidth is the width of an indented fact's label.
const subWidth = 10

// Style says what the output device can show.
type Style struct {
	Color    bool // ANSI colours for glyphs and verdict
	Live     bool // a terminal: the progress bar may overwrite its own line
	ASCII    bool // no UTF-8: 7-bit signs only
	Width    int  // columns; 0 means unlimited (a file or a pipe): nothing is wrapped
	Findings int  // how many findings WriteBody prints in full
}

// StyleFor finds out what f can show. Colour and overwriting need a terminal without
// NO_COLOR (no-color.org: set and not empty) and TERM other than dumb. Glyphs are
// UTF-8 unless the locale (LC_ALL, else LC_CTYPE, else LANG) names another charset;
// that holds for pipes too, so that a log shows the same heat map as the screen.
func StyleFor(f *os.File) Style {
	s := Style{ASCII: !utf8Locale(), Findings: 3}
	if f == nil || !term.IsTerminal(int(f.Fd())) {
		return s
	}
	if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
		s.Width = w
	}
	noColor, _ := os.LookupEnv("NO_COLOR")
	termName, _ := os.LookupEnv("TERM")
	s.Live = noColor == "" && termName != "dumb"
	s.Color = s.Live
	return s
}

// utf8Locale reports whether the locale is UTF-8 or not set at all.
func utf8Locale() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v, ok := os.LookupEnv(name); ok && v != "" {
			v = strings.ToLower(v)
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return true
}

// WriteHead prints what is known before the first request: title, pre-flight, plan.
func WriteHead(w io.Writer, r Run, s Style) error {
	var b strings.Builder
	title := strings.TrimRight("assay  "+oneLine(r.Title), " ")
	hint := oneLine(r.Hint)
	switch {
	case hint == "":
		b.WriteString(title + "\n")
	case s.Width > 0 && width(title)+10+width(hint) > s.Width:
		b.WriteString(title + "\n       " + hint + "\n")
	default:
		b.WriteString(title + strings.Repeat(" ", 10) + hint + "\n")
	}
	if len(r.Capabilities) > 0 {
		var parts []string
		for _, c := range r.Capabilities {
			parts = append(parts, strings.TrimSpace(oneLine(c.Name)+" "+oneLine(c.Value)))
		}
		writeFact(&b, Fact{Label: "pre-flight", Text: strings.Join(parts, " · ")}, s)
	}
	if len(r.Plan) > 0 {
		writeFact(&b, Fact{Label: "plan", Text: strings.Join(r.Plan, "\n")}, s)
	}
	return s.emit(w, b.String())
}

// WriteBody prints what the run found, without the verdict: heat maps, facts, tables
// marked for the terminal, the first findings and where the report lies.
func WriteBody(w io.Writer, r Run, s Style) error {
	var b strings.Builder
	for _, h := range r.Grids {
		b.WriteByte('\n')
		writeHeatMap(&b, h, s)
	}
	for _, f := range r.Facts {
		writeFact(&b, f, s)
	}
	writeBlocks(&b, r, s)
	for _, t := range r.Tables {
		if t.Terminal {
			writeTable(&b, t)
		}
	}
	shown := min(max(s.Findings, 0), len(r.Findings))
	for _, f := range r.Findings[:shown] {
		b.WriteString(FindingText(f))
	}
	if rest := len(r.Findings) - shown; rest > 0 {
		where := "listed in the report"
		if shown > 0 {
			where = "more in the report"
		}
		with := "prompt, answer and curl line"
		if r.Findings[shown].Repro != "" {
			with = "cause, picture and repro"
		}
		writeFact(&b, Fact{Label: "failing", Text: fmt.Sprintf("%d %s, each with %s", rest, where, with)}, s)
	}
	if r.Report != "" {
		writeFact(&b, Fact{Label: "report", Text: r.Report, Verbatim: true}, s)
	}
	if r.Diagnosis.Faulty() {
		b.WriteString("\nfor the incident channel:\n" + Incident(r) + "\n")
	}
	return s.emit(w, b.String())
}

// FindingText is the failure as a person can act on it, one aligned line per part,
// ending in a line break. It has no colour: it also goes into test logs.
func FindingText(f Finding) string {
	var b strings.Builder
	head := "FAIL"
	if f.State == Unmeasured {
		head = "NOT MEASURED"
	}
	fmt.Fprintf(&b, "--- %s: %s", head, oneLine(f.Case))
	if f.Class != "" {
		fmt.Fprintf(&b, " (%s)", oneLine(f.Class))
	}
	b.WriteByte('\n')
	got := f.Got
	if got == "" {
		got = f.Answer
	}
	curl, rerun := f.Curl, f.Again
	if rerun == "" { // a live cell is run again by sending its request again
		curl, rerun = "", curl
	}
	for _, l := range []struct{ label, text string }{
		{"claim", f.Claim},
		{"got", got},
		{"want", f.Expected},
		{"margin", marginText(f.Margins)},
		{"shape", f.Shape},
		{"likely", f.Likely},
		{"request", f.Request},
		{"curl", curl},
		{"again", rerun},
		{"repro", f.Repro},
	} {
		if text := oneLine(l.text); text != "" {
			b.WriteString("    " + padRight(l.label, 9) + text + "\n")
		}
	}
	return b.String()
}

// marginText lists the margins of a finding's tokens in order, in nats.
func marginText(ms []Margin) string {
	var parts []string
	for _, m := range ms {
		s := fmt.Sprintf("%q %s", m.Token, nats(m.Got))
		if m.Golden != nil {
			s += " (golden " + nats(*m.Golden) + ")"
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, " · ")
}

// emit writes text, in 7 bits where the style asks for it.
func (s Style) emit(w io.Writer, text string) error {
	if s.ASCII {
		text = ascii(text)
	}
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("writing the report to the terminal: %w", err)
	}
	return nil
}

// writeFact prints one aligned line with its continuation lines and sub-facts.
func writeFact(b *strings.Builder, f Fact, s Style) {
	writeLabelled(b, "", f, labelWidth, s)
	for _, sub := range f.Sub {
		writeLabelled(b, strings.Repeat(" ", labelWidth), sub, subWidth, s)
	}
}

func writeLabelled(b *strings.Builder, indent string, f Fact, at int, s Style) {
	label := oneLine(f.Label)
	if width(label) > at-2 {
		at = width(label) + 2
	}
	room := 0
	if s.Width > 0 && !f.Verbatim {
		// A very narrow window still gets some text per line.
		room = max(s.Width-width(indent)-at, 20)
	}
	for i, line := range wrap(printable(f.Text), room) {
		head := strings.Repeat(" ", at)
		if i == 0 {
			head = padRight(label, at)
		}
		b.WriteString(strings.TrimRight(indent+head+line, " ") + "\n")
	}
}
