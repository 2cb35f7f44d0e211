package diagnosis

import (
	"fmt"
	"slices"
	"strings"
)

// Markdown renders the decision table: per channel the symptom and the probes that show it, per class what is seen,
// what must hold, what splits it from its rivals and the flag to flip next.
func Markdown() string {
	var b strings.Builder
	for i, c := range table() {
		fmt.Fprintf(&b, "### %d. %s\n\nSymptom: %s. Read from: %s.\n\n", i+1, c.name, c.says, strings.Join(c.reads, ", "))
		for _, u := range c.rules {
			u.markdown(&b, c)
		}
	}
	return b.String()
}

func (u rule) markdown(b *strings.Builder, c channel) {
	fmt.Fprintf(b, "**%s**: %s.\n\n", u.class, u.says)
	for _, w := range u.when {
		fmt.Fprintf(b, "- %s\n", w.words)
	}
	var also []string
	for _, p := range u.reads {
		if !slices.Contains(c.reads, p) {
			also = append(also, p)
		}
	}
	if len(also) > 0 {
		fmt.Fprintf(b, "\nReads also: %s.\n", strings.Join(also, ", "))
	}
	fmt.Fprintf(b, "\nSplitter: %s.\n", u.splitter)
	if len(u.beside) > 0 {
		fmt.Fprintf(b, "\nNot told from: %s.\n", strings.Join(u.beside, ", "))
	}
	if !u.proven && !u.note {
		b.WriteString("\nNever firm.\n")
	}
	switch {
	case u.drowns:
		b.WriteString("\nBeside it nothing is concluded but from counts of tokens.\n")
	case len(u.covers) > 0:
		fmt.Fprintf(b, "\nBrings along: %s.\n", strings.Join(u.covers, ", "))
	}
	fmt.Fprintf(b, "\n| engine | flip next |\n| --- | --- |\n| SGLang | `%s` |\n| vLLM | `%s` |\n| llama.cpp | `%s` |\n\n",
		u.next.SGLang, u.next.VLLM, u.next.LlamaCpp)
}
