package gate_test

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/gate"
	"github.com/assay-suite/assay/internal/stat"
)

// A server here is a chance to miss for each cell. Three ways to miss the same share on average:
const (
	coin  = "coin"  // every cell alike, each answer a coin of its own
	weak  = "weak"  // that share of the cells never found, the others missed once in 200
	mixed = "mixed" // U-shaped: a beta law of total weight 1/4, so that most cells are nearly sure either way
)

// scenario is one server, its golden, and what happened to it afterwards.
type scenario struct {
	kind    string
	missing float64
	budget  string
	forced  bool // blessed in spite of unstable cells and low recall, so that the gate's own rules stand alone
	margins bool // margins of mean 3 nat, sd 0.3 a cell and repeat, gated beside recall
	lucky   bool // planted fault: the baseline is one of the repeats that chose
	scant   bool // 44 cells a family at bless: no reserve to add from
	drop    float64
	shift   float64 // fall of the far margins, nats
}

func (s scenario) id() string {
	out := fmt.Sprintf("%s/%s/missing-%02.0f", s.budget, s.kind, 100*s.missing)
	if s.margins {
		out += "/margins"
	}
	if s.drop > 0 {
		out += fmt.Sprintf("/drop-%02.0f", 100*s.drop)
	}
	if s.shift > 0 {
		out += fmt.Sprintf("/shift-%.2f", s.shift)
	}
	if s.scant {
		out += "/no-reserve"
	}
	if s.forced {
		out += "/forced"
	}
	return out
}

// tally is what came of the runs.
type tally struct {
	Runs         int `json:"runs"`
	Refused      int `json:"refused"` // no golden, so nothing could be called anything
	Regressed    int `json:"regressed"`
	Held         int `json:"held"`
	Inconclusive int `json:"inconclusive"`
	Extended     int `json:"extended"` // at least one family asked for more cells
	Asked        int `json:"asked"`    // cells asked at the gate over all runs
}

// chances draws a chance to miss for each of n cells.
func (s scenario) chances(rng *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		switch s.kind {
		case coin:
			out[i] = s.missing
		case weak:
			out[i] = 0.005
			if rng.Float64() < s.missing {
				out[i] = 1
			}
		case mixed:
			out[i] = beta(rng, s.missing/4, (1-s.missing)/4)
		}
	}
	return out
}

// beta draws from a beta law with both parameters below 1, by M. D. Johnk, Metrika 8 (1964) 5-15, in logarithms because
// powers of 80 underflow.
func beta(rng *rand.Rand, a, b float64) float64 {
	for {
		x, y := math.Log(1-rng.Float64())/a, math.Log(1-rng.Float64())/b
		top := max(x, y)
		sum := top + math.Log(math.Exp(x-top)+math.Exp(y-top))
		if sum <= 0 {
			return math.Exp(x - sum)
		}
	}
}

func (s scenario) answer(rng *rand.Rand, missing, shift float64) gate.Outcome {
	o := gate.Outcome{Measured: true, Hit: rng.Float64() >= missing}
	if s.margins {
		o.HasMargin, o.Margin = true, 3-shift+0.3*rng.NormFloat64()
	}
	return o
}

// run plays a scenario: bless, then decide until no more cells are asked for.
func (s scenario) run(t *testing.T, runs int) tally {
	t.Helper()
	plan, err := gate.PlanFor(s.budget)
	require.NoError(t, err)
	policy := gate.DefaultPolicy()
	policy.Draw = stat.Resampling{Draws: 9999}
	if s.forced {
		policy.MaxUnstable, policy.RecallFloor = 1, 0
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(s.id()))
	seed := h.Sum64()
	out := tally{Runs: runs}
	for i := range runs {
		s.once(t, rand.New(rand.NewPCG(seed, uint64(i))), plan, policy, &out)
	}
	return out
}

func (s scenario) once(t *testing.T, rng *rand.Rand, plan gate.Plan, policy gate.Policy, out *tally) {
	t.Helper()
	chance := map[string]float64{}
	var all []gate.Cell
	n := gate.BlessCells
	if s.scant {
		n = 44
	}
	for _, f := range plan.Families {
		for i, miss := range s.chances(rng, n) {
			c := gate.Cell{ID: id(f, i), Family: f}
			for r := range c.Repeats {
				c.Repeats[r] = s.answer(rng, miss, 0)
			}
			if s.lucky {
				c.Repeats[gate.Repeats-1] = c.Repeats[gate.Repeats-2]
			}
			if f == gate.Far { // only one family has the fault: the rest must not hide it
				miss += (1 - miss) * s.drop / (1 - s.missing)
			}
			chance[c.ID] = miss
			all = append(all, c)
		}
	}
	g, err := gate.Bless(gate.Request{Reason: "simulation", Cells: all}, policy)
	if _, refused := errors.AsType[*gate.RefusalError](err); refused {
		out.Refused++
		return
	}
	require.NoError(t, err)
	now := map[string]gate.Outcome{}
	for round := 0; ; round++ {
		d, err := gate.Decide(g, plan, now, policy)
		require.NoError(t, err)
		if len(d.More) > 0 {
			for _, cell := range d.More {
				shift := 0.0
				if cell[:3] == "far" {
					shift = s.shift
				}
				now[cell] = s.answer(rng, chance[cell], shift)
			}
			continue
		}
		out.Asked += len(now)
		if round > 1 {
			out.Extended++
		}
		switch d.Overall {
		case gate.Regressed:
			out.Regressed++
		case gate.Held:
			out.Held++
		case gate.Inconclusive:
			out.Inconclusive++
		case gate.Undecided, gate.Absent:
			t.Fatalf("%s: ends as %s", s.id(), d.Overall)
		}
		return
	}
}
