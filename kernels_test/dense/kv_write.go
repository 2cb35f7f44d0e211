package dense

import (
	"fmt"
	"maps"
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
)

// narrow are the contracts of rows that need no third one.
var narrow = []string{"bf16", "fp8-kv"}

var kvWrite = bench.Family{
	Op: "kv_write", Slug: "kv-write",
	Claim: "each token MUST be stored in its own slot of its layer's pool, rounded once to the cache's dtype, and " +
		"every other slot MUST be left unchanged",
	Doc: kvWriteDoc,
	Contracts: []numerics.Contract{
		{Name: "fp32"},
		{Name: "bf16", Out: format.BF16},
		{Name: "fp8-kv", Out: format.E4M3FN, Saturation: format.Saturate},
	},
	Draw: drawKVWrite, Expect: expectKVWrite,
	Twins: []bench.Twin{
		bench.Dense(),
		{Class: "scale", Name: "k_scale and v_scale of 1", Apply: func(_ bench.Gen, p *bench.Problem) bool {
			was := p.Attrs.Num("k_scale") != 1 || p.Attrs.Num("v_scale") != 1
			p.Attrs["k_scale"], p.Attrs["v_scale"] = 1.0, 1.0
			return was
		}},
		{Class: "paging", Name: "pools that count alike", Apply: func(_ bench.Gen, p *bench.Problem) bool {
			_, has := p.Operands["full_to_swa"]
			if has {
				p.Change("full_to_swa", func(i int, _ float64) float64 { return float64(i % slots(*p)) })
				p.Change("slot_mapping", func(i int, _ float64) float64 { return float64(i % slots(*p)) })
				sealWrite(p)
			}
			return has
		}},
		{Class: "paging", Name: "slots in order", Apply: func(_ bench.Gen, p *bench.Problem) bool {
			if _, swa := p.Operands["full_to_swa"]; swa {
				return false
			}
			p.Change("slot_mapping", func(i int, _ float64) float64 { return float64(i) })
			sealWrite(p)
			return true
		}},
		{Class: "encoding", Name: "values within the format", Apply: func(_ bench.Gen, p *bench.Problem) bool {
			for name, scale := range map[string]string{"k": "k_scale", "v": "v_scale"} {
				p.Change(name, func(_ int, v float64) float64 {
					most := 256 * p.Attrs.Num(scale)
					return max(-most, min(most, v))
				})
			}
			return true
		}},
	},
	Scenarios: []bench.Scenario{
		{
			ID:     "tokens",
			Why:    "no token, one, a tile and one more, over shuffled slots with gaps, two padding tokens among them",
			Shapes: writeShapes("odd", 0, 4, 0, 1, 31, 33),
		},
		{ID: "nano", Why: "the nano model's heads", Contracts: narrow, Shapes: writeShapes("nano", 0, 16, 20)},
		{
			ID:        "page-size",
			Why:       "pages of one token, of sizes that no tile divides",
			Contracts: narrow,
			Shapes:    append(writeShapes("odd", 0, 1, 9), writeShapes("odd", 0, 53, 54)...),
		},
		{
			ID:        "window-pool",
			Why:       "a sliding-window layer whose pool is smaller and has its own slot numbers; some tokens have left it",
			Catches:   []string{"G10 sgl-project/sglang#19107"},
			Contracts: narrow,
			Shapes:    writeShapes("odd", 160, 4, 12, 30),
		},
		{
			ID:        "window-pool-one-token",
			Why:       "one token, two pools",
			Catches:   []string{"G10 sgl-project/sglang#19107"},
			Contracts: narrow,
			Shapes:    writeShapes("mha", 64, 8, 1),
		},
		{
			ID:        "grid",
			Why:       "values on and between the steps of e4m3, ties, what is beyond 448, zeros of both signs",
			Contracts: narrow,
			Shapes:    writeShapes("odd", 0, 4, 5, 17),
			Change: bench.All(bench.Set(bench.Attrs{"k_scale": 0.5, "v_scale": 0.25}), func(_ bench.Gen,
				p *bench.Problem,
			) error {
				for _, name := range []string{"k", "v"} {
					p.Change(name, func(i int, _ float64) float64 {
						ladder := []float64{
							0, math.Copysign(0, -1), 1, 1.0625, 1.1875, 1.125, -2.125, 240, -230, 448, 1000, -3e4, 0.001953125, 0.0009765625,
							-0.0029296875, 17, 19,
						}
						return ladder[i%len(ladder)] * 0.5
					})
				}
				return nil
			}),
		},
		{
			ID: "between-codes",
			Why: "quotients within a rounding of the middle between two codes, where a division and a product with the " +
				"reciprocal choose differently: both are right, codes beside them are not",
			Contracts: []string{"fp8-kv"},
			Shapes:    writeShapes("odd", 0, 4, 9, 14),
			Change:    betweenCodes,
		},
		{
			ID:        "scales",
			Why:       "scales above 1, no powers of two, unlike each other",
			Shapes:    writeShapes("odd", 0, 4, 12),
			Contracts: []string{"bf16", "fp8-kv"},
			Change:    bench.Set(bench.Attrs{"k_scale": 3.7, "v_scale": 1.9}),
		},
		{
			ID:        "tiny",
			Why:       "values below the smallest code",
			Contracts: narrow,
			Shapes:    writeShapes("odd", 0, 4, 12),
			Change:    bench.Times(1e-4, "k", "v"),
		},
		{
			ID:        "outliers",
			Why:       "values far beyond the range that the scale allows: saturated, not infinite, not 0",
			Contracts: narrow,
			Shapes:    writeShapes("odd", 0, 4, 6, 18),
			Change: bench.Each(func(i int, v float64) float64 {
				if i%5 == 2 {
					return v * 4000
				}
				return v
			}, "k", "v"),
		},
		{
			ID:        "strided-k",
			Why:       "keys are sliced out of a fused projection",
			Contracts: narrow,
			Shapes:    writeShapes("odd", 0, 4, 12),
			Layout:    map[string]bench.Layout{"k": {Lead: 3, Gap: 96, Inner: 8, Tail: 5}},
		},
		{
			ID:        "strided-v",
			Why:       "values are sliced out of a fused projection",
			Contracts: narrow,
			Shapes:    writeShapes("odd", 0, 4, 12),
			Layout:    map[string]bench.Layout{"v": {Lead: 7, Gap: 64, Inner: 16, Tail: 5}},
		},
		{
			ID:        "strided-slots",
			Why:       "slots and pool map are slices",
			Shapes:    writeShapes("odd", 160, 4, 12),
			Layout:    map[string]bench.Layout{"slot_mapping": {Lead: 2, Tail: 5}, "full_to_swa": {Lead: 9, Tail: 4}},
			Contracts: []string{"fp8-kv"},
		},
		{
			ID:        "chunked-is-one-shot",
			Why:       "two consecutive writes leave the same cache as one",
			Contracts: narrow,
			Shapes:    writeShapes("odd", 0, 4, 21),
			Relate:    writtenInTwo,
		},
		longWrites(),
		longSlots(),
	},
}

