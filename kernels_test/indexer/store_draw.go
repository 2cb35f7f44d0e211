package indexer

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
)

var storeContracts = []numerics.Contract{{Name: "fp32"}, {Name: "bf16-steps", Mid: format.BF16}}

// key describes how a model preprocesses and stores an index key.
type key struct {
	dim, rope             int
	norm                  string
	leading, interleaved  bool
	hadamard              bool
	pages, scale          string
	base, factor, trained float64 // of the rotary table; factor 0 has no YaRN
}

// keyWays are those of models, and plain ones whose bytes are exact.
var keyWays = map[string]key{
	"v32": {
		dim:      128,
		rope:     64,
		norm:     "layernorm",
		leading:  true,
		hadamard: true,
		pages:    "fp8",
		scale:    "ue8m0",
		base:     10000,
		factor:   40,
		trained:  4096,
	},
	"v32-linear": {
		dim:      128,
		rope:     64,
		norm:     "layernorm",
		leading:  true,
		hadamard: true,
		pages:    "fp8",
		scale:    "fp32",
		base:     10000,
	},
	"v4": {
		dim:         128,
		rope:        64,
		norm:        "rmsnorm",
		interleaved: true,
		hadamard:    true,
		pages:       "fp4",
		scale:       "ue8m0",
		base:        160000,
		factor:      16,
		trained:     65536,
	},
	"v4-unturned": {
		dim:         128,
		rope:        64,
		norm:        "rmsnorm",
		interleaved: true,
		pages:       "fp8",
		scale:       "ue8m0",
		base:        160000,
		factor:      16,
		trained:     65536,
	},
	"v4-bf16": {
		dim:         128,
		rope:        64,
		norm:        "none",
		interleaved: true,
		hadamard:    true,
		pages:       "bf16",
		base:        160000,
		factor:      16,
		trained:     65536,
	},
	"nano": {
		dim:         32,
		rope:        8,
		norm:        "rmsnorm",
		interleaved: true,
		hadamard:    true,
		pages:       "fp4",
		scale:       "ue8m0",
		base:        10000,
	},
	"mid":         {dim: 64, rope: 32, norm: "none", leading: true, pages: "fp8", scale: "fp32", base: 10000},
	"plain-fp8":   {dim: 128, norm: "none", pages: "fp8", scale: "ue8m0"},
	"plain-fp32":  {dim: 64, norm: "none", pages: "fp8", scale: "fp32"},
	"plain-fp4":   {dim: 128, norm: "none", pages: "fp4", scale: "ue8m0"},
	"plain-fp4-n": {dim: 32, norm: "none", pages: "fp4", scale: "ue8m0"},
	"plain-bf16":  {dim: 32, norm: "none", pages: "bf16"},
	oneChannel:    {dim: 1, norm: "none", pages: "bf16"},
}

var wayNames = []string{
	"v32", "v32-linear", "v4", "v4-unturned", "v4-bf16", "nano", "mid", "plain-fp8", "plain-fp32", "plain-fp4",
	"plain-fp4-n", "plain-bf16",
	oneChannel,
}

// oneChannel has the smallest pages that there are, for caches of many. No row runs it with the others.
const oneChannel = "one-bf16"

// storing is a shape: tokens of a model's keys, the first at a position, into pages.
func storing(way string, tokens, page, first, ratio int) bench.Shape {
	at := 0
	for i, name := range wayNames {
		if name == way {
			at = i
		}
	}
	return bench.S(slug("%s-t%d-page%d-p%d-r%d", way, tokens, page, first, ratio), map[string]int{
		"way": at, "tokens": tokens, "page": page, "first": first, "ratio": ratio,
	})
}

func wayOf(s bench.Shape) key { return keyWays[wayNames[s.Dim("way")]] }

// table is the rotary table in fp32.
func (k key) table() []float64 {
	r := oracle.Rope{Base: k.base, Dims: k.rope}
	f := r.Frequencies()
	if k.factor > 0 {
		f = oracle.YaRN{Rope: r, Factor: k.factor, Original: int(k.trained), BetaFast: 32, BetaSlow: 1}.Frequencies()
	}
	for i, v := range f {
		f[i] = float64(float32(v))
	}
	return f
}

