package norm

import "github.com/assay-suite/assay/kernels_test/bench"

// layer is LayerNorm in fp32 as steps, in the order in which they run.
type layer struct {
	sum     bench.Summing
	moments func(k layer, row []float32) (mean float32, variance float64)
	root    func(variance, eps float64) float32 // 1/sqrt(variance + eps)
	centre  func(x, mean float32) float32
	affine  func(z float32, w, b []float64, channel int) float32 // w, b: nil where absent
}

// correctLayer is the operator as it should be, mean and variance in two passes.
func correctLayer() layer {
	return layer{
		sum: bench.Sequential,
		moments: func(k layer, row []float32) (mean float32, variance float64) {
			mean = k.mean(row)
			return mean, float64(k.around(row, mean))
		},
		root:   inverseRoot,
		centre: func(x, mean float32) float32 { return x - mean },
		affine: func(z float32, w, b []float64, c int) float32 { return plus(times(z, w, c), b, c) },
	}
}

func (k layer) mean(row []float32) float32 { return k.sum(row) / float32(len(row)) }

// around is the mean of squares of a row from which m was taken.
func (k layer) around(row []float32, m float32) float32 {
	centred := make([]float32, len(row))
	for i, v := range row {
		centred[i] = v - m
	}
	return k.sum(squares(centred)) / float32(len(row))
}

func times(z float32, w []float64, channel int) float32 {
	if w == nil {
		return z
	}
	return float32(z * float32(w[channel]))
}

func plus(z float32, b []float64, channel int) float32 {
	if b == nil {
		return z
	}
	return z + float32(b[channel])
}

func (k layer) run(a bench.Args) (bench.Results, error) {
	x, w, b := a.In("x"), a.In("weight").Data, a.In("bias").Data
	d := x.Dim(1)
	y := make([]float64, len(x.Data))
	for t := range x.Dim(0) {
		row := narrowed(x.Row(t))
		mean, variance := k.moments(k, row)
		root := k.root(variance, a.Num("norm_eps"))
		for i, v := range row {
			y[t*d+i] = float64(k.affine(float32(k.centre(v, mean)*root), w, b, i))
		}
	}
	return bench.Results{"y": y}, nil
}

// Options that a contract allows.

func layerSum(s bench.Summing) func(*layer) { return func(k *layer) { k.sum = s } }

// welford updates mean and variance with every element.
func welford(k *layer) {
	k.moments = func(_ layer, row []float32) (mean float32, variance float64) {
		var v float32
		for i, x := range row {
			delta := x - mean
			mean += delta / float32(i+1)
			v += float32(delta * (x - mean))
		}
		return mean, float64(v / float32(len(row)))
	}
}

// exactMoments takes mean, variance and root in float64.
func exactMoments(k *layer) {
	k.moments = func(_ layer, row []float32) (mean float32, variance float64) {
		n, m := float64(len(row)), 0.0
		for _, v := range row {
			m += float64(v) / n
		}
		for _, v := range row {
			variance += (float64(v) - m) * (float64(v) - m)
		}
		return float32(m), variance / n
	}
	k.root = exactRoot
}

func layerPlants() []bench.Plant {
	type moments = func(k layer, row []float32, mean float32) (around, variance float32)
	with := func(f moments) func(k *layer) {
		return func(k *layer) {
			k.moments = func(k layer, row []float32) (float32, float64) {
				mean, variance := f(k, row, k.mean(row))
				return mean, float64(variance)
			}
		}
	}
	return planted(opLayer, func(put func(k *layer)) bench.Kernel { return bench.With(correctLayer(), put).run },
		[]fault[layer]{
			{
				"layer-mean-missing", "rows are divided by their deviation and not centred",
				"RMSNorm's output with LayerNorm's scale", "variant",
				func(k *layer) { k.centre = func(x, _ float32) float32 { return x } }, nil,
			},
			{
				"layer-rms", "the deviation is taken around 0", "RMSNorm's scale in LayerNorm", "variant",
				with(func(k layer, row []float32, mean float32) (float32, float32) { return mean, k.around(row, 0) }), nil,
			},
			{
				"layer-unbiased", "the variance is divided by D-1", "torch.var's default", "scale",
				with(func(k layer, row []float32, mean float32) (float32, float32) {
					n := float32(len(row))
					return mean, k.around(row, mean) * n / (n - 1)
				}), nil,
			},
			{
				"layer-one-pass", "the variance is mean(x^2) - mean^2", "one pass over the row in fp32", "accumulation",
				with(func(k layer, row []float32, mean float32) (float32, float32) {
					return mean, max(k.around(row, 0)-float32(mean*mean), 0)
				}),
				[]string{"fp32"},
			},
			{
				"layer-mean-bf16", "the mean is rounded to bf16", "a mean in the input's dtype", "variant",
				with(func(k layer, row []float32, mean float32) (float32, float32) {
					return bench.AsBF16(mean), k.around(row, bench.AsBF16(mean))
				}), nil,
			},
			{
				"layer-eps-outside", "eps is added to the deviation", "eps outside of the root", "eps",
				func(k *layer) { k.root = epsOutside }, nil,
			},
			{
				"layer-bias-first", "the bias is added before the weight multiplies", "affine map in the other order", "scale",
				func(k *layer) {
					k.affine = func(z float32, w, b []float64, c int) float32 { return times(plus(z, b, c), w, c) }
				}, nil,
			},
		})
}
