package exact

import (
	"fmt"
	"slices"

	"github.com/assay-suite/assay/internal/nano"
)

// Cell is one prompt of the fixed set.
type Cell struct {
	ID     string
	Length int     // prompt tokens, chat frame included
	Depth  float64 // of the needle, 0 start to 1 end
	Seed   uint64  // of the needle: the first with which the model answers exactly
	Burst  int     // above 0: also asked at once with the others of this number
}

// The shortest prompts have every residue of a page of 64, and so of 4, 16 and 32.
const (
	shortest = 96
	page     = 64
)

// Cells are the prompts of a model: every residue of a page, one token on both sides of each power of two up to 2,048
// (pages, chunk edges, the ends of compressed blocks), and around the length from which the indexer ranks.
// Seeds are not set.
func Cells(c nano.Config) []Cell {
	var lengths []int
	for n := shortest; n < shortest+page; n++ {
		lengths = append(lengths, n)
	}
	for n := 256; n <= 2048; n *= 2 {
		lengths = append(lengths, n-1, n, n+1)
	}
	lengths = append(lengths, 4096)
	for i, ratio := range c.Ratios {
		if c.Sparse[i] { // the position from which more rows are visible than are selected
			ranked := (c.TopK+1)*ratio - 1
			lengths = append(lengths, ranked, ranked+1, ranked+2)
		}
	}
	slices.Sort(lengths)
	var cells []Cell
	for i, n := range slices.Compact(lengths) {
		_, depth := divide(float64(i) * weyl)
		cells = append(cells, Cell{ID: fmt.Sprintf("fidelity/exact/len-%d", n), Length: n, Depth: depth})
	}
	return batched(cells)
}

// weyl is the golden ratio, whose multiples fill an interval evenly at every count (Weyl 1916).
const weyl = 0.6180339887498949

func divide(v float64) (whole int, rest float64) {
	whole = int(v)
	return whole, v - float64(whole)
}

// atOnce is the size of a burst.
const atOnce = 16

// batched puts two bursts together: short prompts of many residues, and prompts of all lengths up to 1,025, where a
// long one is still being read while short ones are answered.
func batched(cells []Cell) []Cell {
	short, mixed := 0, 0
	for i, c := range cells {
		switch {
		case c.Length < shortest+page && i%4 == 1 && short < atOnce:
			cells[i].Burst = 1
			short++
		case (c.Length < shortest+page && i%8 == 3 || c.Length >= 255 && c.Length <= 1025) && mixed < atOnce:
			cells[i].Burst = 2
			mixed++
		}
	}
	return cells
}
