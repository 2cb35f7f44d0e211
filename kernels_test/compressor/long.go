package compressor

import "github.com/assay-suite/assay/kernels_test/bench"

const longWhy = "one dimension at a time beyond every tile, to the extents that ship: "

// longShapes are both operators' rows of many channels, of one sequence of 131,200 tokens whose last block is the last
// of 1,025, and of a single block, whose gates are as many as its biases.
func longShapes() bench.Scenario {
	named := func(name string, ratio, width, overlap, blocks, requests int) bench.Shape {
		s := shape("", ratio, width, overlap, blocks, requests)
		s.Name = name
		return s
	}
	return bench.Scenario{
		ID: "long", Why: longWhy + "channels, tokens, blocks and sequences", Contracts: sharp,
		Shapes: []bench.Shape{
			named("w576", 4, 576, 0, 1, 1), named("n131200", 128, 1, 0, 1025, 1), named("one-block", 4, 9, 0, 1, 1),
			named("w576-overlap", 4, 576, 1, 2, 1), named("b33", 4, 2, 1, 1, 33),
		},
	}
}

// longCompress: whole sequences.
func longCompress() bench.Scenario {
	s := longShapes()
	s.Change = sequences(func(g gen) []int {
		out := make([]int, g.requests)
		for i := range out {
			out[i] = g.pool.Ratio * g.blocks
		}
		return out
	})
	return s
}

// longExtend: pieces that continue one token before the end of a block, and states of 256 rows.
func longExtend() []bench.Scenario {
	s := longShapes()
	s.Phase = "extend"
	s.Shapes = append(s.Shapes, shape("long", 128, 2, 1, 1, 1))
	s.Change = stepping(func(g gen, _ int) (int, int) { return 2*g.pool.Ratio - 1, g.pool.Ratio * g.blocks })
	far := bench.Scenario{
		ID: "long-start", Why: longWhy + "positions beyond 2^20, at ratios that do not divide a power of two",
		Phase: "decode", Contracts: sharp, Shapes: []bench.Shape{shape("odd", 3, 7, 1, 4, 4), shape("odd", 5, 11, 0, 3, 4)},
		Change: stepping(func(_ gen, i int) (int, int) { return 1<<20 + i, 2 + i }),
	}
	return []bench.Scenario{s, far}
}
