package gemm

import (
	"fmt"
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
)

func slug(form string, args ...any) string { return fmt.Sprintf(form, args...) }

// summing is the sum of products over one run of K in some arithmetic.
type summing func(x, w []float32) float32

// Where scales enter.
const (
	pairFirst  = "pair"  // part · (sx · sw)
	oneByOne   = "each"  // (part · sx) · sw
	dequantise = "first" // (x · sx) · (w · sw), then the sum
)

// style is how a kernel adds.
type style struct {
	sum    summing
	tensor *numerics.Accumulator // in place of sum: a tensor core's block FMA
	scales string
	run    int                     // products a partial sum takes at most; 0: as many as have one scale
	splits int                     // pieces of K with sums of their own, added at the end
	carry  func(v float32) float32 // what the running sum is rounded to besides fp32; nil for nothing
	read   func(v float32) float32 // how an operand is rounded before the product; nil as stored
	three  func(v float32) (hi, lo float32)
	cut    bool // the small products of three are added onto the large sum, which is cut each time
	exact  bool // float64 throughout
	alpha1 bool // the global factor enters with the scales, not at the end
	store  func(v float32) float64
}

// groups is the length of runs with one scale.
func (p product) groups(s style) int {
	g := p.x.k
	for _, m := range []matrix{p.x, p.w} {
		if m.group > 0 {
			g = min(g, m.group)
		}
	}
	if s.run > 0 {
		g = min(g, s.run)
	}
	return max(g, 1)
}

func (m matrix) scaleAt(row, k int) float32 {
	if m.group == 0 {
		return 1
	}
	return m.scale[row*((m.k+m.group-1)/m.group)+k/m.group]
}

// multiply returns [x.rows, w.rows].
func (p product) multiply(s style) []float64 {
	if s.exact {
		return p.multiplyExact()
	}
	m, n, k := p.x.rows, p.w.rows, p.x.k
	x, w := p.x.code, p.w.code
	if s.scales == dequantise {
		x, w = p.x.dequantised(), p.w.dequantised()
	}
	if s.read != nil {
		x, w = each(x, s.read), each(w, s.read)
	}
	in := inputs{x: x, w: w}
	if s.three != nil {
		in.x, in.xLow = split(x, s.three)
		in.w, in.wLow = split(w, s.three)
	}
	out := make([]float64, m*n)
	acc := make([]float32, m*n)
	run := p.groups(s)
	pieces := max(s.splits, 1)
	piece := (k + pieces - 1) / pieces
	piece = (piece + run - 1) / run * run
	for lo := 0; lo < k; lo += max(piece, 1) {
		part := make([]float32, m*n)
		for at := lo; at < min(lo+piece, k); at += run {
			p.add(part, in, at, min(at+run, k), s)
		}
		for i, v := range part {
			acc[i] += v
		}
	}
	for i, v := range acc {
		if !s.alpha1 && p.alpha != 1 {
			v *= p.alpha
		}
		if out[i] = float64(v); s.store != nil {
			out[i] = s.store(v)
		}
	}
	return out
}

// inputs are operands as they enter products; the low parts are those of three products.
type inputs struct{ x, w, xLow, wLow []float32 }

func split(v []float32, three func(float32) (hi, lo float32)) (hi, lo []float32) {
	hi, lo = make([]float32, len(v)), make([]float32, len(v))
	for i, x := range v {
		hi[i], lo[i] = three(x)
	}
	return hi, lo
}

// add adds the products of one run to acc.
func (p product) add(acc []float32, in inputs, lo, hi int, s style) {
	m, n, k := p.x.rows, p.w.rows, p.x.k
	x, w := in.x, in.w
	var parts []float64
	if s.tensor != nil {
		parts = blockFMA(*s.tensor, x, w, m, n, k, lo, hi)
	}
	for i := range m {
		sx := p.x.scaleAt(i, lo)
		if s.alpha1 {
			sx *= p.alpha
		}
		for j := range n {
			var part float32
			switch {
			case parts != nil:
				part = float32(parts[i*n+j])
			case s.three != nil:
				part = s.threeProducts(x[i*k+lo:i*k+hi], in.xLow[i*k+lo:i*k+hi], w[j*k+lo:j*k+hi], in.wLow[j*k+lo:j*k+hi])
			default:
				part = s.sum(x[i*k+lo:i*k+hi], w[j*k+lo:j*k+hi])
			}
			sw := p.w.scaleAt(j, lo)
			switch s.scales {
			case pairFirst:
				part = part * float32(sx*sw)
			case oneByOne:
				part = float32(part*sx) * sw
			}
			if acc[i*n+j] += part; s.carry != nil {
				acc[i*n+j] = s.carry(acc[i*n+j])
			}
		}
	}
}

