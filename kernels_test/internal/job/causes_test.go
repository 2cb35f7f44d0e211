package job

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/kernels_test/bench"
)

// A known bug MUST come first where every case that was compared agrees on one class, and nowhere else.
func TestKnownBugsComeFirst(t *testing.T) {
	address, scale := bench.Cause{Class: "address", Name: "page-mod"}, bench.Cause{Class: "scale", Name: "scale-lost"}
	for name, row := range map[string]struct {
		like [][]bench.Cause
		want string
	}{
		"one class in every case":       {[][]bench.Cause{{address}, {address}}, "address"},
		"one case looks like none":      {[][]bench.Cause{{address}, nil}, ""},
		"cases that disagree":           {[][]bench.Cause{{address}, {scale}}, ""},
		"bugs of two classes in a case": {[][]bench.Cause{{address, scale}, {address}}, ""},
		"nothing was compared":          {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var rows []Row
			var compared []int
			for i, like := range row.like {
				rows, compared = append(rows, Row{Like: like}), append(compared, i)
			}
			c, ok := agreed(rows, compared)
			assert.Equal(t, row.want, c.Class)
			assert.Equal(t, row.want != "", ok)
		})
	}
}

// A size MUST be named where it parts every failing case from every accepted one, and only then.
func TestSizesThatPart(t *testing.T) {
	row := func(outcome suite.Outcome, heads, tokens int) Row {
		return Row{Outcome: outcome, Case: bench.Case{Shape: bench.S("", map[string]int{"heads": heads, "tokens": tokens})}}
	}
	var accepted []Row
	for _, heads := range []int{1, 4, 8, 8, 64} {
		accepted = append(slices.Clip(accepted), row(suite.Passed, heads, 3*heads))
	}
	for name, c := range map[string]struct {
		rows []Row
		want string
	}{
		"beyond all":         {append(slices.Clip(accepted), row(suite.Failed, 128, 5)), "more than 64 heads"},
		"a small one fails":  {append(slices.Clip(accepted), row(suite.Failed, 128, 5), row(suite.Failed, 2, 5)), ""},
		"the largest passes": {append(slices.Clip(accepted), row(suite.Failed, 64, 5)), ""},
		"two sizes, the wider gap": {
			append(slices.Clip(accepted), row(suite.Failed, 65, 1000)), "more than 192 tokens",
		},
		"too few to compare with": {append(accepted[:2:2], row(suite.Failed, 128, 5)), ""},
	} {
		t.Run(name, func(t *testing.T) {
			rows := slices.Clone(c.rows)
			slices.Reverse(rows) // failing ones first
			got, ok := apart(rows, []int{0})
			assert.Equal(t, c.want, got.Name)
			assert.Equal(t, c.want != "", ok)
		})
	}
}

// A failure that nothing explains MUST say so where users read it.
func TestUnexplainedFailuresSaySo(t *testing.T) {
	text := "\n    got      1\n    likely   no twin cures it"
	assert.Equal(t, "no twin cures it", finding(Row{Text: text}).Likely)
	known := []bench.Cause{{Class: "tile", Name: "x", Why: "y"}}
	assert.Equal(t, "tile (x): y", finding(Row{Text: text, Causes: known}).Likely)
}
