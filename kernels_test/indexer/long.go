package indexer

import (
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

const longWhy = "one dimension at a time beyond every tile, to the extents that ship: "

// longRagged: a chunk of 257 queries, 128 heads, and one query over 131,072 keys.
func longRagged() bench.Scenario {
	var out []bench.Shape
	for _, bits := range []int{8, 16} {
		out = append(out, ragged("long", bits, 1, 257, 0))
	}
	out = append(out, ragged("long", 8, 1, 1, 1, 1<<17-6), ragged("heads", 8, 1, 2, 9), ragged("heads", 16, 1, 2, 9))
	last := ragged("long", 8, 1, 1, 1<<17-6, 9)
	last.Name += "-first" // the second range begins beyond 2^16
	out = append(out, last)
	return bench.Scenario{ID: "long", Why: longWhy + "queries and keys", Phase: "prefill", Contracts: exact, Shapes: out}
}

// longPaged: one query over 8,200 keys in 2,050 pages and over 131,072 keys, 33 requests, chunks of 257 queries and
// behind 131,000 keys, pages beyond 2^16 in each format and beyond 2^20 in the smallest one.
func longPaged() []bench.Scenario {
	var keys, chunks, pages []bench.Shape
	for _, bits := range []int{8, 16} {
		keys = append(keys, decode("pages", bits, 4, 1, 1, 8199),
			decode("pages", bits, 4, 1, 1, slices.Repeat([]int{5}, 33)...))
		chunks = append(chunks, extend("pages", bits, 64, 1, 257, 300))
	}
	high := func(model string, bits, first int) bench.Shape {
		return decode(model, bits, 1, 1, 1, 20, 9).With(slug("%s-first%d", formats[bits], first), "first", first)
	}
	pages = append(pages, high("pages", 8, 1<<16), high("long", 16, 1<<16), high("pages", 4, 1<<16))
	many := func(s bench.Shape) bench.Shape { return s.With(s.Name+"-shared", "shared", 5) }
	return []bench.Scenario{
		{ID: "long", Why: longWhy + "keys, pages and requests", Phase: "decode", Contracts: exact, Shapes: keys},
		{ID: "long-chunk", Why: longWhy + "queries of a chunk", Phase: "extend", Contracts: exact, Shapes: chunks},
		{
			ID: "long-keys", Why: longWhy + "131,072 keys", Phase: "decode", Contracts: exact,
			Shapes: []bench.Shape{many(decode("pages", 8, 64, 1, 1, 1<<17-1)), many(decode("long", 16, 64, 1, 1, 1<<17-1))},
		},
		{
			ID: "long-prefix", Why: longWhy + "a chunk behind 131,000 keys", Phase: "extend", Contracts: exact,
			Shapes: []bench.Shape{many(extend("pages", 8, 64, 1, 2, 1<<17-4))},
		},
		{ID: "long-pages", Why: longWhy + "pages beyond 2^16", Phase: "decode", Contracts: exact, Shapes: pages},
		{
			ID: "long-heads", Why: longWhy + "128 heads", Phase: "decode", Contracts: exact,
			Shapes: []bench.Shape{
				decode("heads", 8, 8, 1, 1, 20, 9), decode("heads", 16, 8, 1, 1, 20, 9),
			},
		},
		{
			ID: "long-pool", Why: longWhy + "pages beyond 2^20", Phase: "decode", Contracts: exact,
			Shapes: []bench.Shape{high("one", 16, 1<<20)},
		},
	}
}

// longStore: tokens, positions, and slots beyond 2^16 and 2^20; and an eps that counts.
func longStore() []bench.Scenario {
	slots := func(first int) bench.Shape {
		return storing(oneChannel, 40, 1, 0, 1).With(slug("slot-%d", first), "slot", first)
	}
	return []bench.Scenario{
		{ID: "long-tokens", Why: longWhy + "tokens", Shapes: ways(257, 4, 0, 4, "plain-bf16", "plain-fp8")},
		{
			ID: "long-positions", Why: longWhy + "positions beyond 2^20",
			Shapes: ways(4, 4, 1<<20-6, 4, "v32", "v4", "v4-bf16"),
		},
		{
			ID: "long-slots", Why: longWhy + "slots and pages beyond 2^16 and 2^20",
			Shapes: []bench.Shape{slots(1 << 16), slots(1 << 20)},
		},
		{
			ID: "eps", Why: "an eps that is a fifth of the variance", Shapes: ways(5, 4, 9, 4, "v32", "v4"),
			Change: bench.Set(bench.Attrs{"norm_eps": 0.3}),
		},
	}
}