// blockFMA runs one stretch of K on a tensor core.
func blockFMA(acc numerics.Accumulator, x, w []float32, m, n, k, lo, hi int) []float64 {
	cut := func(v []float32, rows int) []float64 {
		out := make([]float64, 0, rows*(hi-lo))
		for r := range rows {
			for _, e := range v[r*k+lo : r*k+hi] {
				out = append(out, float64(e))
			}
		}
		return out
	}
	in := numerics.Operand{Format: format.FP32}
	if acc.Align == 13 {
		in.Format = format.E4M3FN // its subnormals are not normalised
	}
	c := numerics.Contract{Name: "tensor core", Acc: acc, Inputs: map[string]numerics.Operand{"x": in, "w": in}}
	out, err := c.Gemm(cut(x, m), cut(w, n), m, n, hi-lo)
	if err != nil {
		return bench.Unbounded(m * n) // the accumulators of this package are valid
	}
	return out
}

// threeProducts is 3xTF32: the small products first, the large one on top.
func (s style) threeProducts(xh, xl, wh, wl []float32) float32 {
	if s.cut {
		var sum float32
		for i := range xh {
			sum = cut32(float64(sum) + float64(xl[i])*float64(wh[i]))
			sum = cut32(float64(sum) + float64(xh[i])*float64(wl[i]))
			sum += float32(xh[i] * wh[i])
		}
		return sum
	}
	return s.sum(xl, wh) + s.sum(xh, wl) + s.sum(xh, wh)
}

func (p product) multiplyExact() []float64 {
	m, n, k := p.x.rows, p.w.rows, p.x.k
	out := make([]float64, m*n)
	for i := range m {
		for j := range n {
			var s float64
			for t := range k {
				s += float64(p.x.code[i*k+t]) * float64(p.x.scaleAt(i, t)) * float64(p.w.code[j*k+t]) * float64(p.w.scaleAt(j, t))
			}
			out[i*n+j] = s * float64(p.alpha)
		}
	}
	return out
}

func (m matrix) dequantised() []float32 {
	out := make([]float32, len(m.code))
	for i, v := range m.code {
		out[i] = v * m.scaleAt(i/m.k, i%m.k)
	}
	return out
}

func each(v []float32, f func(float32) float32) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = f(x)
	}
	return out
}

// kernel is an operator in a style, with quirks.
func kernel(op string, s style, q quirks) bench.Kernel {
	return func(a bench.Args) (bench.Results, error) {
		y := a.Fresh("y")
		shape := a.Out("y").Shape
		n := shape[len(shape)-1]
		for _, p := range loaders[op](a, q) {
			if q.lostBlock && p.x.k >= 128 {
				p = p.without(p.x.k / 128 * 128)
			}
			if q.coarse {
				p.x, p.w = twice(p.x), twice(p.w)
			}
			v := p.multiply(s)
			for i := range p.x.rows {
				copy(y[p.at(i)*n:(p.at(i)+1)*n], v[i*n:(i+1)*n])
			}
		}
		return bench.Results{"y": y}, nil
	}
}

// without leaves out what lies from k on.
func (p product) without(k int) product {
	for _, m := range []*matrix{&p.x, &p.w} {
		code := append([]float32(nil), m.code...)
		for i := range code {
			if i%m.k >= k {
				code[i] = 0
			}
		}
		m.code = code
	}
	return p
}

// tf32 rounds to nearest even with 10 fraction bits.
func tf32(v float32) float32 {
	return math.Float32frombits(format.EncodeTF32(v, format.RN))
}

// tf32Cut drops the low 13 bits.
func tf32Cut(v float32) float32 { return math.Float32frombits(math.Float32bits(v) &^ (1<<13 - 1)) }

// halves splits a value into two TF32 numbers by a rounding.
func halves(round func(float32) float32) func(float32) (hi, lo float32) {
	return func(v float32) (hi, lo float32) {
		hi = round(v)
		return hi, round(v - hi)
	}
}
