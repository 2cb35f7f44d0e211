package sparse

import (
	"fmt"
	"maps"
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle"
)

func mergeState() bench.Family {
	return bench.Family{
		Op: opMergeState, Slug: "merge-state",
		Claim: "the merged state MUST be attention over both sets of keys within fp32 evaluation, whatever the base " +
			"and whichever state is empty",
		Doc:       mergeStateDoc(),
		Contracts: mergeContracts(),
		Draw:      drawMergeState, Expect: expectMergeState, Twins: mergeTwins(),
		Scenarios: append(mergeStateScenarios(), longState()),
	}
}

func drawMergeState(g bench.Gen) (bench.Problem, error) {
	t, h, d := g.Shape.Dim("tokens"), g.Shape.Dim("heads"), g.Shape.Dim("dim")
	dtype, words := dtypeOf(g.Contract), mergeWords(g.Contract)
	p := bench.Problem{
		Attrs:    words,
		Operands: map[string]bench.Operand{},
		Layout:   map[string]bench.Layout{},
		Unread:   map[string]func(int) bool{},
	}
	for _, side := range []string{"prefix", "suffix"} {
		p.Operands[side+"_o"] = bench.Floats(dtype, g.Normal(t*h*d, 1), t, h, d)
		p.Operands[side+"_lse"] = bench.Floats(bench.F32, lseValues(g, t*h, words.Word(baseWord)), t, h)
	}
	p.Outputs = map[string]bench.Output{"merged_o": bench.Out(dtype, t, h, d), "merged_lse": bench.Out(bench.F32, t, h)}
	return p, nil
}

// sealState leaves the outputs of empty states unread.
func sealState(p *bench.Problem) {
	for _, side := range []string{"prefix", "suffix"} {
		lse, d := p.Operands[side+"_lse"].Values, p.Operands[side+"_o"].Shape[2]
		delete(p.Unread, side+"_o")
		for _, v := range lse {
			if math.IsInf(v, 0) {
				p.Unread[side+"_o"] = func(i int) bool { return math.IsInf(lse[i/d], 0) }
			}
		}
	}
}

func expectMergeState(c bench.Case, p bench.Problem) ([]bench.Expected, error) {
	shape := p.Operands["prefix_o"].Shape
	var states []oracle.PartialState
	for _, side := range []string{"prefix", "suffix"} {
		states = append(states, partial(p.In(side+"_o").Data, p.In(side+"_lse").Data, shape[2], p.Attrs.Word(baseWord)))
	}
	return expectMerge(c, p, states, nil, shape)
}

func mergeShape(tokens, heads, dim int) bench.Shape {
	return bench.S(slug("t%d-h%d-d%d", tokens, heads, dim), map[string]int{"tokens": tokens, "heads": heads, "dim": dim})
}

func mergeStateScenarios() []bench.Scenario {
	set := func(values map[string]float64) bench.Change {
		return func(_ bench.Gen, p *bench.Problem) error {
			for name, v := range values {
				p.Change(name, func(int, float64) float64 { return v })
			}
			return nil
		}
	}
	few := []string{natural, base2}
	nano, flash := mergeShape(5, 4, 64), mergeShape(2, 4, 512)
	scenarios := []bench.Scenario{
		{
			ID:     "unequal",
			Why:    "weights that differ: equal ones hide a wrong base",
			Shapes: []bench.Shape{nano, flash, mergeShape(1, 1, 128), mergeShape(67, 3, 16)},
		},
		{
			ID:      "two-and-eight",
			Why:     "Z = (2, 8) with outputs 0 and 1 is 0.8",
			Catches: []string{"S1 sgl-project/sglang#35045", "S3 sgl-project/sglang#33064"},
			Shapes:  []bench.Shape{mergeShape(2, 2, 8)},
			Change:  twoAndEight,
		},
		{
			ID:      "both-empty",
			Why:     "two empty states: -inf - -inf",
			Catches: []string{"S5 vllm-project/vllm#39148"},
			Shapes:  []bench.Shape{nano},
			Change:  emptyRows("prefix", "suffix"),
		},
		{
			ID:     "first-chunk",
			Why:    "queries without prefix beside others with one",
			Shapes: []bench.Shape{nano, flash},
			Change: emptyRows("prefix"),
		},
		{
			ID:     "no-suffix",
			Why:    "an empty suffix: its output holds nothing",
			Shapes: []bench.Shape{nano},
			Change: emptyRows("suffix"),
		},
		{
			ID:     "padding-rows",
			Why:    "rows of a padded batch are empty in both states",
			Shapes: []bench.Shape{mergeShape(9, 2, 32)},
			Change: emptyTail(3),
		},
		{
			ID:     "far-apart",
			Why:    "one state outweighs the other beyond fp32",
			Shapes: []bench.Shape{nano},
			Change: func(_ bench.Gen, p *bench.Problem) error {
				p.Change("suffix_lse", func(i int, v float64) float64 { return v + []float64{-140, 140, -20}[i%3] })
				return nil
			},
		},
		{
			ID:        "large-lse",
			Why:       "e^lse overflows: the maximum must come out first",
			Contracts: few,
			Shapes:    []bench.Shape{nano},
			Change: func(_ bench.Gen, p *bench.Problem) error {
				for _, side := range []string{"prefix_lse", "suffix_lse"} {
					p.Change(side, func(i int, v float64) float64 { return v + []float64{300, -300}[i%2] })
				}
				return nil
			},
		},
		{
			ID:        "equal-weights",
			Why:       "equal log-sum-exps: the mean of the outputs, and one bit more in the sum",
			Contracts: few,
			Shapes:    []bench.Shape{nano},
			Change:    set(map[string]float64{"prefix_lse": 3, "suffix_lse": 3}),
		},
		{
			ID:        "no-lse",
			Why:       "the merged log-sum-exp is not asked for",
			Contracts: few,
			Shapes:    []bench.Shape{nano},
			Change: func(_ bench.Gen, p *bench.Problem) error {
				delete(p.Outputs, "merged_lse")
				return nil
			},
		},
		{
			ID:      "strides-suffix",
			Why:     "the suffix has strides of its own",
			Catches: []string{"S11 local-inference-lab/vllm#17"},
			Shapes:  []bench.Shape{nano, mergeShape(3, 2, 128)},
			Layout:  map[string]bench.Layout{"suffix_o": {Lead: 5, Gap: 7, Inner: 64, Tail: 9000}},
		},
		{
			ID:        "strides-prefix",
			Why:       "the prefix has strides of its own",
			Contracts: few,
			Shapes:    []bench.Shape{nano},
			Layout:    map[string]bench.Layout{"prefix_o": {Lead: 2, Gap: 9, Inner: 32, Tail: 9000}, "suffix_o": {Tail: 9000}},
		},
		{
			ID:        "strides-lse",
			Why:       "log-sum-exps with the heads outermost, as kernels store them",
			Contracts: few,
			Shapes:    []bench.Shape{nano},
			Layout: map[string]bench.Layout{
				"prefix_lse": {Lead: 3, Gap: 2, Tail: 40, Swap: true},
				"suffix_lse": {Lead: 1, Gap: 5, Tail: 40},
			},
		},
		{
			ID:        "swapped",
			Why:       "suffix and prefix change places",
			Contracts: few,
			Shapes:    []bench.Shape{nano},
			Relate:    swapStates,
		},
		{ID: "alone", Why: "each query alone", Contracts: few, Shapes: []bench.Shape{nano}, Relate: statesAlone},
	}
	return scenarios
}

