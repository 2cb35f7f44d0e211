package report

import (
	"fmt"
	"os"
	"strings"
)

// summaryVariable names the file whose Markdown GitHub shows on the page of a job.
const summaryVariable = "GITHUB_STEP_SUMMARY"

// summaryFindings and summaryBytes bound the summary: GitHub refuses more than 1 MiB a step, and nobody reads that.
const (
	summaryFindings = 10
	summaryBytes    = 200 << 10
)

// Summary is the run as GitHub Markdown for the page of a job: verdict, the ten lines to copy, heat maps as text,
// suspects and the first failing cases. Every text of others is escaped, so that it can make neither markup nor links
// nor images.
func Summary(r Run) string {
	var b strings.Builder
	sign := map[string]string{"good": "✅", "unsure": "⚠️", "bad": "❌"}[tone(r.Verdict.Code)]
	fmt.Fprintf(&b, "### %s assay: %s\n\n", sign, strings.TrimSpace(r.Verdict.Word()+" · "+markdown(r.Title)))
	if r.Verdict.Text != "" {
		fmt.Fprintf(&b, "**%s**\n\n", markdown(r.Verdict.Text))
	}
	b.WriteString(fenced(Incident(r)))
	for _, h := range r.Grids {
		if len(h.Rows) > 0 && len(h.Cols) > 0 && len(h.Cols) <= 30 && len(h.Rows) <= 60 {
			var grid strings.Builder
			writeHeatMap(&grid, h, Style{})
			b.WriteString(fenced(grid.String()))
		}
	}
	if len(r.Suspects) > 0 {
		b.WriteString("| suspect | state | evidence | next |\n|---|---|---|---|\n")
		for _, s := range r.Suspects {
			fmt.Fprintf(&b, "| %s | **%s** | %s | %s |\n", markdown(s.Name), s.State.Known(),
				markdown(strings.Join(s.Evidence, "; ")), markdown(s.Next))
		}
		b.WriteString("\n")
	}
	if counts, _ := countCases(r.Cases, nil); len(counts) > 0 {
		var parts []string
		for _, c := range counts {
			parts = append(parts, fmt.Sprintf("%s %s", thousands(c.Count), markdown(string(c.Outcome))))
		}
		b.WriteString("cases: " + strings.Join(parts, ", ") + "\n\n")
	}
	for i, f := range r.Findings {
		if i == summaryFindings || b.Len() > summaryBytes {
			fmt.Fprintf(&b, "%d more failing cases are in the report.\n", len(r.Findings)-i)
			break
		}
		b.WriteString(fenced(clipBytes(FindingText(f), 8<<10)))
	}
	return b.String()
}

// markdown escapes s for a line of Markdown outside of code: every sign of ASCII that could mean something.
func markdown(s string) string {
	var b strings.Builder
	for _, r := range clip(oneLine(s), 500) {
		switch {
		case r == '<':
			b.WriteString("&lt;")
		case r == '&':
			b.WriteString("&amp;")
		case strings.ContainsRune("!\"#$%'()*+,-./:;=>?@[\\]^_`{|}~", r):
			b.WriteString("\\" + string(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// fenced is s as a block of code. The fence is longer than any run of backticks inside, so that nothing gets out.
func fenced(s string) string {
	longest, run := 2, 0
	for _, r := range s {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	return fence + "text\n" + strings.TrimRight(printable(s), "\n") + "\n" + fence + "\n\n"
}

// clipBytes cuts s to n bytes, and says so.
func clipBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "\n… cut\n"
}

// appendSummary appends the summary to the file that GitHub names, if it names one.
func appendSummary(r Run) (err error) {
	path, ok := os.LookupEnv(summaryVariable)
	if !ok || path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("opening the step summary %q (%s): %w", path, summaryVariable, err)
	}
	defer func() {
		if e := f.Close(); err == nil && e != nil {
			err = fmt.Errorf("closing the step summary %q: %w", path, e)
		}
	}()
	if _, err := f.WriteString(Summary(r)); err != nil {
		return fmt.Errorf("appending to the step summary %q: %w", path, err)
	}
	return nil
}
