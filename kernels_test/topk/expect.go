package topk

import (
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/oracle"
)

// anyIndex bounds a slot that only the choice as a whole judges: no int32 lies farther from another.
const anyIndex = 1 << 33

// expectRows judges the chosen slots as a set, by the exact rule of ties on the row's own scores, and the tail as it
// stands. Want shows one admissible choice in ascending order.
func expectRows(c bench.Case, p bench.Problem) ([]bench.Expected, error) {
	scores, k := p.In("scores"), p.Attrs.Int("top_k")
	lengths := p.In("lengths").Ints()
	tie := oracle.LowestIndex
	if c.Contract.Special.TieBreak == highest {
		tie = oracle.HighestIndex
	}
	e := bench.Expected{
		Name: "indices", Shape: []int{len(lengths), k}, Axes: []string{"query", "slot"},
		Derivation: "scores are compared as they are given: the choice is exact but for ties; the tail is -1",
	}
	for t, n := range lengths {
		want, err := wanted(p, t, n, k, tie)
		if err != nil {
			return nil, err
		}
		for i := range k {
			e.Want = append(e.Want, float64(want[i]))
			e.Bound = append(e.Bound, 0)
			if i < n {
				e.Bound[len(e.Bound)-1] = anyIndex
			}
		}
	}
	e.Select = func(got []float64) []numerics.Selection {
		out := make([]numerics.Selection, len(lengths))
		for t, n := range lengths {
			logical := keysOf(p, t, n)
			s := numerics.Selection{Scores: scores.Row(t)[:n], K: k}
			for _, v := range got[t*k : t*k+min(k, n)] {
				s.Chosen = append(s.Chosen, logical(int(v)))
			}
			out[t] = s
		}
		return out
	}
	out := []bench.Expected{e}
	if c.Scenario.Relate != nil {
		// Metamorphic rows: the same sets, whatever the order of slots. Scores of such rows are distinct.
		set := bench.Expected{
			Name: "indices-as-sets", Shape: e.Shape, Axes: e.Axes, Want: sorted(e.Want, k),
			Bound:      slices.Repeat([]float64{anyIndex}, len(e.Want)),
			Derivation: "the same choice, sorted", From: func(out map[string][]float64) []float64 {
				return sorted(out["indices"], k)
			},
		}
		out = append(out, set)
	}
	return out, nil
}

// wanted is one admissible row of the output.
func wanted(p bench.Problem, t, n, k int, tie oracle.TieRule) ([]int, error) {
	row := p.In("scores").Row(t)
	table, paged := tableOf(p, t)
	if paged {
		return oracle.SelectTopKPages(row, n, k, tie, table, p.Attrs.Int("page_size"))
	}
	chosen, err := oracle.SelectTopK(row, n, k, tie)
	if err != nil {
		return nil, err
	}
	for len(chosen) < k {
		chosen = append(chosen, -1)
	}
	return chosen, nil
}

// tableOf is the row of the page table that a query goes through, and whether there is one.
func tableOf(p bench.Problem, t int) ([]int, bool) {
	if _, ok := p.Operands["block_table"]; !ok {
		return nil, false
	}
	table := p.In("block_table")
	width := table.Dim(1)
	b := int(p.In("request").Data[t])
	return table.Ints()[b*width : (b+1)*width], true
}

// keysOf turns an index in the output into the key that it stands for, -1 where it stands for none that the query sees.
func keysOf(p bench.Problem, t, n int) func(int) int {
	table, paged := tableOf(p, t)
	if !paged {
		return func(i int) int { return i }
	}
	size := p.Attrs.Int("page_size")
	first := make(map[int]int)
	for i := range (n + size - 1) / size {
		first[table[i]] = i * size
	}
	return func(row int) int {
		if row < 0 {
			return -1
		}
		s, ok := first[row/size]
		if !ok {
			return -1
		}
		return s + row%size
	}
}

// sorted sorts every row of k values.
func sorted(v []float64, k int) []float64 {
	if k == 0 || len(v)%k != 0 {
		return v
	}
	out := slices.Clone(v)
	for row := range slices.Chunk(out, k) {
		slices.Sort(row)
	}
	return out
}
