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
meanings of operands, outputs and attributes, facets, and the extents of shipping models (kernels_test/blind/extents.go,
each with its source). There is no list of bugs behind them. A mutant is put before the rows of the job, under the
standard budget and with every facet offered; it is stopped where a facet rejects it under every contract, or meets only
a contract that is looser than its format (code 3). Where nothing stops it, it survives, unless the operator's Doc says
that what it changes is a hint or is not read, and the job's rows and %d further draws accept it: then it is equivalent.

**%d of %d mutants that change a result are stopped: %.1f %%.** %d are equivalent.

`, Draws, total.Stopped, total.Mutants-total.Equivalent, 100*total.Score(), total.Equivalent)
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
	return b.String()
}

func plus(a, b Count) Count {
	return Count{a.Mutants + b.Mutants, a.Stopped + b.Stopped, a.Equivalent + b.Equivalent}
}
