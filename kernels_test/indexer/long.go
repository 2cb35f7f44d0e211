package indexer

import (
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

const longWhy = "one dimension at a time beyond every tile, to the extents that ship: "

// longRagged: a chunk of 257 queries, and one query over 131,072 keys.
func longRagged() bench.Scenario {
	var out []bench.Shape
	for _, bits := range []int{8, 16} {
		out = append(out, ragged("long", bits, 1, 257, 0))
	}
	out = append(out, ragged("long", 8, 1, 1, 1, 1<<17-6))
	return bench.Scenario{ID: "long", Why: longWhy + "queries and keys", Phase: "prefill", Contracts: exact, Shapes: out}
}

// longPaged: one query over 8,200 keys in 2,050 pages, 33 requests, and a chunk of 257 queries.
func longPaged() []bench.Scenario {
	var keys, chunks []bench.Shape
	for _, bits := range []int{8, 16} {
		keys = append(keys, decode("pages", bits, 4, 1, 1, 8199),
			decode("pages", bits, 4, 1, 1, slices.Repeat([]int{5}, 33)...))
		chunks = append(chunks, extend("pages", bits, 64, 1, 257, 300))
	}
	return []bench.Scenario{
		{ID: "long", Why: longWhy + "keys, pages and requests", Phase: "decode", Contracts: exact, Shapes: keys},
		{ID: "long-chunk", Why: longWhy + "queries of a chunk", Phase: "extend", Contracts: exact, Shapes: chunks},
	}
}
