package gemm

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
)

// Formats of scales in shapes.
const (
	fmtFP32, fmtUE8M0, fmtOCP = 0, 1, 2
)

// quant makes a shape of quantise_fp8.
func quant(m, k, group, form int, more ...any) bench.Shape {
	name := slug("m%d-k%d-g%d-%s", m, k, group, []string{"fp32", "ue8m0", "ocp"}[form])
	return dims(name, m, 0, k, append([]any{"group", group, "fmt", form}, more...)...)
}

func everyFormat(m, k, group int) []bench.Shape {
	return []bench.Shape{quant(m, k, group, fmtFP32), quant(m, k, group, fmtUE8M0), quant(m, k, group, fmtOCP)}
}

var quantiseFP8 = bench.Family{
	Op: opQuantFP8, Slug: "quantise-fp8",
	Claim: "codes and scales MUST be those of the recipe bit for bit", Doc: docQuantFP8,
	Contracts: []numerics.Contract{quantiseExact, quantiseTwo, quantiseLog2},
	Draw:      drawQuantFP8, Expect: expectQuantFP8,
	Twins: []bench.Twin{bench.Dense(), boundaryTwin, floorTwin, gridTwin},
	Scenarios: bench.UnderAllBut([]string{"exact"}, []bench.Scenario{
		{
			ID:  "gaussian",
			Why: "every rule for the scale, groups of 128, 64 and 32, a last group that is short, and no row",
			Shapes: append(append(everyFormat(5, 300, 128), everyFormat(3, 96, 32)...), quant(4, 192, 64, fmtUE8M0),
				quant(0, 128, 128, fmtUE8M0), quant(6, 256, 128, fmtUE8M0, "bf16", 1)),
		},
		{
			ID:      "boundary",
			Why:     "maxima next to 448·2^n, on both sides: a logarithm in fp32 does not tell them from the power itself",
			Catches: []string{"Q13 sgl-project/sglang#29956"},
			Shapes:  append(everyFormat(24, 128, 128), quant(30, 64, 32, fmtUE8M0)),
			Change:  boundaries,
		},
		{
			ID: "wide-boundary",
			Why: "maxima from 2^-9 to 2^-20 beside 448·2^n, on both sides: one that was rounded to bf16, fp16 or TF32 falls " +
				"on the power itself",
			Catches: []string{"Q13 pytorch/ao#4725"},
			Shapes:  append(everyFormat(24, 128, 128), quant(48, 32, 32, fmtUE8M0)),
			Change:  wideBoundaries,
		},
		{
			ID:     "powers",
			Why:    "maxima from 2^-30 to 2^30 times 448 and a neighbour of each",
			Shapes: []bench.Shape{quant(122, 32, 32, fmtUE8M0), quant(61, 64, 64, fmtUE8M0)},
			Change: powersOfMaxima,
		},
		{
			ID:     "ties",
			Why:    "quotients in the middle of two codes, of both parities and signs, in the normal and the subnormal range",
			Shapes: everyFormat(8, 128, 128),
			Change: ties,
		},
		{
			ID: "near-ties",
			Why: "elements whose quotient by a scale that is no power of two rounds to the middle of two codes: a product " +
				"with a reciprocal falls to the other side",
			Shapes: []bench.Shape{quant(6, 128, 128, fmtFP32), quant(5, 64, 32, fmtFP32)},
			Change: nearTies,
		},
		{
			ID:     "floor",
			Why:    "blocks of zeros, -0 among them, and blocks below the floor of the maximum",
			Shapes: append(everyFormat(6, 128, 64), quant(4, 128, 128, fmtFP32, "bf16", 1)),
			Change: tinyBlocks,
		},
		{
			ID:      "tensor",
			Why:     "one scale for the whole, from a view into a wider workspace: the columns beside it hold other values",
			Catches: []string{"Q21 kekzl/imp#91"},
			Shapes:  []bench.Shape{quant(5, 96, 0, fmtFP32), quant(3, 64, 0, fmtUE8M0)},
			Layout:  map[string]bench.Layout{"x": {Lead: 7, Gap: 64, Tail: 200}},
		},
		{
			ID:     "tensor-rows",
			Why:    "a calibration over rows of two widths in one buffer",
			Shapes: []bench.Shape{quant(9, 40, 0, fmtFP32), quant(1, 130, 0, fmtFP32)},
			Layout: map[string]bench.Layout{"x": {Gap: 24, Tail: 64}},
		},
		{
			ID:     "padded",
			Why:    "rows sliced out of a wider buffer",
			Shapes: []bench.Shape{quant(5, 200, 128, fmtUE8M0), quant(5, 96, 32, fmtOCP)},
			Layout: map[string]bench.Layout{"x": {Lead: 3, Gap: 56, Tail: 300}},
			Relate: contiguous,
		},
		{
			ID:     "rows-apart",
			Why:    "a row is quantised the same beside others",
			Shapes: []bench.Shape{quant(7, 200, 128, fmtUE8M0), quant(6, 96, 32, fmtOCP), quant(5, 130, 128, fmtFP32)},
			Relate: rowsApart,
		},
		{
			ID:     "floor-of-engines",
			Why:    "a floor of 1e-10, as SGLang and vLLM have it, under blocks of zeros and of 1e-6",
			Shapes: []bench.Shape{quant(6, 128, 64, fmtFP32), quant(6, 128, 64, fmtUE8M0)},
			Change: bench.All(bench.Set(bench.Attrs{"amax_floor": float64(float32(1e-10))}), tinyBlocks),
		},
		{
			ID:     "no-floor",
			Why:    "no floor: blocks of 1e-7 have a scale of their own",
			Shapes: []bench.Shape{quant(6, 128, 64, fmtFP32), quant(6, 128, 64, fmtUE8M0)},
			Change: bench.All(bench.Set(bench.Attrs{"amax_floor": 0.0}), bench.Times(1e-7, "x")),
		},
		{ID: "production", Why: "activations of a step", Full: true, Shapes: everyFormat(64, 7168, 128)},
	}, "gaussian", "boundary", "wide-boundary", "ties", "near-ties", "floor"),
}

