package norm

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// rms is RMSNorm in fp32 as steps, in the order in which they run.
type rms struct {
	add    func(x, residual float32, dtype string) (sum, stored float32) // the sum is normalised; dtype is what is stored
	group  func(x bench.Tensor) int                                      // how many elements are normalised together
	square func(row []float32) []float32
	sum    bench.Summing
	mean   func(sum float32, n int) float32
	moment func(k rms, row []float32) float64 // mean of squares: the three steps before
	root   func(mean, eps float64) float32    // 1/sqrt(mean + eps)
	weight func(w []float64, channel, vector int) float32
	gain   func(x, root, w float32) float32
}

// correctRMS is the operator as it should be.
func correctRMS() rms {
	return rms{
		add:    func(x, residual float32, _ string) (sum, stored float32) { return x + residual, x + residual },
		group:  func(x bench.Tensor) int { return x.Dim(len(x.Shape) - 1) },
		square: squares,
		sum:    bench.Sequential,
		mean:   func(sum float32, n int) float32 { return sum / float32(n) },
		moment: func(k rms, row []float32) float64 { return float64(k.mean(k.sum(k.square(row)), len(row))) },
		root:   inverseRoot,
		weight: func(w []float64, channel, _ int) float32 { return float32(w[channel]) },
		gain:   func(x, root, w float32) float32 { return float32(x*root) * w },
	}
}

func squares(v []float32) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x * x)
	}
	return out
}

// inverseRoot is 1/sqrt(mean + eps) in fp32.
func inverseRoot(mean, eps float64) float32 {
	return 1 / float32(math.Sqrt(float64(float32(mean)+float32(eps))))
}

// exactRoot is 1/sqrt(mean + eps) in float64, rounded once.
func exactRoot(mean, eps float64) float32 { return float32(1 / math.Sqrt(mean+eps)) }

func (k rms) run(a bench.Args) (bench.Results, error) {
	x, w := a.In("x"), a.In("weight").Data
	d := x.Dim(len(x.Shape) - 1)
	y := make([]float64, len(x.Data))
	out := bench.Results{"y": y}
	in := narrowed(x.Data)
	if a.Has("residual") {
		stored := make([]float64, len(in))
		for i, r := range a.In("residual").Data {
			var s float32
			in[i], s = k.add(in[i], float32(r), a.Out("residual_out").DType)
			stored[i] = float64(s)
		}
		out["residual_out"] = stored
	}
	group := k.group(x)
	for lo := 0; lo < len(in); lo += group {
		row := in[lo : lo+group]
		root := k.root(k.moment(k, row), a.Num("norm_eps"))
		for i, v := range row {
			weight := float32(1)
			if w != nil {
				weight = k.weight(w, i%d, (lo+i)/d)
			}
			y[lo+i] = float64(k.gain(v, root, weight))
		}
	}
	return out, nil
}

func narrowed(v []float64) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return out
}

// Options that a contract allows.

func rmsSum(s bench.Summing) func(*rms) { return func(k *rms) { k.sum = s } }

func weightFirst(k *rms) { k.gain = func(x, root, w float32) float32 { return float32(x*w) * root } }

func divided(k *rms) { k.gain = func(x, root, w float32) float32 { return float32(x/(1/root)) * w } }

// roundedSum normalises the sum with the residual after it was rounded to what is stored.
func roundedSum(k *rms) {
	k.add = func(x, residual float32, dtype string) (sum, stored float32) {
		return float32(bench.Round(dtype, float64(x+residual))), x + residual
	}
}

// inBF16Steps rounds every step to bf16, as contract bf16-steps allows.
func inBF16Steps(k *rms) {
	k.square = func(row []float32) []float32 {
		out := squares(row)
		for i, v := range out {
			out[i] = bench.AsBF16(v)
		}
		return out
	}
	k.root = func(mean, eps float64) float32 {
		sum := bench.AsBF16(bench.AsBF16(float32(mean)) + float32(eps))
		return bench.AsBF16(1 / float32(math.Sqrt(float64(sum))))
	}
	k.gain = func(x, root, w float32) float32 { return bench.AsBF16(x*root) * w }
}

// exactMoment takes mean and root in float64.
func exactMoment(k *rms) {
	k.moment = func(_ rms, row []float32) float64 {
		total := 0.0
		for _, v := range row {
			total += float64(v) * float64(v)
		}
		return total / float64(len(row))
	}
	k.root = exactRoot
}
