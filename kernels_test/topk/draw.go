package topk

import (
	"github.com/assay-suite/assay/kernels_test/bench"
)

// drawRows draws Gaussian scores and lengths of every kind.
func drawRows(b bench.Gen) (bench.Problem, error) {
	g := genOf(b)
	p := bench.Problem{
		Attrs: bench.Attrs{"top_k": float64(g.k), "tie_break": g.Contract.Special.TieBreak},
		Operands: map[string]bench.Operand{
			"scores":  bench.Floats(bench.F32, g.Normal(g.rows*g.width, 4), g.rows, g.width),
			"lengths": bench.Ints(g.mixed(), g.rows),
		},
		Outputs: map[string]bench.Output{"indices": bench.OutI32(g.rows, g.k)},
	}
	hide(&p)
	return p, nil
}

// drawPages adds a shuffled table: no sequence's pages are in order, none begins at page 0, and queries of a sequence
// are not next to each other.
func drawPages(b bench.Gen) (bench.Problem, error) {
	p, err := drawRows(b)
	if err != nil {
		return p, err
	}
	g := genOf(b)
	columns := (g.width+g.page-1)/g.page + 2
	ids := g.Perm(3 * g.requests * columns)
	table := make([]int, g.requests*columns)
	for i := range table {
		table[i] = ids[i] + 5
	}
	request := make([]int, g.rows)
	for t := range request {
		request[t] = (t*2 + 1) % g.requests
	}
	p.Attrs["page_size"] = float64(g.page)
	p.Operands["block_table"] = bench.Ints(table, g.requests, columns)
	p.Operands["request"] = bench.Ints(request, g.rows)
	hide(&p)
	return p, nil
}

// mixed are lengths from none to all, ranked rows first.
func (g gen) mixed() []int {
	out := make([]int, g.rows)
	for t := range out {
		n := []int{
			g.width, g.k + 2 + g.IntN(max(g.width-g.k, 1)), g.k + 1, g.k, g.k / 2, 0, g.width - 1, 1, g.IntN(g.width + 1),
		}[t%9]
		out[t] = max(0, min(n, g.width))
	}
	return out
}

// hide marks what the lengths leave unread. Whoever changes lengths, tables or requests calls it again.
func hide(p *bench.Problem) {
	lengths, width := p.In("lengths").Ints(), p.In("scores").Dim(1)
	p.Unread = map[string]func(int) bool{
		"scores": func(i int) bool { return i%width >= lengths[i/width] },
	}
	if _, paged := p.Operands["block_table"]; !paged {
		return
	}
	table, size := p.In("block_table"), p.Attrs.Int("page_size")
	seen := make([]int, table.Dim(0)) // keys of each sequence that some query sees
	for t, b := range p.In("request").Ints() {
		seen[b] = max(seen[b], lengths[t])
	}
	p.Unread["block_table"] = func(i int) bool { return i%table.Dim(1)*size >= seen[i/table.Dim(1)] }
}

// change edits what was drawn.
type change func(g gen, p *bench.Problem)

func edit(c ...change) func(bench.Gen, *bench.Problem) error {
	return func(g bench.Gen, p *bench.Problem) error {
		for _, f := range c {
			f(genOf(g), p)
		}
		hide(p)
		return nil
	}
}

// scored gives every visible key a score by its place in the row, of n visible ones; what is beyond keeps what it has.
func scored(f func(g gen, t, i, n int) float64) change {
	return func(g gen, p *bench.Problem) {
		lengths := p.In("lengths").Ints()
		p.Change("scores", func(at int, v float64) float64 {
			if t, i := at/g.width, at%g.width; i < lengths[t] {
				return f(g, t, i, lengths[t])
			}
			return v
		})
	}
}

// lengths sets how many keys each query sees.
func lengths(f func(g gen, t int) int) change {
	return func(g gen, p *bench.Problem) {
		p.Change("lengths", func(t int, _ float64) float64 { return float64(max(0, min(f(g, t), g.width))) })
	}
}

// ranked gives every row more keys than slots, no two rows as many.
var ranked = lengths(func(g gen, t int) int { return max(g.width-t, g.k+1) })