func writeShapes(model string, pool, page int, tokens ...int) []bench.Shape {
	var out []bench.Shape
	for _, t := range tokens {
		dims := map[string]int{"tokens": t, "page": page, "pool": pool, "pages": (t+page-1)/page + 3}
		maps.Copy(dims, models[model])
		out = append(out, bench.S(slug("%s-page%d-t%d", model, page, t), dims))
	}
	return out
}

// slots of a problem's cache.
func slots(p bench.Problem) int {
	shape := p.Outputs["k_cache"].Shape
	return shape[0] * shape[1]
}

func drawKVWrite(g bench.Gen) (bench.Problem, error) {
	t, page, pages, pool := g.Shape.Dim("tokens"), g.Shape.Dim("page"), g.Shape.Dim("pages"), g.Shape.Dim("pool")
	kv, d, dv := g.Shape.Dim("kv-heads"), g.Shape.Dim("dim"), g.Shape.Dim("values")
	n := pages * page
	space := max(n, pool)
	slot := g.Perm(space)[:t]
	for i := range slot {
		if i%13 == 5 {
			slot[i] = -1
		}
	}
	in, cache := dtype(g.Contract.Name), cacheDType(g.Contract.Name)
	prefill := map[string]string{bench.F32: "0x3f1d70a4", bench.BF16: "0x3f1d", bench.E4M3: "0x2b"}[cache]
	p := bench.Problem{
		Attrs: bench.Attrs{"page_size": float64(page), "k_scale": 0.043, "v_scale": 0.019},
		Operands: map[string]bench.Operand{
			"k": bench.Floats(in, g.Normal(t*kv*d, 1), t, kv, d), "v": bench.Floats(in, g.Normal(t*kv*dv, 1), t, kv, dv),
			"slot_mapping": bench.Ints(slot, t),
		},
		Outputs: map[string]bench.Output{
			"k_cache": {DType: cache, Shape: []int{pages, page, kv, d}, Prefill: prefill}, "v_cache": {
				DType:   cache,
				Shape:   []int{pages, page, kv, dv},
				Prefill: prefill,
			},
		},
	}
	if pool > 0 {
		p.Operands["full_to_swa"] = bench.Ints(windowPool(g, slot, pool, n), pool)
	}
	sealWrite(&p)
	return p, nil
}

