package job

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/assay-suite/assay/oracle/faults"
)

// Survivors lists the rows that nothing would stop if a suite were removed: those with fewer than two killing cases
// left.
func Survivors(rows []Killed, without string) []string {
	var out []string
	for _, k := range rows {
		left := len(k.Cases)
		if k.Suite == without {
			left = 0
		}
		if k.KilledBy != faults.DeviceOnly && left < 2 {
			out = append(out, k.ID+" "+k.Slug)
		}
	}
	return out
}

// InsideLength is what nano-v4 recalls at one length with a fault in it.
type InsideLength struct {
	Fault             string // of oracle.Ops
	Row               string // of the catalogue, empty for none
	Tokens, Found, Of int
	Margin, Shift     float64 // medians, nats
}

// MatrixDoc is docs/kill-matrix.md. inside is what the faults that fit into the model do to recall and margins there,
// by fault and length.
func MatrixDoc(rows []Killed, inside []InsideLength) string {
	byRow := map[string]faults.Row{}
	for _, r := range faults.Catalogue() {
		byRow[r.ID] = r
	}
	var b strings.Builder
	counts := map[string]int{}
	first, among, of := 0, 0, 0
	passes := map[string]int{}
	suites := map[string]bool{}
	for _, k := range rows {
		counts[k.KilledBy]++
		suites[k.Suite] = true
		if k.KilledBy != faults.Output {
			continue
		}
		of++
		a, c := k.Named()
		first, among = first+boolInt(a), among+boolInt(c)
		for name, said := range map[string]string{"cosine": k.Cosine, "allclose": k.AllClose, "calc_diff": k.CalcDiff} {
			passes[name] += boolInt(said == "passes")
		}
	}
	fmt.Fprintf(&b, `# The kill matrix

Generated from goldens/kernels/kill-matrix.json by kernels_test.TestKillMatrixDoc; do not edit. Every row is a `+
		`public bug, reduced
to one fault (oracle/faults/catalogue_rows.go) and planted: %d rows in kernels that are run through the worker `+
		`protocol (%s), %d in
models of state or addresses (oracle/faults/state), %d that only a device can show. Repeat with
%s.

The class of a row was written down before the diagnosis was tuned. It is named first for %d of %d output rows, `+
		`and is among the answers
for %d. On the case that kills a row first, cosine (0.999) passes %d of %d faults, allclose for bf16 %d, `+
		`calc_diff (1e-3) %d.

| row | fault | killed by | cases | gate | cause named | rivals | true | cosine | allclose | calc_diff |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
`, counts[faults.Output], faults.Output, counts[faults.StateModel], counts[faults.DeviceOnly],
		"`ASSAY_BUDGET=full go test ./kernels_test -run TestKillMatrix -timeout 30m`",
		first, of, among, passes["cosine"], of, passes["allclose"], passes["calc_diff"])
	for _, k := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %d of %d | %s | %s | %s | %s | %s | %s | %s |\n", k.ID, k.Slug, where(k),
			len(k.Cases), k.Ran,
			k.Gate, k.CauseNamed, strings.Join(k.Rivals, ", "), k.CauseTrue, k.Cosine, k.AllClose, k.CalcDiff)
	}
	b.WriteString("\n## Without a suite\n\n")
	for _, name := range slices.Sorted(maps.Keys(suites)) {
		fmt.Fprintf(&b, "- **%s** removed, these survive: %s.\n", name, strings.Join(Survivors(rows, name), ", "))
	}
	b.WriteString(insideDoc(inside))
	b.WriteString("\n## The faults\n\n| row | effect | origin |\n| --- | --- | --- |\n")
	for _, k := range rows {
		r := byRow[k.ID]
		fmt.Fprintf(&b, "| %s | %s | %s |\n", k.ID, r.Effect, r.Origin)
	}
	return b.String()
}

func where(k Killed) string {
	if k.KilledBy == faults.Output {
		return "suite " + k.Suite
	}
	return k.KilledBy
}

// insideDoc is a table with a line a fault and a column a length.
func insideDoc(inside []InsideLength) string {
	var b strings.Builder
	var tokens []int
	byFault := map[string]map[int]InsideLength{}
	for _, l := range inside {
		if !slices.Contains(tokens, l.Tokens) {
			tokens = append(tokens, l.Tokens)
		}
		if byFault[l.Fault] == nil {
			byFault[l.Fault] = map[int]InsideLength{}
		}
		byFault[l.Fault][l.Tokens] = l
	}
	slices.Sort(tokens)
	b.WriteString("\n## Inside nano-v4\n\nFaults of operators and of carried state, served by the model " +
		"(goldens/fidelity/swap.json): needles found, and the median shift of their margins in nats, by\nlength of the " +
		"prompt. Most lose nothing: recall alone would pass them.\n\n| fault | row |")
	for _, n := range tokens {
		fmt.Fprintf(&b, " %d |", n)
	}
	b.WriteString("\n| --- | --- |" + strings.Repeat(" --- |", len(tokens)) + "\n")
	for _, fault := range slices.Sorted(maps.Keys(byFault)) {
		row := ""
		for _, l := range byFault[fault] {
			row = l.Row
		}
		fmt.Fprintf(&b, "| %s | %s |", fault, row)
		for _, n := range tokens {
			if l, ok := byFault[fault][n]; ok {
				fmt.Fprintf(&b, " %d/%d, %.2g |", l.Found, l.Of, l.Shift)
			} else {
				b.WriteString(" |")
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}
