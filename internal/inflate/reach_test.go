package inflate

import (
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/oracle"
)

// exactGate is the shift that exact-reference mode sees under fp32, in nats: its limit of a single digit, with room
// (fidelity/internal/exact; emulated engines are 4e-6 from the exact margins in the mean).
const exactGate = 1e-4

// tile is 64 numbers of an operator's output, in the n-th call of it in every pass.
type tile struct {
	operator    string
	call, calls int // of a pass
	from        int
}

// zeroed are the reference operators with one tile of one output zero in every row. sizes, where not nil, gets the
// width of the outputs by operator and call. Experts are seen through their sum, a sublayer's output.
func zeroed(x tile, sizes map[string][]int) oracle.Ops {
	ops := oracle.Reference()
	calls := map[string]int{}
	hit := func(name string, m oracle.Mat) oracle.Mat {
		if sizes != nil {
			sizes[name] = append(sizes[name], m.Cols)
		}
		if calls[name]++; name == x.operator && (calls[name]-1)%x.calls == x.call {
			m = m.Clone()
			for t := range m.Rows {
				clear(m.Row(t)[x.from:min(x.from+64, m.Cols)])
			}
		}
		return m
	}
	exact := ops
	ops.Attention = func(in oracle.AttentionInput) oracle.Mat { return hit("attention", exact.Attention(in)) }
	ops.GroupedProjection = func(o, w oracle.Mat, groups int) oracle.Mat {
		return hit("grouped projection", exact.GroupedProjection(o, w, groups))
	}
	ops.HCPre = func(v, pre oracle.Mat) oracle.Mat { return hit("collapsed streams", exact.HCPre(v, pre)) }
	ops.HCPost = func(f, post, comb, v oracle.Mat) oracle.Mat {
		return exact.HCPost(hit("sublayer", f), post, comb, v)
	}
	return ops
}

// Every tile of 64 numbers (and with that every head) of every operator's output MUST carry so much of a spread model
// that losing it moves a margin by more than exact-reference mode lets pass. Of a placed model most carry nothing.
// A sample of the tiles; all of them under the full budget.
func TestLosingATileShows(t *testing.T) {
	ids := prompt(t, 64)
	margins := func(m *nano.Model) []float64 {
		s := m.NewState()
		rows, err := m.Extend(context.Background(), s, ids, 1)
		require.NoError(t, err)
		var out []float64
		for _, id := range nano.Encode("40718") {
			row, best := rows[0], math.Inf(-1)
			for i, v := range row {
				if i != id {
					best = math.Max(best, v)
				}
			}
			out = append(out, row[id]-best)
			rows, err = m.Extend(context.Background(), s, []int{id}, 1)
			require.NoError(t, err)
		}
		return out
	}
	moved := func(m *nano.Model, want []float64, x tile) float64 {
		worst := 0.0
		for i, v := range margins(m.With(zeroed(x, nil))) {
			worst = math.Max(worst, math.Abs(v-want[i]))
		}
		return worst
	}
	for _, seed := range []uint64{4, 0} {
		t.Run(fmt.Sprintf("mix=%d", seed), func(t *testing.T) {
			m := loaded(t, os.DirFS(written(t, Options{Seed: seed}, untouched)))
			sizes := map[string][]int{}
			_, err := m.With(zeroed(tile{}, sizes)).Extend(context.Background(), m.NewState(), ids, 1)
			require.NoError(t, err)
			want := margins(m)
			least, silent, n, all := math.Inf(1), 0, 0, 0
			for _, name := range slices.Sorted(maps.Keys(sizes)) {
				calls := sizes[name]
				for call, width := range calls {
					for from := 0; from < width; from += 64 {
						if all++; os.Getenv("ASSAY_BUDGET") != "full" && all%144 != 0 {
							continue
						}
						n++
						x := tile{name, call, len(calls), from}
						d := moved(m, want, x)
						least = math.Min(least, d)
						if d <= exactGate {
							if silent++; seed != 0 {
								t.Errorf("%s, call %d, numbers %d to %d: losing them moves margins by %.2g nats at most", name, call, from,
									from+63, d)
							}
						}
					}
				}
			}
			t.Logf("%d of %d tiles lost one by one: %d move no margin by more than %g nats, the least moves %.2g", n, all,
				silent, exactGate, least)
			require.Positive(t, n)
			if seed == 0 && silent == 0 {
				t.Error("every tile of a placed model carries signal: the check cannot tell spread from placed")
			}
		})
	}
}
