package indexer

import (
	"fmt"
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
)

func slug(layout string, args ...any) string { return fmt.Sprintf(layout, args...) }

// models are sizes of the indexer: nano-v4's, one between, that of V3.2 and V4-Flash, and twice its heads.
var models = map[string][2]int{
	"one": {1, 1}, "long": {2, 4}, "pages": {2, 32}, "nano": {4, 32}, "mid": {8, 64}, "flash": {64, 128},
	"heads": {128, 32},
}

// formats of pages by the bits of a key's channel.
var formats = map[int]string{8: "fp8", 16: "bf16", 4: "fp4"}

// pageLayout is a page format as data; scale is fp32 or ue8m0 for fp8 pages.
func pageLayout(name string, page, dim int) (format.Layout, error) {
	switch name {
	case "fp8":
		return format.PageIndexFP8(page, dim)
	case "bf16":
		return oracle.PageIndexBF16(page, dim)
	case "fp4":
		return format.PageIndexFP4(page, dim)
	}
	return format.Layout{}, fmt.Errorf("no page format is called %q; fp8, bf16 and fp4 are", name)
}

// recipe is how the store quantises into a page format.
func recipe(pages, scale string, dim int) (format.Recipe, error) {
	name := "v32-fp8"
	switch {
	case pages == "bf16":
		return format.Recipe{}, nil
	case pages == "fp4":
		name = "tilekernels-fp4"
	case scale == "ue8m0":
		name = "v32-fp8-ue8m0"
	}
	r, err := format.RecipeByName(name)
	if pages == "fp8" {
		r.Block.BlockCols = dim
	}
	return r, err
}

// direction is what queries and keys have in common, so that most dot products are positive: +-1 by channel.
func direction(d int) float64 {
	if (d*d/3+d)%2 == 0 {
		return 1
	}
	return -1
}

// vectors draws n rows with a common part; every row has a size of its own.
func vectors(g bench.Gen, n, dim int, sd float64) []float64 {
	out := g.Normal(n*dim, sd)
	size := 1.0
	for i := range out {
		if i%dim == 0 {
			size = math.Exp(0.4 * g.NormFloat64())
		}
		out[i] = size * (out[i] + 0.5*sd*direction(i%dim))
	}
	return out
}

// drawWeights draws head weights, most of them positive.
func drawWeights(g bench.Gen, rows, heads, dim int) bench.Operand {
	w := g.Normal(rows*heads, 1)
	for i := range w {
		w[i] = (w[i] + 0.4) / math.Sqrt(float64(heads*dim))
	}
	if g.Contract.Name == "v4-reference" {
		bench.RoundAll(bench.BF16, w)
	}
	return bench.Floats(bench.F32, w, rows, heads)
}

// drawQueries draws queries in the dtype that goes with the keys'.
func drawQueries(g bench.Gen, bits, rows, heads, dim int, shape ...int) bench.Operand {
	if bits == 8 {
		return bench.Floats(bench.E4M3, vectors(g, rows*heads, dim, 6), shape...)
	}
	return bench.Floats(bench.BF16, vectors(g, rows*heads, dim, 1), shape...)
}

// out is the logits' output.
func out(g bench.Gen, rows, cols int) map[string]bench.Output {
	dtype := bench.F32
	if g.Contract.Name == "v4-reference" {
		dtype = bench.BF16
	}
	return map[string]bench.Output{"logits": bench.Out(dtype, rows, cols)}
}

// ragged is the shape of concatenated sequences: the position of the first new token of each and how many tokens come,
// compressed by ratio.
func ragged(model string, bits, ratio, tokens int, first ...int) bench.Shape {
	dims := map[string]int{
		"heads": models[model][0], "dim": models[model][1], "bits": bits, "ratio": ratio, "next": tokens, "req": len(first),
	}
	most := 0
	for b, p := range first {
		dims[slug("p%d", b)] = p
		most = max(most, p)
	}
	return bench.S(slug("%s-%s-r%d-b%d-t%d-p%d", model, formats[bits], ratio, len(first), tokens, most), dims)
}

// drawRagged draws concatenated sequences with some rows between them that are nobody's.
func drawRagged(g bench.Gen) (bench.Problem, error) {
	s := g.Shape
	heads, dim, bits, n := s.Dim("heads"), s.Dim("dim"), s.Dim("bits"), s.Dim("next")
	var start, end []int
	rows := 2
	for b := range s.Dim("req") {
		first := s.Dim(slug("p%d", b))
		for i := range n {
			start, end = append(start, rows), append(end, rows+oracle.Visible(first+i, s.Dim("ratio")))
		}
		rows += oracle.Visible(first+n-1, s.Dim("ratio")) + 1
	}
	rows++
	t := len(start)
	p := bench.Problem{
		Attrs: bench.Attrs{"clean_logits": true, "max_seqlen_k": 0.0},
		Operands: map[string]bench.Operand{
			"q": drawQueries(g, bits, t, heads, dim, t, heads, dim), "weights": drawWeights(g, t, heads, dim),
			"start": bench.Ints(start, t), "end": bench.Ints(end, t),
		},
		Outputs: out(g, t, rows),
	}
	k := vectors(g, rows, dim, 1)
	if bits == 16 {
		p.Operands["k"] = bench.Floats(bench.BF16, k, rows, dim)
	} else {
		codes, scales := quantiseRows(k, dim, bench.E4M3)
		p.Operands["k"], p.Operands["ks"] = bench.Floats(bench.E4M3, codes, rows, dim), bench.Floats(bench.F32, scales, rows)
	}
	sealRagged(&p)
	return p, nil
}

// quantiseRows gives every row the scale amax/448, in fp32.
func quantiseRows(v []float64, dim int, dtype string) (codes, scales []float64) {
	codes = make([]float64, len(v))
	for from := 0; from < len(v); from += dim {
		amax := 0.0
		for _, x := range v[from : from+dim] {
			amax = max(amax, math.Abs(x))
		}
		s := float64(float32(max(amax, 1e-4) / 448))
		scales = append(scales, s)
		for d := from; d < from+dim; d++ {
			codes[d] = bench.Round(dtype, v[d]/s)
		}
	}
	return codes, scales
}

// sealRagged marks the keys that no query sees.
func sealRagged(p *bench.Problem) {
	k := p.In("k")
	seen := make([]bool, k.Dim(0))
	start, end := p.In("start").Ints(), p.In("end").Ints()
	for t := range start {
		for s := start[t]; s < end[t]; s++ {
			seen[s] = true
		}
	}
	dim := k.Dim(1)
	p.Unread = map[string]func(int) bool{"k": func(i int) bool { return !seen[i/dim] }}
	if _, ok := p.Operands["ks"]; ok {
		p.Unread["ks"] = func(i int) bool { return !seen[i] }
	}
}
