package softmax_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/assay-suite/assay/kernels_test/bench/softmax"
	"github.com/assay-suite/assay/numerics"
)

const channels = 3

// operations are more than the roundings of any order of n rows: exponential, weight, sum, and two rescalings a row.
const operations = 5 * 60

// direct is Σ e^z v / Σ e^z over the rows that exist, the same of |v|, and log Σ e^z, by definition in float64.
func direct(z []float64, rows [][]float64) (out, size []float64, lse float64) {
	out, size = make([]float64, channels), make([]float64, channels)
	var sum float64
	for i, v := range rows {
		if v == nil {
			continue
		}
		sum += math.Exp(z[i])
		for c, x := range v {
			out[c] += math.Exp(z[i]) * x
			size[c] += math.Exp(z[i]) * math.Abs(x)
		}
	}
	for c := range out {
		out[c] /= sum
		size[c] /= sum
	}
	return out, size, math.Log(sum)
}

// lanes are scores and rows of which some are missing, whole tiles and the first ones too.
func lanes(rng *rand.Rand, n int) (z []float64, rows [][]float64) {
	for i := range n {
		if i < 5 || i%7 == 3 || i > 20 && i < 33 {
			z, rows = append(z, math.Inf(-1)), append(rows, nil)
			continue
		}
		z = append(z, 6*rng.NormFloat64())
		rows = append(rows, []float64{rng.NormFloat64(), 1, float64(i)})
	}
	return z, rows
}

// Every tiling, merge and combination of parts MUST be the softmax of the definition.
func TestEveryStreamIsTheDefinition(t *testing.T) {
	z, rows := lanes(rand.New(rand.NewPCG(10, 2)), 60)
	want, size, lse := direct(z, rows)
	u := numerics.Gamma(operations, 0x1p-53)
	for _, tile := range []int{0, 1, 2, 5, 16, 64} {
		for parts := 1; parts <= 9; parts++ {
			s := softmax.FP64()
			s.Tile = tile
			merged := softmax.Empty(channels)
			var states []softmax.State
			var lses []float64
			for p := range parts {
				from, to := p*len(z)/parts, (p+1)*len(z)/parts
				state := s.Over(z[from:to], channels, func(i int) []float64 { return rows[from+i] })
				states = append(states, state)
				lses = append(lses, state.Max+math.Log(state.Sum))
				merged = s.Merge(merged, state)
			}
			for name, got := range map[string]softmax.State{"merged": merged, "combined": s.Combine(states, lses)} {
				for c := range want {
					if v := got.Acc[c] / got.Sum; math.Abs(v-want[c]) > u*size[c] {
						t.Errorf("%d %s parts, tile %d: channel %d is %v, want %v", parts, name, tile, c, v, want[c])
					}
				}
				if v := got.Max + math.Log(got.Sum); math.Abs(v-lse) > u {
					t.Errorf("%d %s parts, tile %d: log-sum-exp %v, want %v", parts, name, tile, v, lse)
				}
			}
		}
	}
}

// Parts that are added without rescaling to the common maximum MUST NOT be the definition: the check above has teeth.
func TestNotRescaledIsSeen(t *testing.T) {
	z, rows := lanes(rand.New(rand.NewPCG(10, 2)), 60)
	want, size, _ := direct(z, rows)
	s := softmax.FP64()
	part := func(from, to int) softmax.State {
		return s.Over(z[from:to], channels, func(i int) []float64 { return rows[from+i] })
	}
	a, b := part(0, 20), part(20, 60)
	s.Exp = func(float64) float64 { return 1 }
	got := s.Merge(a, b)
	if v := got.Acc[2] / got.Sum; math.Abs(v-want[2]) <= numerics.Gamma(operations, 0x1p-53)*size[2] {
		t.Errorf("channel 2 is %v, want something else than %v", v, want[2])
	}
}

// Rows of none, and lanes of nothing but none, are the empty state.
func TestNoRow(t *testing.T) {
	s := softmax.FP32()
	for n := range 3 {
		z := s.Scores([]float64{1}, n, func(int) []float64 { return nil }, 1)
		for _, got := range []softmax.State{
			s.Over(z, channels, func(int) []float64 { return nil }),
			s.Merge(softmax.Empty(channels), softmax.Empty(channels)),
			s.Combine([]softmax.State{softmax.Empty(channels)}, []float32{float32(math.Inf(-1))}),
		} {
			if !math.IsInf(got.Max, -1) || got.Sum != 0 || len(got.Acc) != channels {
				t.Errorf("%d lanes: %+v, want no row", n, got)
			}
		}
	}
}

// In fp32 with weights rounded to bf16, results MUST lie within those roundings of the definition, and the sum within
// fp32's: it keeps the weights. Scores are at most 30, whose differences fp32 rounds by 2^-19.
func TestFP32(t *testing.T) {
	z, rows := lanes(rand.New(rand.NewPCG(3, 4)), 60)
	z32 := make([]float32, len(z))
	for i := range z {
		z32[i] = float32(z[i])
		z[i] = float64(z32[i])
	}
	want, size, lse := direct(z, rows)
	s := softmax.FP32()
	s.Tile, s.Exp, s.Weight = 8, softmax.ExpBy2[float32], softmax.RoundedWeights
	got := s.Over(z32, channels, func(i int) []float64 { return rows[i] })
	fp32 := numerics.Gamma(operations, 0x1p-24) + 0x1p-19
	if v := got.Max + math.Log(got.Sum); math.Abs(v-lse) > fp32 {
		t.Errorf("log-sum-exp %v, want %v within %v: the sum takes weights that are not rounded", v, lse, fp32)
	}
	for c := range want {
		if v := got.Acc[c] / got.Sum; math.Abs(v-want[c]) > (0x1p-9+2*fp32)*size[c] {
			t.Errorf("channel %d is %v, want %v within bf16 weights", c, v, want[c])
		}
	}
}
