package topk

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle"
)

var twins = []bench.Twin{
	bench.Dense(),
	bench.Eager(),
	{Class: "selection", Name: "scores far apart, none of which is negative", Apply: farApart},
	{Class: "empty-row", Name: "more keys than slots for every query", Apply: func(_ bench.Gen, p *bench.Problem) bool {
		k, width, short := p.Attrs.Int("top_k"), p.In("scores").Dim(1), false
		if width <= k {
			return false
		}
		p.Change("lengths", func(_ int, v float64) float64 {
			short = short || int(v) <= k
			return max(v, float64(k+1))
		})
		numbers(p)
		return short
	}},
	{Class: "batch", Name: "queries that are all alike, of the first sequence", Apply: alike},
	{Class: "paging", Name: "an identity page table", Apply: func(_ bench.Gen, p *bench.Problem) bool {
		o, ok := p.Operands["block_table"]
		if ok {
			p.Change("block_table", func(i int, _ float64) float64 { return float64(i % o.Shape[1]) })
			hide(p)
		}
		return ok
	}},
	{Class: "paging", Name: "pages of one key, in order", Apply: func(_ bench.Gen, p *bench.Problem) bool {
		o, ok := p.Operands["block_table"]
		if !ok {
			return false
		}
		width := p.In("scores").Dim(1)
		ids := make([]int, o.Shape[0]*width)
		for i := range ids {
			ids[i] = i % width
		}
		p.Operands["block_table"], p.Attrs["page_size"] = bench.Ints(ids, o.Shape[0], width), 1.0
		hide(p)
		return true
	}},
	{Class: "mask-edge", Name: "ends of rows that nobody chooses", Apply: quietEnds},
	{Class: "unread-memory", Name: "nothing behind the ends of rows", Apply: func(_ bench.Gen, p *bench.Problem) bool {
		lengths, width := p.In("lengths").Ints(), p.In("scores").Dim(1)
		p.Change("scores", func(i int, v float64) float64 {
			if i%width >= lengths[i/width] {
				return -1e38
			}
			return v
		})
		p.Unread = nil
		return true
	}},
}

// farApart keeps which keys are chosen. Of n > k visible ones the chosen get distinct scores of many binades from 16
// up, the others distinct ones between 1 and 2: no coarse bin straddles the k-th place, and no two scores are equal.
func farApart(_ bench.Gen, p *bench.Problem) bool {
	scores, k := p.In("scores"), p.Attrs.Int("top_k")
	changed := false
	for t, n := range p.In("lengths").Ints() {
		if n <= k {
			continue
		}
		chosen, err := oracle.SelectTopK(scores.Row(t), n, k, oracle.LowestIndex)
		if err != nil {
			return false
		}
		for i := range n {
			scores.Row(t)[i] = 1 + float64(i)/float64(2*n)
		}
		for j, i := range chosen {
			scores.Row(t)[i] = math.Ldexp(16, j%16) * (1 + float64(j)/float64(2*k))
		}
		changed = true
	}
	p.Change("scores", func(_ int, v float64) float64 { return v })
	return changed
}

// alike gives every query the first one's scores, length and sequence.
func alike(_ bench.Gen, p *bench.Problem) bool {
	for _, name := range []string{"scores", "lengths", "request"} {
		o, ok := p.Operands[name]
		if !ok {
			continue
		}
		if o.Shape[0] < 2 {
			return false
		}
		size := len(o.Values) / o.Shape[0]
		for i := range o.Values {
			o.Values[i] = o.Values[i%size]
		}
	}
	if _, ok := p.Operands["request"]; ok {
		p.Change("request", func(int, float64) float64 { return 0 })
	}
	hide(p)
	return true
}

// numbers takes every NaN away, for rows that become ranked.
func numbers(p *bench.Problem) {
	p.Change("scores", func(i int, v float64) float64 {
		if math.IsNaN(v) {
			return float64(i % 1000)
		}
		return v
	})
	hide(p)
}

// quietEnds makes the last two visible keys of ranked rows, and the two behind, worse than any other; short rows become
// ranked.
func quietEnds(_ bench.Gen, p *bench.Problem) bool {
	k, width := p.Attrs.Int("top_k"), p.In("scores").Dim(1)
	if width < k+4 {
		return false
	}
	p.Change("lengths", func(_ int, v float64) float64 { return max(v, float64(k+3)) })
	p.Change("lengths", func(_ int, v float64) float64 { return min(v, float64(width-1)) })
	lengths := p.In("lengths").Ints()
	p.Change("scores", func(i int, v float64) float64 {
		if at, n := i%width, lengths[i/width]; at >= n-2 {
			return -1e30 * float64(1+at-n+2)
		}
		if math.IsNaN(v) {
			return float64(i % width)
		}
		return v
	})
	p.Unread = nil
	return true
}
