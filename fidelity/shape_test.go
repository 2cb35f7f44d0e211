package fidelity_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/internal/recall"
	"github.com/assay-suite/assay/internal/endpoint"
)

// place is where a needle stands, in tokens.
type place struct{ length, before, fromEnd int }

// placed is the standard plan with answers that are lost where lost says, and missed at random besides, to a share.
func placed(t *testing.T, seed uint64, misses float64, lost func(place) bool) []recall.Observation {
	t.Helper()
	p := standardPlan()
	require.NotEmpty(t, p.Cells)
	r := rand.New(rand.NewPCG(seed, 1))
	var out []recall.Observation
	for _, c := range p.Cells {
		before := int(c.Depth * float64(c.Tokens-40))
		at := place{c.Tokens, before, c.Tokens - before}
		o := recall.Observation{
			Cell: c, Measured: true, Hit: !lost(at) && r.Float64() >= misses, Before: before, FromEnd: at.fromEnd,
			Tokens: endpoint.Count{N: c.Tokens, Known: true},
		}
		out = append(out, o)
	}
	return out
}

var standardPlan = sync.OnceValue(func() recall.Plan {
	p, err := recall.NewPlan(recall.Standard, 8192)
	if err != nil {
		return recall.Plan{}
	}
	return p
})

// The shape that is there MUST be the one that is said, with its edges between what was found and what was lost: what
// is planted is the rule itself. A few misses besides change nothing.
func TestShape(t *testing.T) {
	for name, row := range map[string]struct {
		lost  func(place) bool
		axis  recall.Axis
		words string
		edges []int // each lies between the edge's two numbers, lower edge first
		from  [2]int
	}{
		"beyond a distance": {
			func(p place) bool { return p.fromEnd > 600 }, recall.FromEnd, "lost beyond a distance", []int{600}, [2]int{},
		},
		"before a distance": {
			func(p place) bool { return p.fromEnd < 300 }, recall.FromEnd, "lost before a distance", []int{300}, [2]int{},
		},
		"a band before the end": {
			func(p place) bool { return p.fromEnd > 300 && p.fromEnd < 900 }, recall.FromEnd, "lost at a band",
			[]int{300, 900},
			[2]int{},
		},
		"at one length": {
			func(p place) bool { return p.length == 1536 }, recall.Length, "lost at one length: prompts of 1536 tokens", nil,
			[2]int{},
		},
		"from a length on": {
			func(p place) bool { return p.length >= 1024 }, recall.Length, "lost from a length on: prompts of 1024 tokens", nil,
			[2]int{},
		},
		"from a position on": {
			func(p place) bool { return p.before > 700 }, recall.FromStart, "lost from a position on", []int{700}, [2]int{},
		},
		"at the start": {
			func(p place) bool { return p.before < 100 && p.length > 140 }, recall.FromStart, "lost at the start",
			[]int{100},
			[2]int{128, 256},
		},
		"beyond a window, where selection ranks": {
			func(p place) bool { return p.fromEnd > 200 && p.length > 1000 }, recall.FromEnd, "lost beyond a distance",
			[]int{200},
			[2]int{512, 1024},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(6) {
				misses := 0.03 * float64(seed%2)
				s, ok := recall.ShapeOf(placed(t, seed, misses, row.lost), nil)
				require.True(t, ok, "seed %d: no shape", seed)
				require.Equal(t, row.axis, s.Axis, "seed %d: %s", seed, s.Text)
				require.Contains(t, s.Text, row.words)
				var edges [][2]int
				if s.Lo > 0 {
					edges = append(edges, [2]int{s.Lo, s.LoTo})
				}
				if s.HiTo > 0 {
					edges = append(edges, [2]int{s.Hi, s.HiTo})
				}
				for i, e := range row.edges {
					if misses > 0 {
						break // one beside an edge moves it
					}
					require.Len(t, edges, len(row.edges), s.Text)
					assert.LessOrEqual(t, edges[i][0], e, s.Text)
					assert.GreaterOrEqual(t, edges[i][1], e, s.Text)
				}
				assert.True(t, s.From >= row.from[0] && s.From <= row.from[1], "from %d: %s", s.From, s.Text)
			}
		})
	}
}

// Losses that are spread evenly have no shape: of 200 runs at most two say one (a gain of 3 nats beyond the price of
// the edges, over all regions of the plan).
func TestShapeOfNothing(t *testing.T) {
	said := 0
	for seed := range uint64(200) {
		share := []float64{0.03, 0.1, 0.25, 0.5}[seed%4]
		if s, ok := recall.ShapeOf(placed(t, seed, share, func(place) bool { return false }), nil); ok {
			t.Logf("%.2f: %s", share, s.Text)
			said++
		}
	}
	assert.LessOrEqual(t, said, 2)
}

// The terminal says the shape under the heat map, and the diagnosis is no longer that nothing stands out.
func TestShapeIsShown(t *testing.T) {
	triangle := func(q request) (int, string, string, string) {
		if at := strings.Index(q.prompt(), "archive is"); at >= 0 && len(q.prompt())-at > 2500 {
			return 200, "11111", "", "stop"
		}
		return 200, q.truth(), "", "stop"
	}
	j, out := onFake(t, &engine{answer: triangle})
	j.Budget = recall.Standard
	_, err := j.Run(t.Context())
	require.NoError(t, err)
	assert.Contains(t, out.String(), "shape        lost beyond a distance: needles farther from the end of the prompt")
	assert.NotContains(t, out.String(), "here and there", fmt.Sprint(out))
}
