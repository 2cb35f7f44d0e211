package sparse

import (
	"math"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// maskedEdge lets every list end in a lane without row, with another one behind it.
func maskedEdge(_ bench.Gen, p *bench.Problem) (bool, error) {
	for _, prefix := range prefixes(*p) {
		o, lengths := p.Operands[prefix+"indices"], p.Operands[prefix+"topk_length"]
		for t, n := range lengths.Values {
			if int(n)+2 > o.Shape[1] {
				return false, nil
			}
			o.Values[t*o.Shape[1]+int(n)], o.Values[t*o.Shape[1]+int(n)+1] = -1, -1
			lengths.Values[t]++
		}
	}
	return true, seal(p)
}

func shortLists(_ bench.Gen, p *bench.Problem) (bool, error) {
	changed := false
	for _, prefix := range prefixes(*p) {
		p.Change(prefix+"topk_length", func(_ int, v float64) float64 {
			changed = changed || v > 8
			return min(v, 8)
		})
	}
	return changed, seal(p)
}

// wholeTiles fills lists with lanes without row up to a multiple of 16.
func wholeTiles(_ bench.Gen, p *bench.Problem) (bool, error) {
	changed := false
	for _, prefix := range prefixes(*p) {
		o, lengths := p.Operands[prefix+"indices"], p.Operands[prefix+"topk_length"]
		lanes := (o.Shape[1] + 15) / 16 * 16
		wide := make([]float64, 0, o.Shape[0]*lanes)
		for t, n := range lengths.Values {
			row := slices.Clone(o.Values[t*o.Shape[1] : t*o.Shape[1]+int(n)])
			to := (int(n) + 15) / 16 * 16
			changed = changed || to != int(n)
			for len(row) < lanes {
				row = append(row, -1)
			}
			wide, lengths.Values[t] = append(wide, row...), float64(to)
		}
		o.Values, o.Shape = wide, []int{o.Shape[0], lanes}
		p.Operands[prefix+"indices"] = o
	}
	return changed, seal(p)
}

func unitScale(_ bench.Gen, p *bench.Problem) (bool, error) {
	scale := p.Attrs.Num(scaleWord)
	p.Attrs[scaleWord] = 1.0
	p.Change("q", func(_ int, v float64) float64 { return v * scale })
	return scale != 1, nil
}

func distinct(_ bench.Gen, p *bench.Problem) (bool, error) {
	changed := false
	for _, prefix := range prefixes(*p) {
		seen := map[[2]int]bool{}
		if err := editLists(p, prefix, func(t, _, _, v int) int {
			if v >= 0 && seen[[2]int{t, v}] {
				changed = true
				return -1
			}
			seen[[2]int{t, v}] = true
			return v
		}); err != nil {
			return false, err
		}
	}
	return changed, nil
}

func withoutExtra(_ bench.Gen, p *bench.Problem) (bool, error) {
	_, has := p.Operands["extra_kv"]
	for _, name := range []string{"kv", "indices", "topk_length", "block_table"} {
		p.Drop("extra_" + name)
	}
	return has, seal(p)
}

// oneProduct leaves one channel of each query, a power of two: no score is a sum, and none needs more digits than a row
// has.
func oneProduct(_ bench.Gen, p *bench.Problem) (bool, error) {
	d := p.Operands["q"].Shape[2]
	p.Change("q", func(i int, _ float64) float64 {
		if i%d == i/d%d {
			return 2
		}
		return 0
	})
	if p.Attrs.Word("kv_layout") != "rows" || p.Attrs.Word("kv_rounding") != "none" {
		return true, nil
	}
	for _, prefix := range prefixes(*p) {
		p.Change(prefix+"kv", func(_ int, v float64) float64 { return bench.Round(bench.BF16, v) })
	}
	return true, nil
}

func oneRow(_ bench.Gen, p *bench.Problem) (bool, error) {
	for _, prefix := range prefixes(*p) {
		most := 1.0
		if prefix != "" {
			most = 0
		}
		p.Change(prefix+"topk_length", func(_ int, v float64) float64 { return min(v, most) })
	}
	return true, seal(p)
}

// mergeTwins serve both merges.
func mergeTwins() []bench.Twin {
	return []bench.Twin{
		bench.Dense(),
		twin("log-base", "states to the base e", rebased("e")),
		twin("log-base", "states to the base 2", rebased(wordTwo)),
		twin("log-base", "the merged log-sum-exp to the states' base", func(_ bench.Gen, p *bench.Problem) (bool, error) {
			changed := p.Attrs[outBase] != p.Attrs[baseWord]
			p.Attrs[outBase] = p.Attrs[baseWord]
			return changed, nil
		}),
		twin("empty-row", "no empty state", func(_ bench.Gen, p *bench.Problem) (bool, error) {
			changed := false
			for _, name := range lseNames(*p) {
				p.Change(name, func(_ int, v float64) float64 {
					changed = changed || math.IsInf(v, 0)
					if math.IsInf(v, 0) {
						return 1.25
					}
					return v
				})
			}
			resealMerge(p)
			return changed, nil
		}),
		bench.Fixed("empty-row", "-inf where all states are empty", bench.Attrs{emptyWord: "-inf"}),
		bench.Fixed("empty-row", "+inf where all states are empty", bench.Attrs{emptyWord: emptyPlus}),
		twin("scale", "no sink", func(_ bench.Gen, p *bench.Problem) (bool, error) {
			_, has := p.Operands["attn_sink"]
			p.Drop("attn_sink")
			return has, nil
		}),
		twin("offset", "log-sum-exps near 0", func(_ bench.Gen, p *bench.Problem) (bool, error) {
			for _, name := range lseNames(*p) {
				p.Change(name, func(_ int, v float64) float64 {
					if math.IsInf(v, 0) {
						return v
					}
					return math.Remainder(v, 2)
				})
			}
			return true, nil
		}),
		twin("split", "states of equal weight", func(_ bench.Gen, p *bench.Problem) (bool, error) {
			for _, name := range lseNames(*p) {
				p.Change(name, func(_ int, v float64) float64 {
					if math.IsInf(v, 0) {
						return v
					}
					return 2
				})
			}
			return true, nil
		}),
		twin("split", "the first state outweighs the others", outweighed(false)),
		twin("accumulation", "the same, with outputs of bf16", outweighed(true)),
	}
}

// outweighed takes 200 from the log-sum-exps of all states but the first; with coarse the outputs are made values of
// bf16.
func outweighed(coarse bool) func(bench.Gen, *bench.Problem) (bool, error) {
	return func(_ bench.Gen, p *bench.Problem) (bool, error) {
		shape := p.Operands["lse"].Shape
		for _, name := range lseNames(*p) {
			first := len(p.Operands[name].Values)
			switch {
			case name == "suffix_lse":
				first = 0
			case shape != nil:
				first /= shape[0]
			}
			p.Change(name, func(i int, v float64) float64 {
				if i >= first {
					return v - 200
				}
				return v
			})
		}
		for _, name := range []string{"prefix_o", "suffix_o", "o"} {
			if _, has := p.Operands[name]; has && coarse {
				p.Change(name, func(_ int, v float64) float64 { return bench.Round(bench.BF16, v) })
			}
		}
		return true, nil
	}
}

func lseNames(p bench.Problem) []string {
	if _, two := p.Operands["prefix_lse"]; two {
		return []string{"prefix_lse", "suffix_lse"}
	}
	return []string{"lse"}
}

func resealMerge(p *bench.Problem) {
	if _, two := p.Operands["prefix_lse"]; two {
		sealState(p)
		return
	}
	sealStates(p)
}

// rebased gives the states' log-sum-exps in another base, and asks for the merged one in it.
func rebased(base string) func(bench.Gen, *bench.Problem) (bool, error) {
	return func(_ bench.Gen, p *bench.Problem) (bool, error) {
		if p.Attrs[baseWord] == base {
			return false, nil
		}
		factor := math.Log2E
		if base == "e" {
			factor = math.Ln2
		}
		p.Attrs[baseWord], p.Attrs[outBase] = base, base
		for _, name := range lseNames(*p) {
			p.Change(name, func(_ int, v float64) float64 { return v * factor })
		}
		return true, nil
	}
}

func extendTwins() []bench.Twin {
	change := func(name string, to float64) func(bench.Gen, *bench.Problem) (bool, error) {
		return func(_ bench.Gen, p *bench.Problem) (bool, error) {
			changed := false
			p.Change(name, func(_ int, v float64) float64 {
				changed = changed || v != to
				return to
			})
			return changed, nil
		}
	}
	return []bench.Twin{
		bench.Dense(),
		twin("selection", "no -1 among the selected rows", func(_ bench.Gen, p *bench.Problem) (bool, error) {
			changed := false
			p.Change("selected", func(_ int, v float64) float64 {
				changed = changed || v < 0
				return max(v, 0)
			})
			return changed, nil
		}),
		twin("offset", "compressed rows from 0 on", change("compressed_base", 0)),
		twin("offset", "window rows from 0 on", change("window_base", 0)),
		twin("mask-edge", "a window longer than any context", func(_ bench.Gen, p *bench.Problem) (bool, error) {
			window := 2.0
			for _, n := range p.In("seq_len").Data {
				window = max(window, n+2)
			}
			p.Attrs["window_size"], p.Attrs["align"] = window, 1.0
			p.Outputs["indices"] = bench.OutI32(p.Outputs["indices"].Shape[0], int(window)+p.Attrs.Int("top_k"))
			return true, nil
		}),
		twin("mask-edge", "no compressed rows", func(_ bench.Gen, p *bench.Problem) (bool, error) {
			changed := p.Attrs.Num("ratio") > 0
			p.Attrs["ratio"] = 0.0
			sealExtend(p)
			return changed, nil
		}),
	}
}