var quantiseNV = bench.Family{
	Op: opQuantNV, Slug: "quantise-nvfp4",
	Claim: "codes and scales MUST be those of the recipe bit for bit, the scales in tiles whose padding is 0",
	Doc:   docQuantNV, Contracts: []numerics.Contract{quantiseExact},
	Draw: drawQuantNV, Expect: expectQuantNV,
	Twins: []bench.Twin{bench.Dense(), nibbleSameTwin, sameBlockTwin, gridTwin},
	Scenarios: []bench.Scenario{
		{ID: "rows", Why: "one row, and the edges of tiles of 128 x 4", Shapes: sweep(0, 80, nil, 1, 33, 127, 128, 129)},
		{
			ID:     "columns",
			Why:    "K/16 that 4 divides, and that it does not",
			Shapes: append(sweep(0, 16, nil, 3), append(sweep(0, 64, nil, 3), sweep(0, 272, []any{"bf16", 1}, 4)...)...),
		},
		{
			ID:     "ties",
			Why:    "quotients in the middle of two codes, of both parities and signs",
			Shapes: sweep(0, 64, nil, 8),
			Change: nvTies,
		},
		{
			ID: "near-ties",
			Why: "elements whose quotient rounds to the middle of two codes: a product with a reciprocal falls to the " +
				"other side",
			Shapes: sweep(0, 128, nil, 6, 40),
			Change: nearTies,
		},
		{
			ID:     "small",
			Why:    "blocks of zeros, and blocks whose scale is next to 2^-9",
			Shapes: sweep(0, 64, nil, 6),
			Change: tinyBlocks,
		},
		{
			ID:     "large",
			Why:    "blocks above the maximum that the global scale was made for: scale and codes saturate",
			Shapes: sweep(0, 64, nil, 6),
			Change: func(_ bench.Gen, p *bench.Problem) error {
				p.Attrs["global_amax"] = 3.25
				return nil
			},
		},
		{
			ID:     "padded",
			Why:    "rows sliced out of a wider buffer",
			Shapes: sweep(0, 48, nil, 5),
			Layout: map[string]bench.Layout{"x": {Lead: 3, Gap: 16, Tail: 100}},
			Relate: contiguous,
		},
		{ID: "production", Why: "activations of a step", Full: true, Shapes: sweep(0, 4096, nil, 130)},
	},
}

// setMaximum makes v the largest magnitude of a block, at its element at.
func setMaximum(values []float64, lo, hi, at int, v float64) {
	top := 0.0
	for i := lo; i < hi; i++ {
		top = math.Max(top, math.Abs(values[i]))
	}
	for i := lo; i < hi; i++ {
		values[i] = float64(float32(values[i] / top * v * 0.75))
	}
	values[lo+at%(hi-lo)] = v
}

