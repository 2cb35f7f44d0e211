package sparse

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// editLists changes entries that count, and marks anew what is unread. f gets query, lane, the list's length and the
// entry.
func editLists(p *bench.Problem, prefix string, f func(t, lane, n, v int) int) error {
	o, lengths := p.Operands[prefix+"indices"], p.In(prefix+"topk_length").Ints()
	lanes := o.Shape[1]
	for i, v := range o.Values {
		if t, lane := i/lanes, i%lanes; lane < lengths[t] {
			o.Values[i] = float64(f(t, lane, lengths[t], int(v)))
		}
	}
	return seal(p)
}

// maskLanes takes rows out of the main list.
func maskLanes(is func(t, lane, n int) bool) bench.Change {
	return func(_ bench.Gen, p *bench.Problem) error {
		return editLists(p, "", func(t, lane, n, v int) int {
			if is(t, lane, n) {
				return -1
			}
			return v
		})
	}
}

// emptyQueries leaves queries without rows: every second of them by lists of nothing but -1.
func emptyQueries(is func(t int) bool) bench.Change {
	return func(_ bench.Gen, p *bench.Problem) error {
		for _, prefix := range prefixes(*p) {
			p.Change(prefix+"topk_length", func(t int, v float64) float64 {
				if is(t) && t/3%2 == 0 {
					return 0
				}
				return v
			})
			if err := editLists(p, prefix, func(t, _, _, v int) int {
				if is(t) {
					return -1
				}
				return v
			}); err != nil {
				return err
			}
		}
		return nil
	}
}

// shorten ends lists earlier: what stood there is stale now.
func shorten(_ bench.Gen, p *bench.Problem) error {
	for _, prefix := range prefixes(*p) {
		p.Change(prefix+"topk_length", func(t int, v float64) float64 { return max(v-float64(t%3), 1) })
	}
	return seal(p)
}

func outOfRange(_ bench.Gen, p *bench.Problem) error {
	for _, prefix := range prefixes(*p) {
		rows := rowsOf(*p, prefix)
		wild := []int{rows, -7, rows + 1, math.MaxInt32, math.MinInt32}
		if err := editLists(p, prefix, func(t, lane, _, v int) int {
			if lane%3 == 1 {
				return wild[(lane+t)%len(wild)]
			}
			return v
		}); err != nil {
			return err
		}
	}
	return nil
}

func duplicates(_ bench.Gen, p *bench.Problem) error {
	for _, prefix := range prefixes(*p) {
		o := p.Operands[prefix+"indices"]
		if err := editLists(p, prefix, func(t, lane, _, v int) int {
			if lane%2 == 1 {
				return int(o.Values[t*o.Shape[1]+lane-1])
			}
			return v
		}); err != nil {
			return err
		}
	}
	return nil
}

// twice asks for a second run.
func twice(_ bench.Gen, p *bench.Problem) error {
	p.Repeat = 2
	return nil
}

// v32Scale is V3.2's softmax scale with YaRN.
func v32Scale(_ bench.Gen, p *bench.Problem) error {
	p.Attrs[scaleWord] = float64(float32(0.1352337789))
	p.Change("q", func(_ int, v float64) float64 { return v / 3 })
	return nil
}

