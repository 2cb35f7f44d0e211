package report

import (
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestCliffMarks: the edge and each cause that has a place are numbered in the picture, the rest is only listed.
func TestCliffMarks(t *testing.T) {
	v, err := newChartView(fullRun().Cliffs[0].chart())
	require.NoError(t, err)
	require.NotNil(t, v.Plot)
	assert.Equal(t, []numbered{
		{1, "measured edge: 2,048 ± 16", true},
		{2, "2,048: top-k 512 x ratio 4 as configured: sparse selection", false},
		{3, "2,048: a prefill step of 2048", false},
		{0, "half of a context that nobody told", false},
	}, v.Listed)
	svg := string(v.Plot.SVG)
	assert.Contains(t, svg, ">1 2 3</text>", "marks at one place share it")
	for _, name := range []string{"text", "lost", "partial"} {
		assert.Contains(t, svg, "var(--"+name+")")
	}
	assert.NotRegexp(t, `#[0-9A-F]{3,}`, svg, "a fixed colour does not follow the theme")
	assert.NotContains(t, svg, "top-k", "texts stand beside the picture, where they wrap")
}

// TestCausePlaces: a cause in words brings its place along, and words with a colon are no place.
func TestCausePlaces(t *testing.T) {
	for _, row := range []struct{ in, want Cause }{
		{Cause{Text: "2048: top-k"}, Cause{2048, "top-k"}},
		{Cause{Text: "131,072: size"}, Cause{131072, "size"}},
		{Cause{At: 5, Text: "2048: top-k"}, Cause{5, "2048: top-k"}},
		{Cause{Text: "window: 2048"}, Cause{0, "window: 2048"}},
		{Cause{Text: "-4: odd"}, Cause{0, "-4: odd"}},
		{Cause{Text: "2048"}, Cause{0, "2048"}},
	} {
		assert.Equal(t, row.want, row.in.placed())
	}
}

// TestChartPlaces: the same numbers must lie at the same places whatever draws them, so the places are worked out here:
// on a logarithmic axis 1,024 lies in the middle of 512 and 2,048, on a linear one it does not.
func TestChartPlaces(t *testing.T) {
	ys := func(log bool) []float64 {
		v, err := newChartView(Chart{
			LogX:   log,
			Series: []Series{{"s", []Point{{X: 512, Y: 1}, {X: 1024, Y: 1}, {X: 2048, Y: 2}}}},
		})
		require.NoError(t, err)
		var out []float64
		label := regexp.MustCompile(`<text x="([-0-9.]+)"[^>]*\n?[^>]*>(512|1024|2048)</text>`)
		for _, m := range label.FindAllStringSubmatch(string(v.Plot.SVG), -1) {
			xs, ok := numbers([]string{m[1]})
			require.True(t, ok, m[1])
			out = append(out, xs[0])
		}
		require.Len(t, out, 3, "three labelled places")
		return out
	}
	// Half of the width of a label of three or four digits is lost to the left: 3.1 units a digit at most.
	log, linear := ys(true), ys(false)
	assert.Less(t, math.Abs((log[1]-log[0])/(log[2]-log[0])-0.5), 0.02)
	assert.Less(t, math.Abs((linear[1]-linear[0])/(linear[2]-linear[0])-1.0/3), 0.02)
}

func TestChartWithoutEnoughPoints(t *testing.T) {
	for _, c := range []Chart{
		{},
		{Series: []Series{{"one", []Point{{X: 1, Y: 1}}}}},
		{Series: []Series{{"one place", []Point{{X: 1, Y: 1}, {X: 1, Y: 2}}}}},
		{
			Series: []Series{{"no numbers", []Point{{X: math.NaN(), Y: 1}, {X: 2, Y: math.Inf(1)}}}},
			Marks:  []Mark{{At: 1, Text: "kept"}},
		},
	} {
		v, err := newChartView(c)
		require.NoError(t, err)
		assert.Nil(t, v.Plot)
		assert.Len(t, v.Listed, len(c.Marks))
	}
}

// TestChartOfAnything: whatever the numbers are, a chart is drawn or left out, with finite coordinates.
func TestChartOfAnything(t *testing.T) {
	odd := []float64{
		0, math.Copysign(0, -1), 5e-324, 1e-12, 3, -3, 100, 1e6, 1e12, 1e300, -1e300, math.MaxFloat64, math.Inf(1),
		math.Inf(-1), math.NaN(),
	}
	value := rapid.OneOf(rapid.SampledFrom(odd), rapid.Float64(), rapid.Float64Range(0, 1e5))
	rapid.Check(t, func(t *rapid.T) {
		c := Chart{LogX: rapid.Bool().Draw(t, "log")}
		for range rapid.IntRange(0, 7).Draw(t, "series") {
			var s Series
			for range rapid.IntRange(0, 5).Draw(t, "points") {
				p := Point{X: value.Draw(t, "x"), Y: value.Draw(t, "y")}
				if rapid.Bool().Draw(t, "interval") {
					p.Low, p.High = new(value.Draw(t, "low")), new(value.Draw(t, "high"))
				}
				s.Points = append(s.Points, p)
			}
			c.Series = append(c.Series, s)
		}
		for range rapid.IntRange(0, 3).Draw(t, "marks") {
			c.Marks = append(c.Marks, Mark{
				At:        value.Draw(t, "at"),
				PlusMinus: value.Draw(t, "plus-minus"),
				Strong:    rapid.Bool().Draw(t, "strong"),
			})
		}
		v, err := newChartView(c)
		if err != nil {
			t.Fatal(err)
		}
		if v.Plot != nil && (strings.Contains(string(v.Plot.SVG), "NaN") || strings.Contains(string(v.Plot.SVG), "Inf")) {
			t.Fatal("a coordinate is no number")
		}
	})
}