// eachBlock calls f for every block of the group size; 16 where there is none.
func eachBlock(p *bench.Problem, f func(n int, values []float64, lo, hi int)) {
	x := p.Operands["x"]
	k, n := x.Shape[1], 0
	group := p.Attrs.Int("group_size")
	if _, nv := p.Attrs["global_amax"]; nv {
		group = 16
	}
	if group == 0 {
		if len(x.Values) > 0 {
			f(0, x.Values, 0, len(x.Values))
		}
		bench.RoundAll(x.DType, x.Values)
		return
	}
	for r := range x.Shape[0] {
		for lo := 0; lo < k; lo += group {
			f(n, x.Values, r*k+lo, r*k+min(lo+group, k))
			n++
		}
	}
	bench.RoundAll(x.DType, x.Values)
}

func boundaries(_ bench.Gen, p *bench.Problem) error {
	eachBlock(p, func(n int, v []float64, lo, hi int) {
		m := float32(math.Ldexp(448, n/3-9))
		switch n % 3 {
		case 0:
			m = math.Nextafter32(m, math.MaxFloat32)
		case 1:
			m = math.Nextafter32(m, 0)
		}
		setMaximum(v, lo, hi, n, float64(m))
	})
	return nil
}

func wideBoundaries(_ bench.Gen, p *bench.Problem) error {
	eachBlock(p, func(n int, v []float64, lo, hi int) {
		off := math.Ldexp(float64(1-2*(n%2)), -9-n/2%12)
		setMaximum(v, lo, hi, n, float64(float32(math.Ldexp(448, n%7-3)*(1+off))))
	})
	return nil
}

func powersOfMaxima(_ bench.Gen, p *bench.Problem) error {
	eachBlock(p, func(n int, v []float64, lo, hi int) {
		m := float32(math.Ldexp(448, n/2-30))
		if n%2 == 1 {
			m = math.Nextafter32(m, math.MaxFloat32)
		}
		setMaximum(v, lo, hi, 3*n, float64(m))
	})
	return nil
}

// ties fills blocks with multiples of half a step of their code, under a maximum that gives a scale of a power of two.
func ties(g bench.Gen, p *bench.Problem) error {
	eachBlock(p, func(n int, v []float64, lo, hi int) {
		for i := lo; i < hi; i++ {
			e := g.IntN(14) - 9
			v[i] = math.Ldexp(float64(17+2*g.IntN(8)), e) * float64(1-2*g.IntN(2)) // 5 bits, the last one set
			if i%4 == 0 {
				v[i] = math.Ldexp(float64(1+2*g.IntN(7)), -10) // in the middle of two subnormals
			}
		}
		v[lo+n%(hi-lo)] = 448
	})
	return nil
}

// nearTies fills blocks with fp32 numbers next to a midpoint times the block's divisor.
func nearTies(g bench.Gen, p *bench.Problem) error {
	_, nv := p.Attrs["global_amax"]
	tensor := float32(p.Attrs.Num("global_amax")) / 2688
	eachBlock(p, func(n int, v []float64, lo, hi int) {
		top := float32(1 + g.Float64())
		by := top / 448
		if nv {
			by = float32(valueE4M3(int(toE4M3(top/(6*tensor))))) * tensor
		}
		for i := lo; i < hi; i++ {
			mid := float32(17+2*g.IntN(8)) * float32(math.Ldexp(1, g.IntN(5)-2))
			if nv {
				mid = []float32{.25, .75, 1.25, 1.75, 2.5, 3.5}[g.IntN(6)]
			}
			v[i] = float64(mid*by) * float64(1-2*g.IntN(2))
		}
		v[lo+n%(hi-lo)] = float64(top)
	})
	return nil
}

// nvTies makes block scales of exactly 1/t and elements on midpoints.
func nvTies(g bench.Gen, p *bench.Problem) error {
	p.Attrs["global_amax"] = 2688.0
	mids := []float64{0, .25, .5, .75, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 5, 6}
	eachBlock(p, func(n int, v []float64, lo, hi int) {
		by := math.Ldexp(1, n%6)
		for i := lo; i < hi; i++ {
			v[i] = by * mids[g.IntN(len(mids))] * float64(1-2*g.IntN(2))
		}
		v[lo+n%16] = 6 * by
	})
	return nil
}

// tinyBlocks has blocks of zeros, of values below every floor, and ordinary ones.
func tinyBlocks(_ bench.Gen, p *bench.Problem) error {
	eachBlock(p, func(n int, v []float64, lo, hi int) {
		for i := lo; i < hi; i++ {
			switch n % 4 {
			case 0:
				v[i] = math.Copysign(0, v[i])
			case 1:
				v[i] *= 1e-6
			case 2:
				v[i] *= 2e-3
			}
		}
	})
	return nil
}
