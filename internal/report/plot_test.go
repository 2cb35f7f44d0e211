package report

import (
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestPlotsFollowTheTheme: no fixed colour is left, and a margin that is no number is
// counted instead of drawn.
func TestPlotsFollowTheTheme(t *testing.T) {
	h := failingRun().Grids[0] // has all states but two
	h.Cells[1][1].State, h.Cells[1][2].State = NearMiss, Partial
	h.Cells[0][0].Margin, h.Cells[0][1].Margin = new(math.Inf(-1)), new(math.NaN())
	ps, err := marginPlots(h)
	require.NoError(t, err)
	require.Len(t, ps, 2)
	for _, p := range ps {
		if m := regexp.MustCompile(`#[0-9A-F-]{3,}`).FindString(string(p.SVG)); m != "" {
			t.Errorf("colour %s does not follow the theme", m)
		}
		for _, name := range []string{"text", "rule", "exact", "near", "partial", "lost", "golden"} {
			if !strings.Contains(string(p.SVG), "var(--"+name+")") {
				t.Errorf("nothing is drawn in the theme's colour %s", name)
			}
		}
		if !strings.Contains(p.Caption, "2 margins without a finite value") {
			t.Errorf("caption %q does not count the two margins that are no numbers", p.Caption)
		}
		if strings.Contains(string(p.SVG), "NaN") || strings.Contains(string(p.SVG), "Inf") {
			t.Error("NaN or Inf in the SVG")
		}
	}
}

func TestPlotsOnlyWhereTheyMakeSense(t *testing.T) {
	for _, row := range []struct {
		name string
		h    HeatMap
		want int
	}{
		{"one margin", gridOf(1, 1), 0},
		{"one row", gridOf(1, 5), 2},
		{"words as labels", HeatMap{Rows: []string{"tail", "start"}, Cols: []string{"a", "b"}, Cells: gridOf(2, 2).Cells}, 0},
		{
			"zero and negative lengths",
			HeatMap{Rows: []string{"x", "y"}, Cols: []string{"0", "-4"}, Cells: gridOf(2, 2).Cells},
			1,
		},
		{
			"no length is that small",
			HeatMap{Rows: []string{"x"}, Cols: []string{"0.5", "1e-320"}, Cells: gridOf(1, 2).Cells},
			0,
		},
		{"no margins", HeatMap{Rows: []string{"0"}, Cols: []string{"1", "2"}}, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			ps, err := marginPlots(row.h)
			require.NoError(t, err)
			if len(ps) != row.want {
				t.Errorf("%d plots, want %d", len(ps), row.want)
			}
		})
	}
}

// TestPlotsOfAnything: whatever the margins and labels are, a plot is drawn or left
// out; the library below panics on ranges it cannot tick.
func TestPlotsOfAnything(t *testing.T) {
	odd := []float64{
		0, math.Copysign(0, -1), 5e-324, -5e-324, 1e-12, 3, -3, 1e-3, 1e6, 1e300, -1e300, math.MaxFloat64, math.Inf(1),
		math.NaN(),
	}
	label := rapid.OneOf(rapid.SampledFrom([]string{"0", "0.5", "128", "1,024", "-3", "1e-320", "1e12", "50 %"}),
		rapid.String())
	value := rapid.OneOf(rapid.SampledFrom(odd), rapid.Float64())
	rapid.Check(t, func(t *rapid.T) {
		h := HeatMap{Rows: rapid.SliceOfN(label, 0, 4).Draw(t, "rows"), Cols: rapid.SliceOfN(label, 0, 4).Draw(t, "cols")}
		for range h.Rows {
			var row []Cell
			for range h.Cols {
				row = append(row, Cell{State: Exact, Margin: new(value.Draw(t, "margin")), Golden: new(value.Draw(t, "golden"))})
			}
			h.Cells = append(h.Cells, row)
		}
		ps, err := marginPlots(h)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range ps {
			if strings.Contains(string(p.SVG), "NaN") || strings.Contains(string(p.SVG), "Inf") {
				t.Fatal("a coordinate is no number")
			}
		}
	})
}
