package report

import "strings"

// writeBlocks prints what is small of the parts that have their own place in the page: one line for each cliff, pair
// and token account, ladders and suspects as tables, the diagnosis last, nearest to the verdict.
func writeBlocks(b *strings.Builder, r Run, s Style) {
	for _, c := range r.Cliffs {
		writeFact(b, Fact{Label: "cliff", Text: c.Text()}, s)
	}
	for _, p := range r.Pairs {
		f := Fact{Label: axisName(p.Title, "pairs"), Text: p.Text()}
		if p.Note != "" {
			f.Text += "\n" + p.Note
		}
		writeFact(b, f, s)
	}
	for _, t := range r.Tokens {
		writeFact(b, Fact{Label: axisName(t.Title, "tokens"), Text: t.Text()}, s)
	}
	for _, l := range r.Ladders {
		if len(l.Arms) > 0 {
			writeTable(b, l.table())
		}
	}
	for _, f := range r.Diagnosis.facts() {
		writeFact(b, f, s)
	}
	if len(r.Suspects) > 0 {
		writeTable(b, suspectTable(r.Suspects))
	}
}
