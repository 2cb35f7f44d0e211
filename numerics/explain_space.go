package numerics

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/assay-suite/assay/numerics/format"
)

// accumulators lists what is searched for operands of a format, known hardware first. known selects the models that
// have been measured or published (docs/sources.md; north-numerical-computing/MATLAB-tensor-core, models/*TC.m); the
// rest is a grid around them.
func accumulators(f format.Format, known bool) []Accumulator {
	block := func(b, f, r int, m format.Rounding) Accumulator {
		return Accumulator{Block: b, Align: f, Result: r, Rounding: m, Order: Sequential}
	}
	scalars := []Accumulator{
		{Result: 23, Order: Sequential}, {Result: 23, Order: Sequential, Fused: true}, {Result: 23, Order: Pairwise},
	}
	var grid []Accumulator
	var blocks, aligns []int
	switch {
	case f.Width() <= 8:
		if known {
			return []Accumulator{block(32, 13, 13, format.RZ), block(16, 13, 13, format.RZ), block(32, 25, 23, format.RZ)}
		}
		blocks, aligns = []int{8, 16, 32, 64, 128}, []int{10, 11, 12, 13, 14, 15, 16, 21, 22, 23, 24, 25, 26, 27}
	case f == format.FP32:
		if known {
			return scalars
		}
		for c := 4; c <= 1024; c *= 2 {
			for _, fused := range []bool{false, true} {
				grid = append(grid, Accumulator{Result: 23, Order: Blocked, Chunk: c, Fused: fused})
			}
		}
		return grid
	default:
		if known && f == format.TF32 {
			return []Accumulator{block(8, 25, 23, format.RZ), block(4, 25, 23, format.RZ), block(4, 24, 23, format.RZ)}
		}
		if known {
			return []Accumulator{
				block(16, 25, 23, format.RZ), block(8, 24, 23, format.RZ), block(8, 25, 23, format.RZ), block(4, 23, 23, format.RZ),
			}
		}
		blocks, aligns = []int{4, 8, 16, 32}, []int{21, 22, 23, 24, 25, 26, 27}
	}
	grid = append(grid, scalars...)
	grid = append(grid, Accumulator{Result: 7, Order: Sequential}, Accumulator{Result: 10, Order: Sequential})
	for _, mode := range []format.Rounding{format.RZ, format.RN} {
		for _, b := range blocks {
			for _, f := range aligns {
				grid = append(grid, block(b, f, min(f, 23), mode))
				if f < 23 {
					grid = append(grid, block(b, f, 23, mode))
				}
			}
		}
	}
	return grid
}

// partitions cuts an accumulator's sum in every way that is searched: one chain, then pieces, round sizes first. A
// piece of s products added in fp32 is a split or a promotion, which are the same arithmetic; fp8 is described by
// promotion.
func partitions(a Accumulator, f format.Format, k int) []Accumulator {
	out := []Accumulator{a}
	if a.Block == 0 && a.Result != 23 {
		return out
	}
	for _, size := range pieces(a, k) {
		cut := a
		if f.Width() <= 8 && size <= 1024 && a.Block > 0 {
			cut.Promote = size
		} else {
			cut.Splits = []Split{{Size: size}}
		}
		out = append(out, cut)
	}
	return out
}

// pieces lists piece lengths: K over every count up to 256, rounded up to a tile of 8 to 128 products, and the powers
// of two. They are multiples of the block, since a block is not cut.
func pieces(a Accumulator, k int) []int {
	b := max(a.Block, 1)
	var sizes []int
	for n := 2; n <= 256 && n <= k; n++ {
		for _, tile := range []int{8, 16, 32, 64, 128} {
			sizes = append(sizes, ((k+n-1)/n+tile-1)/tile*tile)
		}
	}
	for p := 16; p < k; p *= 2 {
		sizes = append(sizes, p)
	}
	sizes = slices.DeleteFunc(sizes, func(s int) bool { return s >= k || s%b != 0 })
	slices.SortFunc(sizes, func(x, y int) int {
		return cmp.Or(bits.OnesCount(uint(x))-bits.OnesCount(uint(y)), y-x) // round sizes first, then large ones
	})
	return slices.Compact(sizes)
}