// windowPool maps the slots of the full pool to those of the window's: tokens to slots of their own, but for some that
// have left the window, the rest anywhere.
func windowPool(g bench.Gen, slot []int, pool, n int) []int {
	to := make([]int, pool)
	for i := range to {
		to[i] = g.IntN(n)
	}
	own := g.Perm(n)
	for i, s := range slot {
		switch {
		case s < 0:
		case i%7 == 3:
			to[s] = -1
		default:
			to[s] = own[i]
		}
	}
	return to
}

// target is the slot of the cache that a token goes to, -1 for none.
func target(p bench.Problem, t int) int {
	s := int(p.Operands["slot_mapping"].Values[t])
	if to, ok := p.Operands["full_to_swa"]; ok && s >= 0 {
		return int(to.Values[s])
	}
	return s
}

// sealWrite marks tokens that are not stored because they are padding, and slots of the pool that no token names.
func sealWrite(p *bench.Problem) {
	p.Unread = map[string]func(int) bool{}
	slot := p.In("slot_mapping").Ints()
	named := map[int]bool{}
	padding := false
	for _, s := range slot {
		named[s] = true
		padding = padding || s < 0
	}
	for _, name := range []string{"k", "v"} {
		if o := p.Operands[name]; padding {
			n := perRow(o)
			p.Unread[name] = func(i int) bool { return slot[i/n] < 0 }
		}
	}
	if _, ok := p.Operands["full_to_swa"]; ok {
		p.Unread["full_to_swa"] = func(i int) bool { return !named[i] }
	}
}

// betweenCodes gives keys and values scales under which every second element's quotient rounds to one code, and its
// product with the reciprocal to the next.
func betweenCodes(_ bench.Gen, p *bench.Problem) error {
	found := undecided()
	if len(found) < 2 {
		return fmt.Errorf("of the scales that were tried %d tell a division from a product with the reciprocal, want 2",
			len(found))
	}
	for i, name := range []string{"k", "v"} {
		u := found[i*(len(found)-1)]
		p.Attrs[name+"_scale"] = float64(u.scale)
		p.Change(name, func(i int, v float64) float64 {
			if i%2 == 0 {
				return math.Copysign(math.Ldexp(u.x, i/2%6-3), v)
			}
			return v * float64(u.scale) * 40
		})
	}
	return nil
}

// apart is a value and a scale whose quotient and product have different codes.
type apart struct {
	x     float64
	scale float32
}

// undecided tries bf16 values over the middles between codes of one binade.
func undecided() []apart {
	var out []apart
	for mantissa := range 128 {
		x := 1 + float64(mantissa)/128
		for middle := 17; middle < 32; middle += 2 {
			s := float32(x / float64(middle))
			if toE4M3(float64(float32(x)/s)) != toE4M3(float64(float32(x)*(1/s))) {
				out = append(out, apart{x, s})
			}
		}
	}
	return out
}

// slackOf is how far a quotient of fp32 may be from y: a division, a reciprocal and their operands' roundings. A power
// of two leaves no room for any.
func slackOf(y, scale float64) float64 {
	if mantissa, _ := math.Frexp(scale); mantissa == 0.5 {
		return 0
	}
	return 4 * numerics.UFP32 * math.Abs(y)
}

// expectKVWrite: a code is exact unless the quotient, good to a few roundings in fp32, lies next to the middle between
// two.
func expectKVWrite(c bench.Case, p bench.Problem) ([]bench.Expected, error) {
	var out []bench.Expected
	for _, half := range []struct{ in, out, scale string }{{"k", "k_cache", "k_scale"}, {"v", "v_cache", "v_scale"}} {
		x, o := p.In(half.in), p.Outputs[half.out]
		width := o.Shape[2] * o.Shape[3]
		n := o.Shape[0] * o.Shape[1] * width
		e := bench.Expected{
			Name: half.out, Shape: o.Shape, Axes: []string{"page", "token", "head", "channel"}, Want: make([]float64, n),
			Bound: make([]float64, n), Touched: true,
			Derivation: "the nearest code; both neighbours where the quotient lies between them within fp32",
		}
		pre := p.Args().Prefill(half.out)
		for i := range e.Want {
			e.Want[i] = pre
		}
		for t := range x.Dim(0) {
			at := target(p, t)
			if at < 0 {
				continue
			}
			for i, v := range x.Row(t) {
				if c.Contract.Name != "fp8-kv" {
					e.Want[at*width+i] = v
					continue
				}
				y := v / p.Attrs.Num(half.scale)
				slack := slackOf(y, p.Attrs.Num(half.scale))
				low, high := toE4M3(y-slack), toE4M3(y+slack)
				e.Want[at*width+i], e.Bound[at*width+i] = toE4M3(y), high-low
			}
		}
		out = append(out, e)
	}
	return out, nil
}

func toE4M3(v float64) float64 { return format.E4M3FN.RoundTo(v, format.RN, format.Saturate) }
