package blind

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Page is docs/blind-spots.md: the matrix of operators, in the order given, with its score.
func Page(ops []string, lines map[string]Line) string {
	var b strings.Builder
	total := Count{}
	classes := map[string]Count{}
	for _, op := range ops {
		total = plus(total, lines[op].Sum())
		for name, c := range lines[op].Classes {
			classes[name] = plus(classes[name], c)
		}
	}
	fmt.Fprintf(&b, `# Blind spots

Generated from goldens/kernels/blind-spots.json by kernels_test/blind.TestPage; do not edit.

Every operator's sound kernel is wrapped by mutants that are made from the table of operators alone: names, shapes and
meanings of operands, outputs and attributes, facets, and the extents of shipping models. There is no list of bugs
behind them. A mutant is put before the rows of the job by the job's own loop, under the standard budget and with every
facet offered; it is stopped where a facet rejects it under every contract, or meets only a contract that is looser than
its format (code 3). A kernel that is rarely wrong is drawn from %d seeds, of which %d must be stopped.

Mutants of an attribute or operand are equivalent where the oracle says so, over the job's rows and %d further draws of
the rows that reach them, extents that ship among them: it accepts what they answer, and expects nothing that their
own inputs do not imply. They count as one. Whatever else is accepted has survived.

**%d of %d mutants that change a result are stopped: %.1f %%.** %d are equivalent.

`, Seeds, Enough, Draws, total.Stopped, total.Mutants-total.Equivalent, 100*total.Score(), total.Equivalent)
	b.WriteString("| class | mutants | stopped | equivalent | score |\n| --- | --: | --: | --: | --: |\n")
	for _, name := range Classes {
		c := classes[name]
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %.3f |\n", name, c.Mutants, c.Stopped, c.Equivalent, c.Score())
	}
	b.WriteString("\n## Operators\n\nStopped of those that change a result, by class; the last columns count survivors: " +
		"no row has the extent or the value, results are the sound kernel's in every row, or every row accepts other " +
		"results.\n\n| operator |")
	for _, name := range Classes {
		fmt.Fprintf(&b, " %s |", name)
	}
	b.WriteString(" score | no row | same | accepted |\n| --- |" + strings.Repeat(" --: |", len(Classes)+4) + "\n")
	for _, op := range ops {
		l := lines[op]
		fmt.Fprintf(&b, "| `%s` |", op)
		for _, name := range Classes {
			c := l.Classes[name]
			if c.Mutants == 0 {
				b.WriteString(" |")
				continue
			}
			fmt.Fprintf(&b, " %d/%d |", c.Stopped, c.Mutants-c.Equivalent)
		}
		fmt.Fprintf(&b, " %.3f | %d | %d | %d |\n", l.Sum().Score(), len(l.of(Unreached)), len(l.of(Same)),
			len(l.of(Accepted))+len(l.of(Slid)))
	}
	b.WriteString("\n## Accepted although the results differ\n\n" +
		"Each of these is a blind spot of a check, not of a size.\n\n")
	for _, op := range ops {
		for _, f := range []Fate{Accepted, Slid} {
			for _, name := range lines[op].of(f) {
				fmt.Fprintf(&b, "- `%s`: %s (%s)\n", op, name, f)
			}
		}
	}
	b.WriteString("\n## Equivalent\n\n")
	for _, op := range ops {
		for _, name := range slices.Sorted(maps.Keys(lines[op].Equivalent)) {
			fmt.Fprintf(&b, "- `%s`: %s: %s\n", op, name, lines[op].Equivalent[name])
		}
	}
	b.WriteString("\n## Indices\n\nAn index is taken modulo 2^8, 2^15, 2^16 and 2^20 as far as its operand goes; " +
		"beyond, no index changes.\n\n| operand | largest value | of |\n| --- | --: | --- |\n")
	for _, name := range Domains() {
		d := domains[name]
		fmt.Fprintf(&b, "| `%s` | %d | %s |\n", name, d.largest, d.counts)
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		fmt.Fprintf(&b, "| `%s` | %d | %s |\n", name, own[name].largest, own[name].counts)
	}
	b.WriteString("\n## Where the extents are from\n\n")
	for _, name := range slices.Sorted(maps.Keys(Configs)) {
		fmt.Fprintf(&b, "- %s: %s\n", name, Configs[name])
	}
	for _, name := range slices.Sorted(maps.Keys(Unsourced)) {
		fmt.Fprintf(&b, "- %s: %s\n", name, Unsourced[name])
	}
	return b.String()
}

func plus(a, b Count) Count {
	return Count{a.Mutants + b.Mutants, a.Stopped + b.Stopped, a.Equivalent + b.Equivalent}
}