func twoAndEight(_ bench.Gen, p *bench.Problem) error {
	z := map[string]float64{"prefix": 2, "suffix": 8}
	for side, v := range z {
		l := math.Log(v)
		if p.Attrs.Word(baseWord) == wordTwo {
			l = math.Log2(v)
		}
		o := 0.0
		if side == "suffix" {
			o = 1
		}
		p.Change(side+"_lse", func(int, float64) float64 { return l })
		p.Change(side+"_o", func(int, float64) float64 { return o })
	}
	return nil
}

// emptyRows empties every second row of a state.
func emptyRows(sides ...string) bench.Change {
	return func(_ bench.Gen, p *bench.Problem) error {
		for _, side := range sides {
			for i := 0; i < len(p.Operands[side+"_lse"].Values); i += 2 {
				emptied(p, side+"_lse", i)
			}
		}
		sealState(p)
		return nil
	}
}

func emptyTail(tokens int) bench.Change {
	return func(_ bench.Gen, p *bench.Problem) error {
		for _, side := range []string{"prefix_lse", "suffix_lse"} {
			o := p.Operands[side]
			for i := (o.Shape[0] - tokens) * o.Shape[1]; i < len(o.Values); i++ {
				emptied(p, side, i)
			}
		}
		sealState(p)
		return nil
	}
}

func swapStates(_ bench.Gen, p bench.Problem) (bench.Relation, error) {
	for _, what := range []string{"_o", "_lse"} {
		p.Operands["prefix"+what], p.Operands["suffix"+what] = p.Operands["suffix"+what], p.Operands["prefix"+what]
	}
	return bench.Relation{Parts: []bench.Problem{p}, Join: first}, nil
}

func first(parts []bench.Results) (bench.Results, error) { return parts[0], nil }

// statesAlone is every query in a call of its own.
func statesAlone(_ bench.Gen, p bench.Problem) (bench.Relation, error) {
	n := p.Operands["prefix_lse"].Shape[0]
	r := bench.Relation{Join: stacked}
	for t := range n {
		part := p.Clone()
		for name, o := range part.Operands {
			part.Operands[name] = slice(o, t, t+1)
		}
		part.Outputs = sliced(p.Outputs, 1)
		sealState(&part)
		r.Parts = append(r.Parts, part)
	}
	return r, nil
}

// slice takes steps of an operand's first dimension.
func slice(o bench.Operand, from, to int) bench.Operand {
	step := len(o.Values) / max(o.Shape[0], 1)
	shape := append([]int{to - from}, o.Shape[1:]...)
	return bench.Operand{DType: o.DType, Shape: shape, Values: append([]float64{}, o.Values[from*step:to*step]...)}
}

// sliced are outputs of n steps.
func sliced(outputs map[string]bench.Output, n int) map[string]bench.Output {
	out := maps.Clone(outputs)
	for name, o := range out {
		o.Shape = append([]int{n}, o.Shape[1:]...)
		out[name] = o
	}
	return out
}

// stacked puts parts one behind the other.
func stacked(parts []bench.Results) (bench.Results, error) {
	out := bench.Results{}
	for i, part := range parts {
		for name, v := range part {
			if i > 0 && out[name] == nil {
				return nil, fmt.Errorf("part %d has output %q, the first one has not", i, name)
			}
			out[name] = append(out[name], v...)
		}
	}
	return out, nil
}
