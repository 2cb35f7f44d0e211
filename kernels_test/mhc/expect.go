package mhc

import (
	"fmt"
	"maps"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
)

// expect derives want and bounds of every output of a case from its dense operands, in the order in which they are
// judged.
func expect(c bench.Case, p bench.Problem) ([]bench.Expected, error) {
	in := map[string]oracle.Mat{}
	for name, o := range p.Operands {
		in[name] = o.Tensor().Mat()
	}
	attrs := maps.Clone(p.Attrs)
	attrs["hc_mult"] = float64(p.Operands["x"].Shape[1]) // which the attribute repeats
	exact, err := evaluate(oracle.Reference(), c.Family.Op, attrs, in)
	if err != nil {
		return nil, err
	}
	b := bounder{ar: numerics.FP32(), cfg: configOf(attrs), in: in}
	var bounds, sharper map[string][]numerics.Tracked
	if c.Family.Op == "mhc_post" {
		bounds = b.spread()
	} else {
		g, err := c.Contract.GemmBounds(in["x"].Data, in["fn"].Data, in["x"].Rows, in["fn"].Rows, in["x"].Cols, bench.Alpha/2)
		if err != nil {
			return nil, err
		}
		bounds = b.chain(c.Family.Op, g.Want, g.Det, b.norms(false))
		if g.Martingale != nil {
			sharper = b.chain(c.Family.Op, g.Want, g.Martingale, b.norms(true))
		}
	}
	var out []bench.Expected
	for _, name := range []string{"y", "post", "comb", "out"} {
		tracked, ok := bounds[name]
		if !ok {
			continue
		}
		e := bench.Expected{
			Name: name, Shape: p.Outputs[name].Shape, Axes: axes[name], Want: exact[name].Data,
			Derivation: derivations[name](c.Contract.Name),
		}
		_, e.Bound = bench.Tracked(tracked)
		_, e.Martingale = bench.Tracked(sharper[name])
		if p.Outputs[name].DType == bench.BF16 {
			stored(&e)
		}
		out = append(out, e)
	}
	if tracked, ok := bounds["comb"]; ok {
		out = append(out, b.columnSums(exact["comb"], tracked))
	}
	return out, nil
}

// stored adds the rounding of results that are stored in bf16.
func stored(e *bench.Expected) {
	e.Derivation += ", one rounding to bf16"
	for i, v := range e.Want {
		e.Bound[i] += numerics.HalfULP(format.BF16, v, e.Bound[i])
		if e.Martingale != nil {
			e.Martingale[i] += numerics.HalfULP(format.BF16, v, e.Martingale[i])
		}
	}
}

var axes = map[string][]string{
	"y": {"token", "channel"}, "post": {"token", "stream"}, "comb": {"token", "from", "to"}, "out": {
		"token", "stream", "channel",
	},
}

var derivations = map[string]func(contract string) string{
	"y": func(c string) string {
		return "GEMM under " + c + ", fp32 norm, sigmoid and eps, then a product and a sum over streams"
	},
	"post": func(c string) string { return "GEMM under " + c + ", fp32 norm, twice a sigmoid" },
	"comb": func(c string) string { return "GEMM under " + c + ", fp32 norm, softmax, 39 Sinkhorn steps" },
	"out":  func(string) string { return "five fp32 products added in any order" },
}

// bounder composes the bounds of the operators from numerics.
type bounder struct {
	ar  numerics.Arith
	cfg oracle.HCConfig
	in  map[string]oracle.Mat
}

// norms is 1/sqrt(mean(v²)+eps) per token. The certain form admits every order of the sum of squares; the sharper one
// takes the martingale bound of that sum, at half of the case's risk.
func (b bounder) norms(sharper bool) []numerics.Tracked {
	x := b.in["x"]
	lambda := numerics.Lambda(max(x.Rows, 1), bench.Alpha/2)
	var out []numerics.Tracked
	for t := range x.Rows {
		row := x.Row(t)
		if !sharper {
			out = append(out, b.ar.RMSScale(numerics.ExactSlice(row), b.cfg.NormEps))
			continue
		}
		squares, sum := make([]float64, len(row)), 0.0
		for i, v := range row {
			squares[i] = v * v
			sum += squares[i]
		}
		e := numerics.FP32Any().MartingaleBound(squares, lambda) + float64(len(row))*b.ar.Tiny
		mean := b.ar.Div(numerics.Tracked{X: sum, E: e}, numerics.Exact(float64(len(row))))
		out = append(out, b.ar.RSqrt(b.ar.Add(mean, numerics.Exact(b.cfg.NormEps))))
	}
	return out
}