func valueScenarios() []bench.Scenario {
	nano, split := sized("nano", nil), sized("split", dims{"splits": 3})
	one := func(s ...bench.Shape) []bench.Shape { return s }
	coded := func(_ bench.Gen, p *bench.Problem) error {
		p.Change("q", func(int, float64) float64 { return 0 })
		for _, prefix := range prefixes(*p) {
			p.Change(prefix+"kv", func(i int, _ float64) float64 { return float64((i/64*37+i%64*11)%251-125) / 32 })
		}
		return nil
	}
	return []bench.Scenario{
		{
			ID:        "index-coded",
			Why:       "equal scores, and values that say which row they are from: the log-sum-exp is ln L",
			Phase:     "prefill",
			Contracts: []string{fp32, v4First, flashMLA, flashInfer},
			Shapes:    one(nano, split, sized("from-start", dims{"context": 0, "extend": 9})),
			Change:    coded,
		},
		{
			ID:        "needles",
			Why:       "one row outweighs the others: first and last of each list and beside tile edges",
			Phase:     "prefill",
			Contracts: twoContracts(),
			Shapes:    one(sized("b8", dims{"requests": 8, "extend": 1, "heads": 2, "window": 33})),
			Change:    needles,
		},
		{
			ID:        "coherent",
			Why:       "nothing is negative, so that errors add up",
			Phase:     "prefill",
			Contracts: twoContracts(),
			Shapes:    one(nano),
			Change: func(_ bench.Gen, p *bench.Problem) error {
				for _, name := range []string{"q", "kv", "extra_kv"} {
					p.Change(name, func(_ int, v float64) float64 { return math.Abs(v) / 2 })
				}
				return nil
			},
		},
		{
			ID:        "outlier",
			Why:       "one channel of the rows is a thousand times the others",
			Phase:     "prefill",
			Contracts: twoContracts(),
			Shapes:    one(nano),
			Change: func(_ bench.Gen, p *bench.Problem) error {
				for _, name := range []string{"kv", "extra_kv"} {
					p.Change(name, func(i int, v float64) float64 {
						if i%64 == 5 {
							return v * 1000
						}
						return v
					})
				}
				p.Change("q", func(i int, v float64) float64 {
					if i%64 == 5 {
						return v / 500
					}
					return v
				})
				return nil
			},
		},
		{
			ID:        "tiny",
			Why:       "rows of 1e-30, weights all alike",
			Phase:     "prefill",
			Contracts: twoContracts(),
			Shapes:    one(nano),
			Change:    bench.Times(1e-30, "kv", "extra_kv"),
		},
		{
			ID:        "subnormal",
			Why:       "rows below the normal range, which a kernel may flush",
			Phase:     "prefill",
			Contracts: onlyFP32(),
			Shapes:    one(nano),
			Change:    bench.Times(1e-39, "kv", "extra_kv"),
		},
		{
			ID:        "flat",
			Why:       "scores that hardly differ",
			Phase:     "prefill",
			Contracts: twoContracts(),
			Shapes:    one(nano),
			Change:    bench.Times(0.01, "q"),
		},
		{
			ID:        "peaked",
			Why:       "scores that differ by more than fp32's exponent holds",
			Phase:     "prefill",
			Contracts: twoContracts(),
			Shapes:    one(nano, split),
			Change:    bench.Times(20, "q"),
		},
		{
			ID:        "high-scores",
			Why:       "all scores are far above 88: e^z overflows unless the maximum comes out",
			Phase:     "prefill",
			Contracts: twoContracts(),
			Shapes:    one(nano, split),
			Change:    highScores,
		},
		{
			ID:        "sinks",
			Why:       "no sink (-inf), a sink that takes all (+inf), one far above and one far below the scores",
			Phase:     "prefill",
			Contracts: flatContracts(),
			Shapes:    one(nano, split),
			Change: func(_ bench.Gen, p *bench.Problem) error {
				p.Change("attn_sink", func(h int, _ float64) float64 { return []float64{math.Inf(-1), math.Inf(1), 8, -8}[h%4] })
				return nil
			},
		},
	}
}

// needles points one row of each query's list at the query: the row at the place says where the weight must be.
func needles(_ bench.Gen, p *bench.Problem) error {
	for _, prefix := range prefixes(*p) {
		lists, err := listed(*p, prefix)
		if err != nil {
			return err
		}
		q, kv := p.In("q"), p.Operands[prefix+"kv"]
		d := q.Dim(2)
		for t, list := range lists {
			if (t%2 == 1) != (prefix == "extra_") || len(list) == 0 {
				continue
			}
			at := list[[]int{0, len(list) - 1, min(15, len(list)-1), min(16, len(list)-1)}[t/2%4]]
			for c := range d {
				if at >= 0 {
					kv.Values[at*d+c] = bench.Round(kv.DType, 0.9*q.Row(t)[c])
				}
			}
		}
	}
	return nil
}

// highScores adds a constant channel that every score gets 200 from.
func highScores(_ bench.Gen, p *bench.Problem) error {
	scale := p.Attrs.Num(scaleWord)
	for _, name := range []string{"kv", "extra_kv"} {
		p.Change(name, func(i int, v float64) float64 {
			if i%64 == 7 {
				return 16
			}
			return v
		})
	}
	p.Change("q", func(i int, v float64) float64 {
		if i%64 == 7 {
			return math.Round(200 / 16 / scale)
		}
		return v
	})
	return nil
}
