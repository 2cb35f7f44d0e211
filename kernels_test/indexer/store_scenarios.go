package indexer

import (
	"fmt"
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

func ways(tokens, page, first, ratio int, names ...string) []bench.Shape {
	var out []bench.Shape
	for _, n := range names {
		out = append(out, storing(n, tokens, page, first, ratio))
	}
	return out
}

var plainWays = []string{"plain-fp8", "plain-fp32", "plain-fp4", "plain-fp4-n", "plain-bf16"}

func storeFamily() bench.Family {
	return bench.Family{
		Op: "index_key_store", Slug: "index-key-store",
		Claim: "a stored key MUST decode to within half a step of norm, rotation and transform of its row, with bytes " +
			"equal where one value is admissible, and no other slot MUST change",
		Doc: storeDoc, Contracts: storeContracts, Draw: drawStore, Expect: expectStore, Scenarios: storeScenarios(),
		Twins: storeTwins(),
	}
}

func storeScenarios() []bench.Scenario {
	all := wayNames[:len(wayNames)-1]
	rows := []bench.Scenario{
		{ID: "models", Why: "every model's way, at positions of a long prompt", Shapes: ways(7, 8, 4000, 4, all...)},
		{
			ID:     "start",
			Why:    "the first keys of a sequence, position 0 among them",
			Shapes: ways(3, 64, 0, 4, "v32", "v4", "nano", "mid"),
		},
		{
			ID:     "long",
			Why:    "positions near 2^20, where an angle in fp32 has lost its fraction",
			Shapes: ways(4, 4, 1<<20-40, 4, "v32", "v4", "v4-bf16"),
		},
		{
			ID:     "page-1",
			Why:    "a page a token",
			Shapes: ways(6, 1, 100, 1, "v32", "v4", "plain-fp8", "plain-fp4", "plain-bf16"),
		},
		{ID: "page-2", Why: "two tokens a page", Shapes: ways(5, 2, 100, 1, "v32-linear", "nano", "plain-fp32")},
		{ID: "none", Why: "no token to store", Shapes: ways(0, 4, 0, 4, "v32", "plain-fp4")},
		{
			ID:     "tiny",
			Why:    "keys below the floor of amax",
			Shapes: ways(5, 4, 9, 4, "mid", "plain-fp8", "plain-fp32", "plain-fp4"),
			Change: scaledRows(1e-9),
		},
		{
			ID:     "small",
			Why:    "keys whose eps is most of the sum",
			Shapes: ways(5, 4, 9, 4, "v32", "v32-linear", "v4", "nano"),
			Change: scaledRows(3e-4),
		},
		{
			ID:     "zero",
			Why:    "rows of zeros: nothing but a bias and the floor",
			Shapes: ways(5, 4, 9, 4, "v32", "v4", "mid", "plain-fp8", "plain-fp4"),
			Change: scaledRows(0),
		},
		{
			ID:     "constant",
			Why:    "rows without variance: LayerNorm leaves the bias",
			Shapes: ways(5, 4, 9, 4, "v32", "v32-linear", "v4"),
			Change: onX(func(bench.Gen, int, int, float64) float64 { return 3 }),
		},
		{
			ID:     "outlier",
			Why:    "one channel is 1,000 times the others",
			Shapes: ways(5, 4, 9, 4, "v32", "v4", "mid", "plain-fp4", "plain-fp8"),
			Change: onX(func(_ bench.Gen, _, d int, v float64) float64 {
				if d == 5 {
					return 1000 * v
				}
				return v
			}),
		},
		{
			ID:     "ties",
			Why:    "values half way between two codes, under a scale of 1",
			Shapes: ways(6, 4, 0, 4, plainWays...),
			Change: ties,
		},
		{
			ID:     "powers",
			Why:    "amax at a power of two times the largest code, one step below and above",
			Shapes: ways(9, 4, 0, 4, "plain-fp8", "plain-fp4", "plain-fp4-n"),
			Change: powerEdges,
		},
		{
			ID:     "offset-mean",
			Why:    "a mean ten times the deviation",
			Shapes: ways(5, 4, 9, 4, "v32", "v32-linear"),
			Change: onX(func(_ bench.Gen, _, _ int, v float64) float64 { return v + 12 }),
		},
		{
			ID:     "chunks",
			Why:    "stored in pieces of 1, 3 and 4 tokens",
			Shapes: ways(10, 4, 30, 4, "v32", "v4", "nano", "v4-bf16"),
			Relate: storeParts(1, 4, 8),
		},
		{
			ID:     "permuted",
			Why:    "tokens in another order",
			Shapes: ways(10, 4, 30, 4, "v32", "v4", "plain-fp8"),
			Relate: storePermuted,
		},
		{
			ID: "padded", Why: "operands are views into wider buffers", Shapes: ways(6, 4, 30, 4, "v32", "v4", "nano"),
			Layout: map[string]bench.Layout{
				"x":            {Lead: 3, Gap: 16, Tail: 40},
				"positions":    {Lead: 2, Tail: 3},
				"slot_mapping": {Lead: 1, Tail: 5},
				"norm_weight":  {Lead: 4, Tail: 9},
				"inv_freq":     {Lead: 2, Tail: 7},
			},
		},
		{
			ID:     "padded-bias",
			Why:    "the bias at an offset in a larger buffer",
			Shapes: ways(4, 4, 30, 4, "v32"),
			Layout: map[string]bench.Layout{"norm_bias": {Lead: 5, Tail: 6}},
		},
	}
	return append(rows, longStore()...)
}

func onX(f func(g bench.Gen, t, d int, v float64) float64) bench.Change {
	return func(g bench.Gen, p *bench.Problem) error {
		dim := p.In("x").Dim(1)
		p.Change("x", func(i int, v float64) float64 { return f(g, i/dim, i%dim, v) })
		return nil
	}
}

func scaledRows(factor float64) bench.Change {
	return onX(func(_ bench.Gen, _, _ int, v float64) float64 { return v * factor })
}

// ties are midpoints of codes: with the element's largest value in every block its scale is a power of two, here 1.
func ties(g bench.Gen, p *bench.Problem) error {
	dim, name := p.In("x").Dim(1), p.Attrs.Word("page_format")
	fp4 := []float64{0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5, -0.25, -0.75, -1.25, -1.75, -2.5, -3.5, -5, 0.5, 3}
	return onX(func(_ bench.Gen, t, d int, _ float64) float64 {
		switch {
		case name == "bf16":
			return math.Ldexp(float64(256+2*((t*dim+d)%128)+1), -9) // nine bits: midway for bf16, exact in fp32
		case name == "fp4" && d%32 == 0:
			return 6
		case name == "fp4":
			return fp4[(t*5+d)%len(fp4)]
		case d == 0:
			return 448
		}
		mantissa, exponent := float64(17+2*((t+d)%8)), (d/8)%10-5 // 17 to 31 over 16: midway between codes of three bits
		return math.Ldexp(mantissa/16, exponent) * float64(1-2*(d%2))
	})(g, p)
}

// powerEdges puts amax at a power of two times the element's largest value, a step of the dtype below, and above.
func powerEdges(g bench.Gen, p *bench.Problem) error {
	top, block := 448.0, p.In("x").Dim(1)
	if p.Attrs.Word("page_format") == "fp4" {
		top, block = 6, 32
	}
	step := 0x1p-7
	if p.Operands["x"].DType == bench.F32 {
		step = 0x1p-22 // of 1.75 and 1.5, in whose binade that is two steps
	}
	return onX(func(_ bench.Gen, t, d int, v float64) float64 {
		edge := math.Ldexp(top*(1+step*float64(t%3-1)), -(t+3)%7)
		if d%block == 7 {
			return edge
		}
		return math.Max(-1, math.Min(1, v/4)) * edge / 2
	})(g, p)
}

// cutStore keeps some tokens.
func cutStore(p bench.Problem, tokens []int) bench.Problem {
	c := p.Clone()
	c.Take(tokens, "x", "positions", "slot_mapping")
	sealStore(&c)
	return c
}

// storeJoin takes the bytes of every part's slots, and elsewhere those of the first part.
func storeJoin(p bench.Problem, groups [][]int) func(parts []bench.Results) (bench.Results, error) {
	owner := owners(p.Attrs.Word("page_format"), p.Attrs.Int("page_size"), p.In("x").Dim(1))
	slots, page := p.In("slot_mapping").Ints(), p.Attrs.Int("page_size")
	n := p.Outputs["pages"].Shape[0] * p.Outputs["pages"].Shape[1]
	return func(parts []bench.Results) (bench.Results, error) {
		out := make([]float64, n)
		for i, tokens := range groups {
			got := parts[i]["pages"]
			if len(got) != n {
				return nil, fmt.Errorf("part %d has %d bytes, want %d", i, len(got), n)
			}
			if i == 0 {
				copy(out, got)
			}
			for _, t := range tokens {
				for at, token := range owner {
					if slot := slots[t]; slot >= 0 && token == slot%page {
						out[slot/page*len(owner)+at] = got[slot/page*len(owner)+at]
					}
				}
			}
		}
		return bench.Results{"pages": out}, nil
	}
}

func storeParts(cuts ...int) func(bench.Gen, bench.Problem) (bench.Relation, error) {
	return func(_ bench.Gen, p bench.Problem) (bench.Relation, error) {
		var r bench.Relation
		var groups [][]int
		from := 0
		for _, to := range append(append([]int{}, cuts...), p.In("x").Dim(0)) {
			var tokens []int
			for t := from; t < to; t++ {
				tokens = append(tokens, t)
			}
			from = to
			r.Parts, groups = append(r.Parts, cutStore(p, tokens)), append(groups, tokens)
		}
		r.Join = storeJoin(p, groups)
		return r, nil
	}
}

func storePermuted(g bench.Gen, p bench.Problem) (bench.Relation, error) {
	order := g.Perm(p.In("x").Dim(0))
	return bench.Relation{Parts: []bench.Problem{cutStore(p, order)}, Join: storeJoin(p, [][]int{order})}, nil
}
