package norm_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/norm"
	"github.com/assay-suite/assay/oracle"
)

// benches calls f with every case of an operator.
func benches(t *testing.T, op string, f func(c bench.Case, p bench.Problem, want, bound []float64)) {
	t.Helper()
	for _, c := range norm.Suite().Cases() {
		if c.Family.Op != op {
			continue
		}
		b, err := bench.New(c)
		require.NoError(t, err)
		e := b.Expected[len(b.Expected)-1]
		f(c, b.Problem(), e.Want, e.Bound)
	}
}

// What is expected of a rotation MUST be oracle.Rotary's, which recorded tensors prove: within a hundredth of the
// bound, which is far above what two float64 evaluations of one angle differ by.
func TestRopeIsRotary(t *testing.T) {
	benches(t, "rope", func(c bench.Case, p bench.Problem, want, bound []float64) {
		a, x := p.Attrs, p.In("x")
		if _, has := p.Operands["cos_sin_cache"]; has || len(x.Data) == 0 {
			return
		}
		r := oracle.Rotary{
			Frequencies: oracle.Rope{Base: a.Num("rope_theta"), Dims: a.Int("rotary_dim")}.Frequencies(),
			Leading:     a.Int("rotary_offset") == 0,
		}
		if f, has := p.Operands["inv_freq"]; has {
			r.Frequencies, r.FP32Table = f.Values, c.Contract.Name != "float64-angle"
		}
		if a.Word("pairing") == "half" {
			r.Pairing = oracle.PairHalf
		}
		y, err := r.Apply(x.Mat(), x.Dim(2), p.In("positions").Ints(), a.Flag("inverse"))
		require.NoError(t, err)
		for i, v := range y.Data {
			if math.Abs(v-want[i]) > bound[i]/100 {
				t.Fatalf("%s: element %d is %v, by oracle.Rotary %v", c.ID, i, want[i], v)
			}
		}
	})
}

// Rotations keep lengths: u² + v² of a pair is the sum of squares before, whatever the angle and the pairing. Over a
// head the sum MUST be the same; float64 loses a few units of 2^-53 a term.
func TestRopeKeepsLengths(t *testing.T) {
	benches(t, "rope", func(c bench.Case, p bench.Problem, want, _ []float64) {
		if _, has := p.Operands["cos_sin_cache"]; has {
			return // its amplitude is 1.1
		}
		x, d := p.In("x").Data, p.In("x").Dim(2)
		for at := 0; at+d <= len(x); at += d {
			before, after := 0.0, 0.0
			for i := at; i < at+d; i++ {
				before += x[i] * x[i]
				after += want[i] * want[i]
			}
			if math.Abs(before-after) > 0x1p-48*before {
				t.Fatalf("%s: a head of length² %v becomes %v", c.ID, before, after)
			}
		}
	})
}

// The mean of (y/w)² is m/(m + eps) with m the mean of squares: RMSNorm's result says its own denominator.
func TestRMSNormSaysItsScale(t *testing.T) {
	benches(t, "rms_norm", func(c bench.Case, p bench.Problem, want, _ []float64) {
		x, eps := p.In("x"), p.Attrs.Num("norm_eps")
		sum := slices.Clone(x.Data)
		for i, v := range p.Operands["residual"].Values {
			sum[i] += v
		}
		w, d := p.Operands["weight"].Values, x.Dim(len(x.Shape)-1)
		for at := 0; at+d <= len(sum); at += d {
			m, y := 0.0, 0.0
			for i := range d {
				v := want[at+i]
				if w != nil {
					v /= w[i]
				}
				m += sum[at+i] * sum[at+i] / float64(d)
				y += v * v / float64(d)
			}
			if ratio := m / (m + eps); math.Abs(y-ratio) > 1e-12*ratio {
				t.Fatalf("%s: the mean of squares is %v, want %v", c.ID, y, ratio)
			}
		}
	})
}

// (y - b)/w of LayerNorm has mean 0 and mean of squares v/(v + eps), v the variance by another formula: half the mean
// squared difference of all pairs.
func TestLayerNormSaysItsScale(t *testing.T) {
	benches(t, "layer_norm", func(c bench.Case, p bench.Problem, want, _ []float64) {
		x, eps := p.In("x"), p.Attrs.Num("norm_eps")
		w, b, d := p.Operands["weight"].Values, p.Operands["bias"].Values, x.Dim(1)
		for row := range min(x.Dim(0), 3) {
			in, mean, squares, pairs := x.Row(row), 0.0, 0.0, 0.0
			for i, v := range in {
				z := want[row*d+i]
				if b != nil {
					z -= b[i]
				}
				if w != nil {
					z /= w[i]
				}
				mean += z / float64(d)
				squares += z * z / float64(d)
				for _, o := range in {
					pairs += (v - o) * (v - o) / float64(2*d*d)
				}
			}
			assert.Less(t, math.Abs(mean), 1e-9, c.ID)
			if ratio := pairs / (pairs + eps); math.Abs(squares-ratio) > 1e-9*ratio+1e-20 {
				t.Fatalf("%s: the mean of squares is %v, want %v", c.ID, squares, ratio)
			}
		}
	})
}

// The angles at position 1 MUST be the published frequencies (docs/sources.md), to the digits given.
func TestTableAtOne(t *testing.T) {
	for _, row := range []struct {
		scenario string
		pair     int
		angle    float64
	}{
		{"v4", 16, 2.265625e-3},
		{"v4", 20, 2.96977778e-4},
		{"v4", 25, 5.37231267e-6},
		{"v4", 31, 5.68052904e-7},
		{"v32", 16, 5.5e-3},
		{"v32", 23, 3.33380358e-5},
	} {
		at := slices.IndexFunc(norm.Suite().Cases(), func(c bench.Case) bool {
			return c.Family.Op == "rope_table" && c.Scenario.ID == row.scenario
		})
		c := norm.Suite().Cases()[at]
		p, err := c.Problem()
		require.NoError(t, err)
		p.Change("positions", func(int, float64) float64 { return 1 })
		e, err := c.Family.Expect(c, p)
		require.NoError(t, err)
		got := math.Atan2(e[0].Want[32+row.pair], e[0].Want[row.pair])
		assert.LessOrEqual(t, math.Abs(got-row.angle), 0.5e-8*row.angle, "%s pair %d is %v", row.scenario, row.pair, got)
	}
}
