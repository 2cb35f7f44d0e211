package indexer

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// valuePlants compute another function, or in another arithmetic than declared.
func valuePlants() []bench.Plant {
	inKernel := func(f func(l *launch)) func(string) (bench.Candidate, error) {
		return edited(func(_ bench.Args, l *launch) { f(l) })
	}
	return []bench.Plant{
		{
			Name:   "no-relu",
			Effect: "negative dot products count",
			Origin: "relu left out",
			Class:  "gate",
			On:     logitOps,
			Build:  inKernel(func(l *launch) { l.relu = same }),
		},
		{
			Name:   "relu-after-sum",
			Effect: "relu is taken of the sum over heads",
			Origin: "a plain attention score clamped",
			Class:  "gate",
			On:     logitOps,
			Build:  inKernel(func(l *launch) { l.whole = relu }),
		},
		{
			Name:   "gelu-for-relu",
			Effect: "the gate is x·sigmoid(1.702 x)",
			Origin: "another activation",
			Class:  "gate",
			On:     logitOps,
			Build: inKernel(func(l *launch) {
				l.relu = func(x float32) float32 { return float32(float64(x) / (1 + math.Exp(-1.702*float64(x)))) }
			}),
		},
		{
			Name:   "leaky-relu",
			Effect: "a hundredth of negative dot products counts",
			Origin: "another activation",
			Class:  "gate",
			On:     logitOps,
			Build: inKernel(func(l *launch) {
				l.relu = func(x float32) float32 { return max(x, 0.01*x) }
			}),
		},
		{
			Name:   "weights-absolute",
			Effect: "head weights count by their size",
			Origin: "a scale assumed positive",
			Class:  "gate",
			On:     logitOps,
			Build: inKernel(func(l *launch) {
				l.weight = func(t, h int) float32 { return float32(math.Abs(float64(l.w[t][h]))) }
			}),
		},
		{
			Name:   "weights-of-next-head",
			Effect: "head h has the weight of head h+1",
			Origin: "heads permuted in a fused kernel",
			Class:  "layout",
			On:     logitOps,
			Build: inKernel(func(l *launch) {
				l.weight = func(t, h int) float32 { return l.w[t][(h+1)%l.heads] }
			}),
		},
		{
			Name:   "weights-of-row-0",
			Effect: "all queries have the weights of the first",
			Origin: "a broadcast of the wrong axis",
			Class:  "layout",
			On:     logitOps,
			Build: inKernel(func(l *launch) {
				l.weight = func(_, h int) float32 { return l.w[0][h] }
			}),
		},
		{
			Name:   "weights-dropped",
			Effect: "all heads count alike",
			Origin: "weights not folded in",
			Class:  "layout",
			On:     logitOps,
			Build: inKernel(func(l *launch) {
				l.weight = func(int, int) float32 { return float32(1 / math.Sqrt(float64(l.heads*l.dim))) }
			}),
		},
		{
			Name:   "last-head-lost",
			Effect: "the last head does not count",
			Origin: "head groups rounded down",
			Class:  "tile",
			On:     logitOps,
			Build:  inKernel(func(l *launch) { l.heads-- }),
		},
		{
			Name:     "half-precision-weights",
			Effect:   "head weights are rounded to bf16",
			Origin:   "weights kept in the model's dtype",
			Class:    "accumulation",
			On:       logitOps,
			Declared: []string{"fp32"},
			Build: inKernel(func(l *launch) {
				l.weight = func(t, h int) float32 { return bf16(l.w[t][h]) }
			}),
		},
		{
			Name:   "scale-squared",
			Effect: "the key's scale is applied twice",
			Origin: "scales folded into the page and applied again",
			Class:  "scale",
			On:     logitOps,
			Build: inKernel(func(l *launch) {
				for i, s := range l.scale {
					l.scale[i] = s * s
				}
			}),
		},
		{
			Name:   "scale-inverted",
			Effect: "logits are divided by the key's scale",
			Origin: "scale_inv",
			Class:  "scale",
			On:     logitOps,
			Build: inKernel(func(l *launch) {
				for i, s := range l.scale {
					l.scale[i] = 1 / s
				}
			}),
		},
		{
			Name:     "scales-in-bf16",
			Effect:   "the key's scale is rounded to bf16",
			Origin:   "scales converted with the keys",
			Class:    "accumulation",
			On:       logitOps,
			Declared: []string{"fp32", "hopper-fp8"},
			Build:    inKernel(func(l *launch) { roundAll(l.scale) }),
		},
		{
			Name:     "dots-in-bf16",
			Effect:   "dot products are rounded to bf16 and declared fp32",
			Origin:   "a torch fallback with a bf16 bmm",
			Class:    "accumulation",
			On:       logitOps,
			Declared: []string{"fp32"},
			Build:    styled(func(a, b *style) { a.dotBF16, b.dotBF16 = true, true }),
		},
		{
			Name:     "keys-in-bf16",
			Effect:   "scaled keys are rounded to bf16 and declared fp32",
			Origin:   "keys dequantised before the dot product",
			Class:    "accumulation",
			On:       logitOps,
			Declared: []string{"fp32"},
			Build:    styled(func(a, b *style) { a.keyBF16, b.keyBF16 = true, true }),
		},
		{
			Name:     "terms-in-bf16",
			Effect:   "products with weights are rounded to bf16 and declared otherwise",
			Origin:   "the reference's tensors are bf16 throughout",
			Class:    "accumulation",
			On:       logitOps,
			Declared: []string{"fp32", "hopper-fp8"},
			Build:    styled(func(a, b *style) { a.termBF16, b.termBF16 = true, true }),
		},
		{
			Name:     "logits-in-bf16",
			Effect:   "logits are rounded to bf16 and declared fp32",
			Origin:   "bf16 logits of SM100",
			Class:    "accumulation",
			On:       logitOps,
			Declared: []string{"fp32"},
			Build:    styled(func(a, b *style) { a.sumBF16, b.sumBF16 = true, true }),
		},
		{
			Name:     "fp8-sums-declared-fp32",
			Effect:   "13-bit truncating sums of fp8 tensor cores are declared fp32",
			Origin:   "no promotion to fp32",
			Class:    "accumulation",
			On:       logitOps,
			Declared: []string{"fp32"},
			Build: styled(func(a, _ *style) {
				native, _ := styleOf("hopper-fp8")
				a.dot = native.dot
			}),
		},
		{
			Name:   "heads-chained-in-bf16",
			Effect: "every step of the sum over heads is rounded to bf16",
			Origin: "an accumulator in the tensors' dtype",
			Class:  "accumulation",
			On:     logitOps,
			Build:  styled(func(a, b *style) { a.heads, b.heads = addBF16, addBF16 }),
		},
		{
			Name:   "last-channel-lost",
			Effect: "the last channel does not count",
			Origin: "a vector loop rounded down",
			Class:  "tile",
			On:     logitOps,
			Build:  styled(func(a, b *style) { a.dot, b.dot = shortDot(a.dot), shortDot(b.dot) }),
		},
	}
}

func addBF16(v []float32) float32 {
	var s float32
	for _, x := range v {
		s = bf16(s + x)
	}
	return s
}

func shortDot(d dotter) dotter {
	return func(q, k []float32) float32 { return d(q[:len(q)-1], k[:len(k)-1]) }
}
