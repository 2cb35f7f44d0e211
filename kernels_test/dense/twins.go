package dense

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// attentionTwins take one feature away each, the more specific ones first.
func attentionTwins() []bench.Twin {
	return []bench.Twin{
		bench.Dense(),
		bench.Eager(),
		{Class: "scale", Name: "k_scale and v_scale of 1", Apply: unitScales},
		bench.Fixed("scale", "no YaRN factor", bench.Attrs{"rope_factor": 1.0}),
		bench.Fixed("mask-edge", "no window", bench.Attrs{"window_left": -1.0, "window_right": -1.0}),
		{Class: "paging", Name: "an identity page table", Apply: identity},
		{Class: "paging", Name: "pages of one token", Apply: tokenPages},
		bench.Fixed("split", "one split", bench.Attrs{"num_splits": 1.0}),
		{Class: "log-base", Name: "the other base of lse", Apply: func(_ bench.Gen, p *bench.Problem) bool {
			if _, ok := p.Outputs["lse"]; !ok {
				return false
			}
			p.Attrs["lse_base"] = map[string]string{"2": "e", "e": "2"}[p.Attrs.Word("lse_base")]
			return true
		}},
		{Class: "layout", Name: "key-value heads alike", Apply: headsAlike},
		{Class: "layout", Name: "sinks alike", Apply: func(_ bench.Gen, p *bench.Problem) bool {
			o, has := p.Operands["sink"]
			if has {
				p.Change("sink", func(int, float64) float64 { return o.Values[0] })
			}
			return has
		}},
		bench.Lacking("gate", "no sink", "sink"),
		{Class: "scale", Name: "the usual softmax scale", Apply: func(_ bench.Gen, p *bench.Problem) bool {
			o, has := p.Operands["q"]
			if has {
				p.Attrs["softmax_scale"] = 1 / math.Sqrt(float64(o.Shape[2]))
			}
			return has
		}},
		{Class: "chunk-state", Name: "no cached prefix", Apply: noPrefix},
		{Class: "empty-row", Name: "no query without keys", Apply: allSee},
		{Class: "batch", Name: "the first request alone", Apply: func(_ bench.Gen, p *bench.Problem) bool {
			w := whole(*p)
			if len(w) < 2 {
				return false
			}
			*p = cut(*p, w[:1])
			return true
		}},
		bench.Fixed("mask-edge", "causal off", bench.Attrs{"causal": false}),
	}
}

// unitScales sets both scales to 1. Codes of an fp8 cache take the scale in, so that scores and results keep their
// sizes.
func unitScales(_ bench.Gen, p *bench.Problem) bool {
	k, hasK := p.Attrs["k_scale"].(float64)
	v, hasV := p.Attrs["v_scale"].(float64)
	if !hasK || k == 1 && (!hasV || v == 1) {
		return false
	}
	for name, scale := range map[string]float64{
		"k": k, "k_cache": k, "ckv_cache": k, "kpe_cache": k, "v": v, "v_cache": v,
	} {
		if o, ok := p.Operands[name]; ok && o.DType == bench.E4M3 {
			p.Change(name, func(_ int, x float64) float64 { return x * scale })
		}
	}
	p.Attrs["k_scale"] = 1.0
	if hasV {
		p.Attrs["v_scale"] = 1.0
	}
	return true
}

// headsAlike gives every key-value head the first one's keys and values.
func headsAlike(_ bench.Gen, p *bench.Problem) bool {
	changed := false
	for _, name := range []string{"k", "v", "k_cache", "v_cache"} {
		o, ok := p.Operands[name]
		if !ok {
			continue
		}
		d := o.Shape[len(o.Shape)-1]
		n := d * o.Shape[len(o.Shape)-2]
		changed = changed || n > d
		p.Change(name, func(i int, _ float64) float64 { return o.Values[i/n*n+i%d] })
	}
	return changed
}

// identity lays the pages down in the order of the tables.
func identity(_ bench.Gen, p *bench.Problem) bool {
	if _, ok := p.Operands["page_table"]; !ok {
		return false
	}
	table := p.In("page_table")
	from := table.Ints()
	ids := make([]int, len(from))
	same := true
	for i := range ids {
		ids[i] = i
		same = same && from[i] == i
	}
	p.Operands["page_table"] = bench.Ints(ids, table.Dim(0), table.Dim(1))
	for _, name := range caches {
		if o, ok := p.Operands[name]; ok {
			p.Operands[name] = pick(o, from)
		}
	}
	seal(p)
	return !same
}

// tokenPages cuts the same cache into pages of one token.
func tokenPages(_ bench.Gen, p *bench.Problem) bool {
	page := p.Attrs.Int("page_size")
	if page <= 1 {
		return false
	}
	table := p.In("page_table")
	var ids []int
	for _, id := range table.Ints() {
		for i := range page {
			ids = append(ids, id*page+i)
		}
	}
	p.Operands["page_table"] = bench.Ints(ids, table.Dim(0), table.Dim(1)*page)
	for _, name := range caches {
		if o, ok := p.Operands[name]; ok {
			o.Shape = append([]int{o.Shape[0] * page, 1}, o.Shape[2:]...)
			p.Operands[name] = o
			delete(p.Layout, name)
		}
	}
	delete(p.Layout, "page_table")
	p.Attrs["page_size"] = 1.0
	seal(p)
	return true
}

// noPrefix takes the cached prefix away: every request has as many keys as queries, the first of its own.
func noPrefix(_ bench.Gen, p *bench.Problem) bool {
	indptr, lens := p.In("qo_indptr").Ints(), lengths(*p)
	changed := false
	short := make([]int, len(lens))
	for b, n := range lens {
		short[b] = min(n, indptr[b+1]-indptr[b])
		changed = changed || short[b] < n
	}
	return shorten(p, short) && changed
}

// shorten cuts the keys of requests off at their ends.
func shorten(p *bench.Problem, lens []int) bool {
	if from, ok := p.Operands["kv_indptr"]; ok {
		var tokens []int
		bounds := []int{0}
		for b, n := range lens {
			for j := range n {
				tokens = append(tokens, int(from.Values[b])+j)
			}
			bounds = append(bounds, len(tokens))
		}
		if len(tokens) == 0 {
			return false
		}
		p.Operands["kv_indptr"] = bench.Ints(bounds, len(bounds))
		for _, name := range []string{"k", "v"} {
			p.Operands[name] = pick(p.Operands[name], tokens)
		}
	} else {
		p.Operands["seq_lens"] = bench.Ints(lens, len(lens))
	}
	seal(p)
	return true
}

// allSee drops requests in which a query has no key.
func allSee(_ bench.Gen, p *bench.Problem) bool {
	seen, request := sight(*p, p.In("qo_indptr").Ints()[len(lengths(*p))], p.In("qo_indptr").Ints(), lengths(*p))
	bad := map[int]bool{}
	for t, keys := range seen {
		if len(keys) == 0 {
			bad[request[t]] = true
		}
	}
	if len(bad) == 0 {
		return false
	}
	var kept []piece
	for _, c := range whole(*p) {
		if !bad[c.b] {
			kept = append(kept, c)
		}
	}
	*p = cut(*p, kept)
	return len(kept) > 0
}
