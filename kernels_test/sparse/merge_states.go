package sparse

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle"
)

func mergeStates() bench.Family {
	return bench.Family{
		Op: opMergeStates, Slug: "merge-states",
		Claim: "the merged state MUST be attention over the keys of all states within fp32 evaluation, in any order of " +
			"states, with the sink counted once",
		Doc:       mergeStatesDoc(),
		Contracts: mergeContracts(),
		Draw:      drawMergeStates, Expect: expectMergeStates, Twins: mergeTwins(),
		Scenarios: append(mergeStatesScenarios(), longStates()),
	}
}

func drawMergeStates(g bench.Gen) (bench.Problem, error) {
	n, t, h, d := g.Shape.Dim("states"), g.Shape.Dim("tokens"), g.Shape.Dim("heads"), g.Shape.Dim("dim")
	dtype, words := dtypeOf(g.Contract), mergeWords(g.Contract)
	counts := make([]int, t)
	for i := range counts {
		counts[i] = n - i%min(n, 3)
	}
	p := bench.Problem{
		Attrs: words,
		Operands: map[string]bench.Operand{
			"o":          bench.Floats(dtype, g.Normal(n*t*h*d, 1), n, t, h, d),
			"lse":        bench.Floats(bench.F32, lseValues(g, n*t*h, words.Word(baseWord)), n, t, h),
			"num_states": bench.Ints(counts, t), "attn_sink": bench.Floats(bench.F32, g.Normal(h, 2), h),
		},
		Layout: map[string]bench.Layout{}, Unread: map[string]func(int) bool{},
		Outputs: map[string]bench.Output{"merged_o": bench.Out(dtype, t, h, d), "merged_lse": bench.Out(bench.F32, t, h)},
	}
	sealStates(&p)
	return p, nil
}

// counts tells whether state i of query t counts.
func counts(p bench.Problem) func(i, t int) bool {
	if _, ok := p.Operands["num_states"]; !ok {
		return func(int, int) bool { return true }
	}
	n := p.In("num_states").Ints()
	return func(i, t int) bool { return i < n[t] }
}

// sealStates leaves states that do not count, and outputs of empty ones, unread.
func sealStates(p *bench.Problem) {
	shape, lse, has := p.Operands["o"].Shape, p.Operands["lse"].Values, counts(*p)
	t, h, d := shape[1], shape[2], shape[3]
	p.Unread["lse"] = func(i int) bool { return !has(i/(t*h), i/h%t) }
	p.Unread["o"] = func(i int) bool { i /= d; return !has(i/(t*h), i/h%t) || math.IsInf(lse[i], 0) }
}

func expectMergeStates(c bench.Case, p bench.Problem) ([]bench.Expected, error) {
	o, lse, has := p.In("o"), p.In("lse"), counts(p)
	t, h, d := o.Dim(1), o.Dim(2), o.Dim(3)
	var states []oracle.PartialState
	for i := range o.Dim(0) {
		s := partial(o.Row(i), lse.Row(i), d, p.Attrs.Word(baseWord))
		for n := range s.LSE {
			if !has(i, n/h) {
				s.LSE[n] = math.Inf(-1)
			}
		}
		states = append(states, s)
	}
	var sink []float64
	if _, ok := p.Operands["attn_sink"]; ok {
		sink = p.In("attn_sink").Data
	}
	return expectMerge(c, p, states, sink, []int{t, h, d})
}

