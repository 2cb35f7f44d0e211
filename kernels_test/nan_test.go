package kernels_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/internal/job"
)

// asksForNaN tells of every floating-point output whether some row wants a NaN in it.
type asksForNaN map[string]bool

func (a asksForNaN) see(b *bench.Bench) {
	for name, o := range b.Call().Outputs {
		a[name] = a[name] || o.DType != bench.F32 && o.DType != bench.BF16 && o.DType != bench.E4M3
	}
	for _, e := range b.Expected {
		for _, v := range e.Want {
			a[e.Name] = a[e.Name] || math.IsNaN(v)
		}
	}
}

// What a NaN must reach is derived from the oracle; it MUST be what the formulas say: of a product the row and the
// column, of RMSNorm the token, or the channel of a gain, of Sinkhorn the token's whole matrix.
func TestNaNReachesWhatDependsOnIt(t *testing.T) {
	row := func(p bench.Problem, name string, i int) bool {
		o := p.In(name)
		return len(o.Data) > 0 && hasNaN(o.Row(i))
	}
	for op, reached := range map[string]func(p bench.Problem, shape []int, i int) bool{
		"dense_gemm": func(p bench.Problem, shape []int, i int) bool {
			return row(p, "x", i/shape[1]) || row(p, "w", i%shape[1])
		},
		"layer_norm": func(p bench.Problem, shape []int, i int) bool {
			gain, bias := p.In("weight").Data, p.In("bias").Data
			return row(p, "x", i/shape[1]) || gain != nil && math.IsNaN(gain[i%shape[1]]) ||
				bias != nil && math.IsNaN(bias[i%shape[1]])
		},
		"sinkhorn": func(p bench.Problem, shape []int, i int) bool { return row(p, "logits", i/(shape[1]*shape[2])) },
	} {
		t.Run(op, func(t *testing.T) {
			s := only(t, op)
			facets, err := s.Facets(s.Families[0])
			require.NoError(t, err)
			rows := 0
			for _, fc := range facets {
				for _, r := range fc.Rows {
					if !strings.HasSuffix(r.ID, "-nan") {
						continue
					}
					b, err := bench.New(r.Under(fc.Contracts[0]))
					require.NoError(t, err)
					rows++
					for i, v := range b.Expected[0].Want {
						if want := reached(b.Problem(), b.Expected[0].Shape, i); want != math.IsNaN(v) {
							t.Fatalf("%s: element %d of %s: NaN is asked for: %t, by the formula %t", r.ID, i, b.Expected[0].Name,
								!want, want)
						}
					}
				}
			}
			assert.NotZero(t, rows)
		})
	}
}

func hasNaN(v []float64) bool {
	return slices.ContainsFunc(v, math.IsNaN)
}

// A kernel that loses NaN, or lets it out into another row, MUST be a fault of class nan, unless it declares that
// results of a NaN may be anything: then it is accepted if it lets none out, and the verdict says what was not judged.
func TestNaNIsAContract(t *testing.T) {
	s := only(t, "layer_norm")
	sound, err := s.Built("fp32")
	require.NoError(t, err)
	lost := bench.After(sound, func(_ bench.Call, r *bench.Reply) {
		for i, v := range r.Outputs["y"].Data {
			if math.IsNaN(v) {
				r.Outputs["y"].Data[i] = 0
			}
		}
	})
	spread := bench.After(sound, func(c bench.Call, r *bench.Reply) {
		if y := r.Outputs["y"].Data; hasNaN(y) { // one accumulator for two rows
			for i := range y {
				y[i] += 0 * y[(i+len(y)/c.Outputs["y"].Shape[0])%len(y)]
			}
		}
	})
	for _, row := range []struct {
		name, declared string
		under          bench.Candidate
		state          job.State
	}{
		{"sound", "", sound, job.Equivalent},
		{"lost", "", lost, job.Fault},
		{"lost, as declared", bench.NaNAny, lost, job.Equivalent},
		{"let out", "", spread, job.Fault},
		{"let out, whatever is declared", bench.NaNAny, spread, job.Fault},
		{"sound, and leaves it open", bench.NaNAny, sound, job.Equivalent},
	} {
		t.Run(row.name, func(t *testing.T) {
			all, err := job.Run(t.Context(), declares{row.under, row.declared}, job.Options{Suites: []bench.Suite{s}})
			require.NoError(t, err)
			require.NotEmpty(t, all)
			assert.Equal(t, row.state, all[0].State)
			if row.state == job.Fault {
				assert.Equal(t, "nan", all[0].Causes[0].Class)
			}
			assert.Equal(t, row.declared != "", strings.Contains(all[0].Why, "depend on a NaN are not judged"), all[0].Why)
		})
	}
}

// declares offers layer_norm with a word about NaN.
type declares struct {
	bench.Candidate
	nan string
}

func (d declares) Hello(context.Context) (bench.Hello, error) {
	return bench.Hello{Name: "declares", Ops: map[string]bench.Capability{"layer_norm": {NaN: d.nan}}}, nil
}