// drawStore draws raw keys with a mean off 0 and puts them into shuffled slots; every fifth token is not stored.
func drawStore(g bench.Gen) (bench.Problem, error) {
	k, t, page := wayOf(g.Shape), g.Shape.Dim("tokens"), g.Shape.Dim("page")
	layout, err := pageLayout(k.pages, page, k.dim)
	if err != nil {
		return bench.Problem{}, err
	}
	x := g.Normal(t*k.dim, 1.3)
	for i := range x {
		x[i] += 0.6
	}
	pages := (t+page-1)/page + 2
	order := g.Perm(pages * page)
	if first := g.Shape.Dim("slot"); first > 0 {
		for i := range order {
			order[i] += first
		}
		pages += first / page
	}
	slots, positions := make([]int, t), make([]int, t)
	for i := range slots {
		if slots[i], positions[i] = order[i], g.Shape.Dim("first")+i*g.Shape.Dim("ratio"); i%5 == 3 {
			slots[i] = -1
		}
	}
	dtype := bench.BF16
	if g.Contract.Name == "fp32" {
		dtype = bench.F32
	}
	p := bench.Problem{
		Attrs: bench.Attrs{
			"norm": k.norm, "norm_eps": 1e-6, "rope_leading": k.leading, "rope_interleaved": k.interleaved,
			"hadamard":  k.hadamard,
			"page_size": float64(page), "page_format": k.pages, "scale_format": k.scale,
		},
		Operands: map[string]bench.Operand{
			"x": bench.Floats(dtype, x, t, k.dim), "positions": bench.Ints(positions, t), "slot_mapping": bench.Ints(slots, t),
		},
		Outputs: map[string]bench.Output{"pages": {DType: bench.U8, Shape: []int{pages, layout.Size}, Prefill: "0xa5"}},
	}
	if k.rope > 0 {
		p.Operands["inv_freq"] = bench.Floats(bench.F32, k.table(), k.rope/2)
	}
	if k.norm != "none" {
		w := g.Normal(k.dim, 0.3)
		for i := range w {
			w[i] += 1.2
		}
		p.Operands["norm_weight"] = bench.Floats(bench.F32, w, k.dim)
	}
	if k.norm == "layernorm" {
		p.Operands["norm_bias"] = bench.Floats(bench.F32, g.Normal(k.dim, 0.4), k.dim)
	}
	sealStore(&p)
	return p, nil
}

// sealStore marks rows that are not stored.
func sealStore(p *bench.Problem) {
	slots, dim := p.In("slot_mapping").Ints(), p.In("x").Dim(1)
	p.Unread = map[string]func(int) bool{"x": func(i int) bool { return slots[i/dim] < 0 }}
}

// rounder is the contract's intermediate: a rounding to bf16 after each step, or none.
func rounder(contract string) func(t []numerics.Tracked) {
	return func(t []numerics.Tracked) {
		for i, v := range t {
			if contract == "bf16-steps" {
				t[i].E += numerics.HalfULP(format.BF16, v.X, v.E)
			}
		}
	}
}

// tracked are the exact key of a row, before quantisation, and how far the contract lets it lie from that.
func tracked(contract string, p bench.Problem, row []float64, position int) []numerics.Tracked {
	a, round := numerics.FP32(), rounder(contract)
	y := numerics.ExactSlice(row)
	eps := p.Attrs.Num("norm_eps")
	switch p.Attrs.Word("norm") {
	case "layernorm":
		y = layerNorm(a, y, p.In("norm_weight").Data, p.In("norm_bias").Data, eps)
		round(y)
	case "rmsnorm":
		y = a.RMSNorm(y, numerics.ExactSlice(p.In("norm_weight").Data), eps)
		round(y)
	}
	if f := p.In("inv_freq").Data; len(f) > 0 {
		for i := range f {
			m, n := pairOf(p, len(row), len(f), i)
			angle := numerics.Angle{Theta: float64(float32(position) * float32(f[i]))}
			y[m], y[n] = a.Rotate(y[m], y[n], angle, 0, false)
		}
		round(y)
	}
	if p.Attrs.Flag("hadamard") {
		y = transformed(y)
		round(y)
	}
	return y
}

// pairOf are the channels of pair i.
func pairOf(p bench.Problem, dim, pairs, i int) (m, n int) {
	first := dim - 2*pairs
	if p.Attrs.Flag("rope_leading") {
		first = 0
	}
	if p.Attrs.Flag("rope_interleaved") {
		return first + 2*i, first + 2*i + 1
	}
	return first + i, first + pairs + i
}

// layerNorm in two passes: mean, then the variance of the centred row.
func layerNorm(a numerics.Arith, x []numerics.Tracked, w, b []float64, eps float64) []numerics.Tracked {
	n := numerics.Exact(float64(len(x)))
	mean := a.Div(a.Sum(x), n)
	c := make([]numerics.Tracked, len(x))
	for i, v := range x {
		c[i] = a.Sub(v, mean)
	}
	r := a.RSqrt(a.Add(a.Div(a.SumSquares(c), n), numerics.Exact(eps)))
	for i, v := range c {
		c[i] = a.Add(a.Mul(a.Mul(v, r), numerics.Exact(w[i])), numerics.Exact(b[i]))
	}
	return c
}

// transformed is the Hadamard transform: D terms of either sign in any order, and a factor of D^-1/2 that is itself
// rounded.
func transformed(y []numerics.Tracked) []numerics.Tracked {
	m := oracle.NewMat(1, len(y))
	var sumAbs, sumErr float64
	for i, v := range y {
		m.Data[i] = v.X
		sumAbs += math.Abs(v.X) + v.E
		sumErr += v.E
	}
	out := make([]numerics.Tracked, len(y))
	h, err := oracle.Hadamard(m, len(y))
	if err != nil {
		return out
	}
	norm := 1 / math.Sqrt(float64(len(y)))
	e := norm * (sumErr + numerics.Gamma(len(y)+3, u32)*sumAbs)
	for i, v := range h.Data {
		out[i] = numerics.Tracked{X: v, E: e}
	}
	return out
}