func mergeStatesScenarios() []bench.Scenario {
	shape := func(states, tokens, heads, dim int) bench.Shape {
		return bench.S(slug("n%d-t%d-h%d-d%d", states, tokens, heads, dim), map[string]int{
			"states": states, "tokens": tokens, "heads": heads, "dim": dim,
		})
	}
	empty := func(which func(n, i, t int) bool) bench.Change {
		return func(_ bench.Gen, p *bench.Problem) error {
			s := p.Operands["lse"].Shape
			for at := range p.Operands["lse"].Values {
				if which(s[0], at/(s[1]*s[2]), at/s[2]%s[1]) {
					emptied(p, "lse", at)
				}
			}
			sealStates(p)
			return nil
		}
	}
	few := []string{base2, combine}
	nano := shape(4, 5, 4, 64)
	return []bench.Scenario{
		{
			ID:     "many",
			Why:    "states of different weight; queries that have fewer of them, with stale ones behind",
			Shapes: []bench.Shape{nano, shape(2, 3, 4, 64), shape(7, 2, 8, 128), shape(33, 2, 2, 16), shape(3, 1, 16, 512)},
		},
		{ID: "one-state", Why: "a query that was not split", Contracts: few, Shapes: []bench.Shape{shape(1, 3, 4, 64)}},
		{
			ID:      "ranks",
			Why:     "ranks of unequal length, without sink, all of them counted",
			Catches: []string{"S2 vllm-project/vllm#47079"},
			Shapes:  []bench.Shape{shape(2, 3, 4, 64), shape(4, 3, 2, 64)},
			Change: func(_ bench.Gen, p *bench.Problem) error {
				delete(p.Operands, "attn_sink")
				delete(p.Operands, "num_states")
				sealStates(p)
				return nil
			},
		},
		{
			ID:        "empty-middle",
			Why:       "splits without keys between others",
			Contracts: few,
			Shapes:    []bench.Shape{nano, shape(7, 2, 2, 64)},
			Change:    empty(func(n, i, _ int) bool { return i > 0 && i < n-1 }),
		},
		{
			ID:     "empty-first",
			Why:    "the first state is empty: the running maximum starts at -inf",
			Shapes: []bench.Shape{nano},
			Change: empty(func(_, i, _ int) bool { return i == 0 }),
		},
		{
			ID:      "all-empty",
			Why:     "queries without any key, with a sink",
			Catches: []string{"S5 vllm-project/vllm#39148"},
			Shapes:  []bench.Shape{nano},
			Change:  empty(func(_, _, t int) bool { return t%2 == 0 }),
		},
		{
			ID:     "none-counts",
			Why:    "num_states 0 inside a batch",
			Shapes: []bench.Shape{nano},
			Change: func(_ bench.Gen, p *bench.Problem) error {
				p.Change("num_states", func(i int, v float64) float64 { return v * float64(i%2) })
				sealStates(p)
				return nil
			},
		},
		{
			ID:     "sinks",
			Why:    "no sink (-inf), a sink that takes all (+inf), one far above and one far below the states",
			Shapes: []bench.Shape{nano},
			Change: func(_ bench.Gen, p *bench.Problem) error {
				p.Change("attn_sink", func(i int, _ float64) float64 { return []float64{math.Inf(-1), math.Inf(1), 12, -12}[i%4] })
				return nil
			},
		},
		{
			ID:        "large-lse",
			Why:       "e^lse overflows: the maximum must come out first",
			Contracts: few,
			Shapes:    []bench.Shape{nano},
			Change: func(_ bench.Gen, p *bench.Problem) error {
				p.Change("lse", func(i int, v float64) float64 { return v + []float64{300, -300}[i/4%2] })
				return nil
			},
		},
		{
			ID:        "strides",
			Why:       "states sliced out of a wider workspace",
			Contracts: few,
			Shapes:    []bench.Shape{nano},
			Layout: map[string]bench.Layout{
				"o": {Lead: 3, Gap: 40, Inner: 64, Tail: 9000}, "lse": {Lead: 1, Gap: 3, Inner: 2, Tail: 90},
				"num_states": {Lead: 1, Tail: 2}, "attn_sink": {Lead: 2, Tail: 2},
			},
		},
		{
			ID:        "permuted",
			Why:       "states in another order",
			Contracts: few,
			Shapes:    []bench.Shape{shape(5, 2, 2, 32)},
			Relate:    reverseStates,
		},
	}
}

// reverseStates gives the states in reverse.
func reverseStates(_ bench.Gen, p bench.Problem) (bench.Relation, error) {
	if _, ok := p.Operands["num_states"]; ok { // states that do not count must stay behind the others
		p.Change("num_states", func(int, float64) float64 { return float64(p.Operands["o"].Shape[0]) })
		has, s := p.Unread["lse"], p.Operands["lse"]
		for i := range s.Values {
			if has(i) {
				s.Values[i] = emptyValue(p)
			}
		}
	}
	for _, name := range []string{"o", "lse"} {
		v := p.Operands[name]
		step := len(v.Values) / v.Shape[0]
		turned := make([]float64, 0, len(v.Values))
		for i := v.Shape[0] - 1; i >= 0; i-- {
			turned = append(turned, v.Values[i*step:(i+1)*step]...)
		}
		v.Values = turned
		p.Operands[name] = v
	}
	sealStates(&p)
	return bench.Relation{Parts: []bench.Problem{p}, Join: first}, nil
}
