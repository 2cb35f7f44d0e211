package indexer

import (
	"math"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// production is a chunk of 8,192 tokens of a long prompt over 6,912 compressed keys: 57 million logits.
func production() bench.Scenario {
	s := extend("nano", 8, 64, 4, 8192, 4*6912-8192)
	s.Name = "t8192-s6912"
	s.Dims["heads"], s.Dims["large"] = 2, 1
	return bench.Scenario{
		ID: "production", Why: "sizes at which 32-bit offsets of logits in bytes, and grids, come close to their limits; " +
			"two runs give equal bits", Phase: "extend",
		Contracts: []string{"fp32-bitwise"}, Full: true, Shapes: []bench.Shape{s}, Change: repeated(2),
	}
}

// sampled judges some rows of a large result element by element, and of all others the class of every logit and, under
// poison, every bit: as sums of their bit patterns.
func sampled(g bench.Gen, c bench.Case, p bench.Problem) ([]bench.Expected, error) {
	shape := p.Outputs["logits"].Shape
	lens := p.In("context_lens").Ints()
	chosen := []int{0, 1, 2, 3, shape[0]/2 - 1, shape[0] / 2, shape[0] - 2, shape[0] - 1}
	for t := range lens {
		if r := lens[t] % 64; len(chosen) < 64 && (r == 0 || r == 63) && t > 0 && lens[t] != lens[t-1] {
			chosen = append(chosen, t)
		}
	}
	for range 64 {
		chosen = append(chosen, g.IntN(shape[0]))
	}
	slices.Sort(chosen)
	chosen = slices.Compact(chosen)
	var pieces []piece
	for _, t := range chosen {
		pieces = append(pieces, piece{0, t, t + 1})
	}
	part, _ := cutPaged(p, pieces)
	rows, err := expectSmall(c, part)
	if err != nil {
		return nil, err
	}
	rows[0].Name, rows[0].From = "rows", func(out map[string][]float64) []float64 {
		got := out["logits"]
		if len(got) != shape[0]*shape[1] {
			return nil
		}
		var picked []float64
		for _, t := range chosen {
			picked = append(picked, got[t*shape[1]:(t+1)*shape[1]]...)
		}
		return picked
	}
	classes := bench.Expected{
		Name: "classes", Shape: []int{shape[0], 2}, Axes: []string{"query", "finite, -inf"}, Derivation: "counts are exact",
		From: func(out map[string][]float64) []float64 { return perRow(out["logits"], shape, lens, count) },
	}
	for _, n := range lens {
		classes.Want = append(classes.Want, float64(n), float64(shape[1]-n))
	}
	bits := bench.Expected{
		Name: "bits", Shape: []int{shape[0], 2}, Axes: []string{"query", "half"},
		Derivation: "two sums of bit patterns a row: equal with poison and without",
		Want:       make([]float64, 2*shape[0]), Bound: anyHalf(2 * shape[0]),
		From: func(out map[string][]float64) []float64 { return perRow(out["logits"], shape, lens, fold32) },
	}
	return append(rows, classes, bits), nil
}

// anyHalf admits every 32-bit number: only equality with the poisoned call is judged.
func anyHalf(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1 << 32
	}
	return out
}

// perRow applies f, which returns two numbers, to every row.
func perRow(got []float64, shape, lens []int, f func(row []float64, n int) (float64, float64)) []float64 {
	if len(got) != shape[0]*shape[1] {
		return nil
	}
	out := make([]float64, 0, 2*shape[0])
	for t, n := range lens {
		a, b := f(got[t*shape[1]:(t+1)*shape[1]], n)
		out = append(out, a, b)
	}
	return out
}

// count is how many logits of n visible ones are finite, and how many others are -inf.
func count(row []float64, n int) (finite, cleaned float64) {
	for j, v := range row {
		switch {
		case j < n && !math.IsInf(v, 0) && !math.IsNaN(v):
			finite++
		case j >= n && math.IsInf(v, -1):
			cleaned++
		}
	}
	return finite, cleaned
}

// fold32 is an FNV-1a sum of the bits, as two numbers that float64 holds.
func fold32(row []float64, _ int) (lo, hi float64) {
	h := uint64(14695981039346656037)
	for _, v := range row {
		h = (h ^ math.Float64bits(v)) * 1099511628211
	}
	return float64(h & 0xffffffff), float64(h >> 32)
}
