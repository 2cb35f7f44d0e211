package sparse

import (
	"maps"
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

const longWhy = "one dimension at a time beyond every tile, to the extents that ship: "

// longState: tokens, heads and channels.
func longState() bench.Scenario {
	return bench.Scenario{
		ID: "long", Why: longWhy + "tokens, heads and channels",
		Shapes: []bench.Shape{mergeShape(257, 1, 2), mergeShape(1, 128, 2), mergeShape(1, 1, 512)},
	}
}

// longStates: the same, and 64 splits of which the last is the heaviest.
func longStates() bench.Scenario {
	shape := func(states, tokens, heads, dim int) bench.Shape {
		return bench.S(slug("n%d-t%d-h%d-d%d", states, tokens, heads, dim), map[string]int{
			"states": states, "tokens": tokens, "heads": heads, "dim": dim,
		})
	}
	return bench.Scenario{
		ID: "long", Why: longWhy + "splits, tokens, heads and channels; the last split counts",
		Shapes: []bench.Shape{shape(64, 2, 2, 4), shape(2, 257, 1, 2), shape(2, 1, 128, 2), shape(2, 1, 1, 512)},
		Change: func(_ bench.Gen, p *bench.Problem) error {
			s := p.Operands["lse"].Shape
			p.Change("num_states", func(_ int, _ float64) float64 { return float64(s[0]) })
			p.Change("lse", func(i int, v float64) float64 {
				if i >= (s[0]-1)*s[1]*s[2] {
					return v + 6
				}
				return v
			})
			sealStates(p)
			return nil
		},
	}
}

// longAttention: queries, heads, channels, lists and caches, flat and paged. Rows of a cache and pages beyond 2^20 have
// one channel; positions beyond 2^20 lie in few pages, which a table names again and again.
func longAttention() []bench.Scenario {
	small := func(name string, more dims) bench.Shape {
		all := dims{"requests": 1, "context": 9, "extend": 1, "heads": 1, "dim": 4, "window": 4, "top_k": 3, "alike": 1}
		maps.Copy(all, more)
		return sized(name, all)
	}
	inPages := func(name string, more dims) bench.Shape {
		all := dims{"page": 8, "extra_page": 3}
		maps.Copy(all, more)
		return small(name, all)
	}
	packed := func(name string, more dims) bench.Shape {
		all := dims{"packed": 1, "ratio": 4}
		maps.Copy(all, more)
		return small(name, all)
	}
	again := func(name string, more dims) bench.Shape { // few pages
		all := dims{"page": 64, "extra_page": 64, "shared": 5}
		maps.Copy(all, more)
		return small(name, all)
	}
	return []bench.Scenario{
		{
			ID: "long", Why: longWhy + "queries, heads, channels, lists and rows of the cache; the last listed row counts",
			Phase: "prefill", Contracts: twoContracts(),
			Shapes: []bench.Shape{
				small("t257", dims{"extend": 257}), small("h128", dims{"heads": 128}), small("d576", dims{"dim": 576}),
				small("n2050", dims{"context": 2060, "window": 2050, "ratio": 0}),
				small("extra-n2050", dims{"context": 2060, "top_k": 2050, "ratio": 1}),
				small("rows-65536", dims{"dim": 1, "first": 1 << 16}),
			},
			Change: lastCounts,
		},
		{
			ID: "long-paged", Why: longWhy + "requests, heads, channels, lists, pages and positions; the last listed row counts",
			Phase: "decode", Contracts: twoContracts(),
			Shapes: []bench.Shape{
				inPages("d576", dims{"dim": 576}),
				inPages("b258", dims{"requests": 258, "dim": 2, "context": 3, "window": 2, "page": 2, "extra_page": 1}),
				again("n2050", dims{"context": 2060, "window": 2050, "ratio": 0}), inPages("h128", dims{"heads": 128}),
				inPages("pages-65536", dims{"dim": 1, "first": 1 << 16, "page": 1, "extra_page": 1}),
				inPages("d512", dims{"dim": 512}),
			},
			Change: lastCounts,
		},
		// Which rows run again in graph mode goes by their place: every second one, and never the largest.
		{
			ID: "long-positions", Why: longWhy + "positions beyond 2^20; the last listed row counts", Phase: "decode",
			Contracts: twoContracts(), Change: lastCounts,
			Shapes: []bench.Shape{again("positions-1048576", dims{"context": 1<<20 + 2, "ratio": 1})},
		},
		{
			ID: "long-rows", Why: longWhy + "rows of the cache beyond 2^20; the last listed row counts", Phase: "prefill",
			Contracts: []string{flashMLA}, Change: lastCounts,
			Shapes: []bench.Shape{small("rows-1048576", dims{"dim": 1, "first": 1 << 20})},
		},
		{
			ID: "long-extra", Why: longWhy + "the extra list; its last row counts", Phase: "decode",
			Contracts: twoContracts(), Change: lastCounts,
			Shapes: []bench.Shape{again("n2050", dims{"context": 2060, "top_k": 2050, "ratio": 1})},
		},
		{
			ID: "long-pages", Why: longWhy + "pages beyond 2^20; the last listed row counts", Phase: "decode",
			Contracts: []string{flashMLA}, Change: lastCounts,
			Shapes: []bench.Shape{
				inPages("pages-1048576", dims{"dim": 1, "first": 1 << 20, "page": 1, "extra_page": 1}),
			},
		},
		{
			ID: "long-packed", Why: longWhy + "queries, heads, channels and lists of a chunk; the last listed row counts",
			Phase: "extend", Contracts: twoContracts(), Change: lastCounts,
			Shapes: []bench.Shape{
				packed("t257", dims{"extend": 257}), packed("h128", dims{"heads": 128}), packed("d576", dims{"dim": 576}),
				packed("n2176", dims{"context": 8300, "window": 128, "top_k": 2048}),
			},
		},
	}
}

// lastCounts lists the last row of each cache last, and gives it a large score. Bytes of a page stay as they are.
func lastCounts(g bench.Gen, p *bench.Problem) error {
	for _, prefix := range prefixes(*p) {
		last := rowsOf(*p, prefix) - 1
		if _, paged := p.Operands[prefix+"block_table"]; paged {
			last = g.Shape.Dim("context") + g.Shape.Dim("extend") - 1
			if prefix != "" {
				last = (last+1)/max(g.Shape.Dim("ratio"), 1) - 1
			}
		}
		if err := editLists(p, prefix, func(_, lane, n, v int) int {
			if lane == n-1 {
				return last
			}
			return v
		}); err != nil {
			return err
		}
		if p.Attrs.Word("kv_layout") != "rows" {
			continue
		}
		p.Change("q", func(_ int, v float64) float64 { return math.Abs(v) + 1 })
		lists, err := listed(*p, prefix)
		if err != nil {
			return err
		}
		kv := p.Operands[prefix+"kv"]
		width := kv.Shape[len(kv.Shape)-1]
		for _, list := range lists {
			at := list[len(list)-1]
			for c := range width {
				kv.Values[at*width+c] = bench.Round(kv.DType, (2+float64(c%7)/2)/math.Sqrt(float64(width)))
			}
		}
	}
	return seal(p)
}

// longRows: a chunk of more queries than a tile, contexts to 131,072 tokens, lists to 2,048 rows that are full and that
// the context leaves short, and caches whose rows are counted beyond 20 bits.
func longRows() bench.Scenario {
	at := func(name string, requests, context, extend, k, ratio, window int) bench.Shape {
		return bench.S(name, map[string]int{
			"requests": requests, "context": context, "extend": extend, "top_k": k, "ratio": ratio, "window": window, "align": 4,
		})
	}
	return bench.Scenario{
		ID: "long", Why: longWhy + "queries, requests, context and list; rows of the cache beyond 2^20", Phase: "extend",
		Shapes: []bench.Shape{
			at("t257", 1, 40, 257, 4, 4, 8), at("b33", 33, 9, 2, 4, 4, 8), at("k2048", 1, 1<<17, 2, 2048, 2, 128),
			at("from-start-t257", 1, 0, 257, 256, 1, 8), at("k2048-c1", 1, 1<<17, 2, 2048, 1, 4),
			at("k2048-c128", 1, 1<<17, 1, 2048, 128, 4),
		},
		Change: func(_ bench.Gen, p *bench.Problem) error {
			for _, name := range []string{"window_base", "compressed_base"} {
				p.Change(name, func(_ int, v float64) float64 { return v + 1<<20 })
			}
			return nil
		},
	}
}
