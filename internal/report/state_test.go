package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/needle"
)

// TestStateOfEveryClass: a class that counts as a trial has a state of its own, one that does not is unmeasured, and
// only a hit is exact. Both questions are answered by package needle.
func TestStateOfEveryClass(t *testing.T) {
	for _, c := range needle.Classes() {
		s := StateOf(string(c))
		assert.Equal(t, c.Measured(), s != Unmeasured, "class %s is %s", c, s)
		assert.Equal(t, c.Recalled(), s == Exact, "class %s is %s", c, s)
	}
	assert.Equal(t, Partial, StateOf("partial"))
	assert.Equal(t, NearMiss, StateOf("near-miss"))
	assert.Equal(t, Unmeasured, StateOf("a class of tomorrow"))
}

func TestRankOrdersBestToWorst(t *testing.T) {
	for i, s := range []State{Exact, NearMiss, Partial, Lost, Unmeasured} {
		assert.Equal(t, i, s.Rank(), s)
	}
	assert.Equal(t, Unmeasured.Rank(), State("surprise").Rank())
}

// TestPartialInHeatMap: a partial cell has its own sign, in 7 bits too, and stands in the legend where it occurs.
func TestPartialInHeatMap(t *testing.T) {
	const want = `
 d        1     2
   a      %s     %s
   %s exact  %s near miss  %s partial  %s lost  %s unmeasured
`
	h := HeatMap{
		RowLabel: "d",
		Rows:     []string{"a"},
		Cols:     []string{"1", "2"},
		Cells:    [][]Cell{{{State: Partial}, {State: Lost}}},
	}
	for _, row := range []struct {
		ascii bool
		signs []string
	}{
		{false, []string{"◧", "□", "■", "▣", "◧", "□", "·"}},
		{true, []string{"/", "x", "#", "~", "/", "x", "."}},
	} {
		var b strings.Builder
		require.NoError(t, WriteBody(&b, Run{Grids: []HeatMap{h}}, Style{ASCII: row.ascii, Width: 60}))
		full := want
		for _, s := range row.signs {
			full = strings.Replace(full, "%s", s, 1)
		}
		if diff := cmp.Diff(full, b.String()); diff != "" {
			t.Errorf("ASCII %v (-want +got):\n%s", row.ascii, diff)
		}
	}
	page := pageOf(t, Run{Grids: []HeatMap{h}})
	assert.Contains(t, page, `<path class="half" d="M`)
	assert.Contains(t, page, "1 partial, 1 lost")
	assert.NotContains(t, pageOf(t, Run{Grids: []HeatMap{gridOf(1, 1)}}), `class="half"`)
}