// chain pushes the error of the GEMM through norm, gates, Sinkhorn and collapse.
func (b bounder) chain(op string, gemm, gemmErr []float64, norms []numerics.Tracked) map[string][]numerics.Tracked {
	x, m, n := b.in["x"], b.in["fn"].Rows, b.cfg.Streams
	scale, base := b.in["scale"].Data, b.in["base"].Data
	out := map[string][]numerics.Tracked{"y": {}}
	if op == "mhc_pre" {
		out["post"], out["comb"] = []numerics.Tracked{}, []numerics.Tracked{}
	}
	for t := range x.Rows {
		var pre, logits []numerics.Tracked
		for i := range m {
			mix := b.ar.Mul(numerics.Tracked{X: gemm[t*m+i], E: gemmErr[t*m+i]}, norms[t])
			logit := func(s int) numerics.Tracked {
				return b.ar.Add(b.ar.Mul(mix, numerics.Exact(scale[s])), numerics.Exact(base[i]))
			}
			switch {
			case i < n:
				pre = append(pre, b.ar.Add(b.ar.Sigmoid(logit(0)), numerics.Exact(b.cfg.Eps)))
			case i < 2*n:
				out["post"] = append(out["post"], b.ar.Scale(b.ar.Sigmoid(logit(1)), 2))
			default:
				logits = append(logits, logit(2))
			}
		}
		if op == "mhc_pre" {
			out["comb"] = append(out["comb"], b.ar.Sinkhorn(logits, n, b.cfg.Iterations, b.cfg.Eps)...)
		}
		out["y"] = append(out["y"], b.collapse(pre, x.Row(t))...)
	}
	return out
}

// collapse bounds sum_j pre_j X[j, c].
func (b bounder) collapse(pre []numerics.Tracked, row []float64) []numerics.Tracked {
	width := len(row) / len(pre)
	out, column := make([]numerics.Tracked, width), make([]numerics.Tracked, len(pre))
	for c := range width {
		for j := range pre {
			column[j] = numerics.Exact(row[j*width+c])
		}
		out[c] = b.ar.Dot(pre, column)
	}
	return out
}

// spread bounds mhc_post: n+1 products of stored operands, added in any order.
func (b bounder) spread() map[string][]numerics.Tracked {
	f, post, comb, x := b.in["f"], b.in["post"], b.in["comb"], b.in["x"]
	n, width := post.Cols, f.Cols
	out := make([]numerics.Tracked, 0, len(x.Data))
	weights, column := make([]numerics.Tracked, n+1), make([]numerics.Tracked, n+1)
	for t := range f.Rows {
		for k := range n {
			weights[0] = numerics.Exact(post.Row(t)[k])
			for j := range n {
				weights[j+1] = numerics.Exact(comb.Row(t)[j*n+k])
			}
			for c := range width {
				column[0] = numerics.Exact(f.Row(t)[c])
				for j := range n {
					column[j+1] = numerics.Exact(x.Row(t)[j*width+c])
				}
				out = append(out, b.ar.Dot(weights, column))
			}
		}
	}
	return map[string][]numerics.Tracked{"out": out}
}

// columnSums judges the sums of comb's columns. The last step divides a column by its sum s plus eps, so that its sum
// is s/(s+eps): errors of the logits reach it only through eps, and a missing eps of 1e-6 stands out from 3e-7 of
// rounding, which it does not in a single element. A row has no such bound: the column step after it undoes what is
// common to the row.
//
// With a relative error d of the elements before the last step, s/(s+eps) moves by at most d·eps/s; d is taken as four
// times the largest of the result's, and s, near 1, as at least one half.
func (b bounder) columnSums(comb oracle.Mat, tracked []numerics.Tracked) bench.Expected {
	n := b.cfg.Streams
	sums := func(v []float64) []float64 {
		out := make([]float64, len(v)/n)
		for t := range len(v) / (n * n) {
			for i, x := range v[t*n*n : (t+1)*n*n] {
				out[t*n+i%n] += x
			}
		}
		return out
	}
	e := bench.Expected{
		Name: "comb-column-sums", Shape: []int{comb.Rows, n}, Axes: []string{"token", "to"}, Want: sums(comb.Data),
		Derivation: fmt.Sprintf("n+1 = %d fp32 roundings of a sum near 1; errors of the logits enter through eps alone", n+1),
		From:       func(out map[string][]float64) []float64 { return sums(out["comb"]) },
	}
	for t := range comb.Rows {
		var worst float64
		for i, v := range tracked[t*n*n : (t+1)*n*n] {
			worst = max(worst, v.E/comb.Row(t)[i])
		}
		for range n {
			e.Bound = append(e.Bound, b.ar.SinkhornSumBound(n)+8*worst*b.cfg.Eps)
		}
	}
	return e
}
