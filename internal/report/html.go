package report

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"unicode/utf8"
)

//go:embed template/report.html.tmpl template/blocks.html.tmpl template/style.css
var templates embed.FS

// longText is the number of characters above which a prompt is collapsed.
const longText = 1200

// textBudget bounds the prompt and answer bytes of one report.html. Beyond it the
// middle of a text is left out and the stored request named instead: a page of some
// hundred prompts of 128k tokens could not be opened.
const textBudget = 48 << 20

// keptEnds is how much of the start and of the end of such a text stays, in bytes.
const keptEnds = 4 << 10

// page is what the template sees: only texts made visible and numbers.
type page struct {
	Style    template.CSS
	Run      Run
	Tone     string // class of the banner: good, bad, unsure
	Started  string
	Elapsed  string
	Grids    []gridView
	Findings []findingView
	Counts   []outcomeCount
	Charts   []chartView // cliffs first
	// Diagnosed is set where there is a diagnosis to show.
	Diagnosed bool
	Incident  string
	Exchanges []exchangeView
	Others    []Case // neither passed nor among the findings
}

type outcomeCount struct {
	Outcome Outcome
	Count   int
}

// WriteHTML writes run as one self-contained HTML page: inline style and SVG, no
// script, no external resource, and a content security policy that forbids both. It
// follows the reader's light or dark preference, every part can be reached by
// keyboard, and states differ in shape as well as in colour.
func WriteHTML(w io.Writer, run Run) error {
	css, err := templates.ReadFile("template/style.css")
	if err != nil {
		return fmt.Errorf("reading the embedded report style: %w", err)
	}
	t, err := template.New("report.html.tmpl").Funcs(template.FuncMap{
		"visible": visible, "line": func(v any) string { return oneLine(visible(fmt.Sprint(v))) },
		"nats": nats, "thousands": thousands, "recall": recallText,
		"numeric": numericColumn, "count": count, "number": number, "glyph": func(s State) string { return s.Glyph(false) },
	}).ParseFS(templates, "template/report.html.tmpl", "template/blocks.html.tmpl")
	if err != nil {
		return fmt.Errorf("parsing the embedded report template: %w", err)
	}
	p := page{Style: template.CSS(css), Run: run, Tone: tone(run.Verdict.Code)} //nolint:gosec // our own embedded file
	if run.Verdict.Text == "" {
		p.Run.Verdict.Text = run.Verdict.Word()
	}
	if !run.Started.IsZero() {
		p.Started = run.Started.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	if run.Elapsed > 0 {
		p.Elapsed = seconds(run.Elapsed)
	}
	anchors := map[string]string{}
	budget := textBudget
	for i, f := range run.Findings {
		v := newFindingView(f, fmt.Sprintf("finding-%d", i+1), &budget)
		if _, ok := anchors[f.Case]; !ok && f.Case != "" {
			anchors[f.Case] = v.Anchor
		}
		p.Findings = append(p.Findings, v)
	}
	for _, h := range run.Grids {
		g, err := newGridView(h, anchors)
		if err != nil {
			return fmt.Errorf("drawing the heat map %q: %w", h.Title, err)
		}
		p.Grids = append(p.Grids, g)
	}
	for _, c := range run.Exchanges {
		p.Exchanges = append(p.Exchanges, newExchangeView(c, &budget))
	}
	if p.Charts, err = newChartViews(run); err != nil {
		return err
	}
	p.Diagnosed, p.Incident = len(run.Diagnosis.facts()) > 0, Incident(run)
	p.Counts, p.Others = countCases(run.Cases, anchors)
	if err := t.Execute(w, p); err != nil {
		return fmt.Errorf("writing the HTML report: %w", err)
	}
	return nil
}

// countCases counts outcomes, worst last, and lists what did not pass without being a
// finding: a reader must see what was left out.
func countCases(cases []Case, findings map[string]string) (counts []outcomeCount, others []Case) {
	n := map[Outcome]int{}
	for _, c := range cases {
		n[c.Outcome]++
		if _, ok := findings[c.ID]; !ok && c.Outcome != Pass {
			others = append(others, c)
		}
	}
	for _, o := range []Outcome{Pass, Skip, NotMeasured, Fail, Error} {
		if n[o] > 0 {
			counts = append(counts, outcomeCount{o, n[o]})
			delete(n, o)
		}
	}
	unknown := 0
	for _, k := range n {
		unknown += k
	}
	if unknown > 0 {
		counts = append(counts, outcomeCount{"unknown", unknown})
	}
	return counts, others
}

func tone(code int) string {
	switch code {
	case 0:
		return "good"
	case 3:
		return "unsure"
	default:
		return "bad"
	}
}

// findingView is a finding with its texts prepared for the page.
type findingView struct {
	Finding
	Anchor  string
	Worst   string // smallest margin, or empty
	Prompt  []mark
	Chars   int // length of the whole prompt in characters
	Long    bool
	Answer  string
	Elided  bool
	Margins []marginView
	Drawn   []pictureView
}

// mark is a piece of a prompt; Hit pieces are the expected text.
type mark struct {
	Text string
	Hit  bool
}

// marginView is one token's margin as a bar.
type marginView struct {
	Margin
	GoldenText string
	Negative   bool
}

func newFindingView(f Finding, anchor string, budget *int) findingView {
	v := findingView{Finding: f, Anchor: anchor, Chars: utf8.RuneCountInString(f.Prompt)}
	v.State = f.State.Known()
	v.Long = v.Chars > longText
	prompt, cut := elide(f.Prompt, budget)
	answer, cutAnswer := elide(f.Answer, budget)
	v.Elided = cut || cutAnswer
	v.Prompt = highlight(visible(prompt), visible(f.Expected))
	v.Answer = visible(answer)
	for _, p := range f.Pictures {
		v.Drawn = append(v.Drawn, p.draw())
	}
	for i, m := range f.Margins {
		mv := marginView{Margin: m, Negative: m.Got < 0}
		if m.Golden != nil {
			mv.GoldenText = nats(*m.Golden)
		}
		v.Margins = append(v.Margins, mv)
		if i == 0 || m.Got < lowest(f.Margins[:i]) {
			v.Worst = nats(m.Got)
		}
	}
	return v
}

func lowest(ms []Margin) float64 {
	low := ms[0].Got
	for _, m := range ms {
		low = min(low, m.Got)
	}
	return low
}

// elide takes s out of budget; once that is used up only both ends of s are kept.
func elide(s string, budget *int) (string, bool) {
	if len(s) <= *budget || len(s) <= 2*keptEnds {
		*budget -= min(len(s), *budget)
		return s, false
	}
	head, tail := s[:keptEnds], s[len(s)-keptEnds:]
	gap := fmt.Sprintf("\n… %s bytes left out, see the stored request …\n", thousands(len(s)-2*keptEnds))
	return strings.ToValidUTF8(head, "") + gap + strings.ToValidUTF8(tail, ""), true
}

// highlight cuts text at every occurrence of want, which short or frequent needles
// must not turn into thousands of elements: after 50 the rest stays plain.
func highlight(text, want string) []mark {
	if strings.TrimSpace(want) == "" {
		return []mark{{Text: text}}
	}
	var out []mark
	for range 50 {
		before, after, ok := strings.Cut(text, want)
		if !ok {
			break
		}
		out = append(out, mark{Text: before}, mark{Text: want, Hit: true})
		text = after
	}
	return append(out, mark{Text: text})
}
