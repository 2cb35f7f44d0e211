package norm

import (
	"math"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

func rmsPlants() []bench.Plant {
	halve := func(i, _ int) bool { return i%2 == 1 }
	partial := func(i, n int) bool { return n >= 4 && i >= n/4*4 }
	return planted(opRMS, func(put func(k *rms)) bench.Kernel { return bench.With(correctRMS(), put).run }, []fault[rms]{
		{
			"rms-eps-outside", "eps is added to the root instead of the mean of squares", "eps outside of the root", "eps",
			func(k *rms) { k.root = epsOutside }, nil,
		},
		{
			"rms-half-lanes", "half of the lanes enter the sum of squares", "vllm-project/vllm#56342", "scale",
			dropped(halve), nil,
		},
		{
			"rms-last-vector", "channels after the last whole vector of 4 are left out of the sum",
			"a loop over whole vectors", "tile", dropped(partial), nil,
		},
		{
			"rms-padded-width", "the mean divides by the width rounded up to 8", "a padded width taken for the width", "scale",
			func(k *rms) { k.mean = func(sum float32, n int) float32 { return sum / float32((n+7)/8*8) } }, nil,
		},
		{
			"rms-no-mean", "the sum of squares is not divided by the width", "sum taken for mean", "scale",
			func(k *rms) { k.mean = func(sum float32, _ int) float32 { return sum } }, nil,
		},
		{
			"rms-whole-token", "all heads of a token are normalised together", "head norm over the flattened token", "layout",
			func(k *rms) { k.group = func(x bench.Tensor) int { return len(x.Data) / max(x.Dim(0), 1) } }, nil,
		},
		{
			"rms-weight-shifted", "head h takes the weight shifted by h", "a running index into the weight", "layout",
			func(k *rms) {
				k.weight = func(w []float64, channel, vector int) float32 { return float32(w[(channel+vector)%len(w)]) }
			}, nil,
		},
		{
			"rms-residual-missing", "x is normalised without its residual", "residual dropped by a fusion", "variant",
			adding(func(x, r float32) (sum, stored float32) { return x, x + r }), nil,
		},
		{
			"rms-residual-stale", "the next residual is x and not the sum", "residual stored before the sum", "variant",
			adding(func(x, r float32) (sum, stored float32) { return x + r, x }), nil,
		},
		{
			"rms-residual-twice", "the residual is added twice", "a fused norm after an add", "variant",
			adding(func(x, r float32) (sum, stored float32) { return x + r + r, x + r }), nil,
		},
		{
			"rms-residual-bf16", "x and residual are rounded to bf16 before the sum", "a fused add in the activations' dtype",
			"accumulation", adding(func(x, r float32) (sum, stored float32) {
				return bench.AsBF16(x) + bench.AsBF16(r), x + r
			}),
			[]string{"fp32"},
		},
		{
			"rms-narrow-sum", "the squares are added in bf16", "an accumulator of the input's dtype", "accumulation",
			rmsSum(func(v []float32) (s float32) {
				for _, x := range v {
					s = bench.AsBF16(s + x)
				}
				return s
			}), plain,
		},
		{
			"rms-steps", "every step is rounded to bf16 where fp32 is declared", "V4's head norm in place of the others",
			"accumulation", inBF16Steps, plain,
		},
	})
}

// epsOutside is 1/(sqrt(mean) + eps).
func epsOutside(mean, eps float64) float32 { return 1 / (float32(math.Sqrt(mean)) + float32(eps)) }

// dropped leaves channels out of the sum of squares.
func dropped(is func(i, n int) bool) func(k *rms) {
	return func(k *rms) {
		k.square = func(row []float32) []float32 {
			out := squares(row)
			for i := range out {
				if is(i, len(out)) {
					out[i] = 0
				}
			}
			return out
		}
	}
}

// adding replaces the sum with the residual.
func adding(add func(x, r float32) (sum, stored float32)) func(k *rms) {
	return func(k *rms) {
		k.add = func(x, r float32, _ string) (sum, stored float32) { return add(x, r) }
	}
}

// residualNormalised stores y as the next residual.
func residualNormalised(_ bench.Call, r *bench.Reply) {
	if next, has := r.Outputs["residual_out"]; has {
		next.Data = slices.Clone(r.Outputs["y"].Data)
		r.Outputs["residual_out"] = next
	}
}
