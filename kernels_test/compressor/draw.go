package compressor

import (
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle"
)

// ends are how many tokens each sequence has before and after a call.
type ends struct{ before, after []int }

// tokens sums the new ones.
func (e ends) tokens() int {
	n := 0
	for i := range e.after {
		n += e.after[i] - e.before[i]
	}
	return n
}

// mixed ends at every remainder by turns; a batch of more than three has an empty sequence.
func (g gen) mixed() []int {
	out := make([]int, g.requests)
	for i := range out {
		out[i] = g.pool.Ratio*(g.blocks+i%2) + (i*(1+g.pool.Ratio/2)+g.pool.Ratio-1)%g.pool.Ratio
		if i == 3 {
			out[i] = 0
		}
	}
	return out
}

func (g gen) outDType() string {
	if g.Contract.Name == bf16Out {
		return bench.BF16
	}
	return bench.F32
}

func (g gen) attrs() bench.Attrs {
	return bench.Attrs{"ratio": float64(g.pool.Ratio), "overlap": g.pool.Overlap, "head_dim": float64(g.pool.Width)}
}

// compress draws sequences that begin at position 0.
func (g gen) compress(lengths []int) bench.Problem {
	starts, blocks, n := []int{0}, 0, 0
	for _, l := range lengths {
		n += l
		blocks += l / g.pool.Ratio
		starts = append(starts, n)
	}
	p := bench.Problem{
		Attrs: g.attrs(), Operands: g.operands(n),
		Outputs: map[string]bench.Output{"c": bench.Out(g.outDType(), blocks, g.pool.Width)},
	}
	p.Operands["cu_seqlens"] = bench.Ints(starts, len(starts))
	hide(&p)
	return p
}

// operands are values off zero, gates of a few units and a bias that differs from position to position.
func (g gen) operands(n int) map[string]bench.Operand {
	c, r := g.pool.Channels(), g.pool.Ratio
	kv := g.Normal(n*c, 1.3)
	for i := range kv {
		kv[i] += 0.4
	}
	return map[string]bench.Operand{
		"kv":   bench.Floats(bench.F32, kv, n, c),
		"gate": bench.Floats(bench.F32, g.Normal(n*c, 1.5), n, c),
		"ape":  bench.Floats(bench.F32, g.Normal(r*c, 1), r, c),
	}
}

// extend draws pieces of sequences. What they had before is drawn, pushed through the oracle's stream and laid into a
// pool of states in no order of slots.
func (g gen) extend(e ends) (bench.Problem, error) {
	c, states := g.pool.Channels(), g.stateRows()
	slots := 2*g.requests + 1
	p := bench.Problem{
		Attrs: g.attrs(), Operands: g.operands(e.tokens()),
	}
	starts, blocks, n := []int{0}, 0, 0
	for i := range e.after {
		n += e.after[i] - e.before[i]
		starts = append(starts, n)
		blocks += e.after[i]/g.pool.Ratio - e.before[i]/g.pool.Ratio
	}
	slot := g.Perm(slots)[:g.requests]
	kv, gate := g.Normal(slots*states*c, 1.3), g.Normal(slots*states*c, 1.5)
	ape := p.In("ape").Mat()
	for i, before := range e.before {
		row := g.states(before, ape)
		copy(kv[slot[i]*states*c:], row.kv)
		copy(gate[slot[i]*states*c:], row.gate)
	}
	p.Operands["cu_seqlens"] = bench.Ints(starts, len(starts))
	p.Operands["start"] = bench.Ints(e.before, g.requests)
	p.Operands["slot"] = bench.Ints(slot, g.requests)
	p.Operands["state_kv"] = bench.Floats(bench.F32, kv, slots, states, c)
	p.Operands["state_gate"] = bench.Floats(bench.F32, gate, slots, states, c)
	p.Outputs = map[string]bench.Output{
		"c":              bench.Out(g.outDType(), blocks, g.pool.Width),
		"new_state_kv":   bench.Out(bench.F32, g.requests, states, c),
		"new_state_gate": bench.Out(bench.F32, g.requests, states, c),
	}
	hide(&p)
	return p, nil
}

func (g gen) stateRows() int { return rowsOf(g.pool) }

// rowsOf is how many rows a sequence's state has.
func rowsOf(p oracle.Pooling) int {
	if p.Overlap {
		return 2 * p.Ratio
	}
	return p.Ratio
}

// state is one sequence's state, [R, C].
type state struct{ kv, gate []float64 }

// states draws the tokens that a sequence had before and keeps of them what its state holds: the last ones suffice.
// Gates are biased in fp32.
func (g gen) states(before int, ape oracle.Mat) state {
	c, rows := g.pool.Channels(), g.stateRows()
	out := state{g.Normal(rows*c, 1.3), g.Normal(rows*c, 1.5)} // rows that hold nothing keep noise
	for at := range rows {
		e, ok := tokenAt(g.pool, at, before)
		if !ok {
			continue
		}
		for d := range c {
			out.gate[at*c+d] = float64(float32(out.gate[at*c+d]) + float32(ape.Row(e % g.pool.Ratio)[d]))
		}
	}
	return out
}

// tokenAt is the position of the token in a row of the state of a sequence of n tokens; false where the row holds none.
func tokenAt(p oracle.Pooling, row, n int) (position int, ok bool) {
	whole := n - n%p.Ratio
	if p.Overlap {
		if row < p.Ratio {
			return whole - p.Ratio + row, whole > 0
		}
		row -= p.Ratio
	}
	return whole + row, row < n%p.Ratio
}

// counts tells whether an element of a sequence's state holds something: of the block before, the first half of the
// channels.
func counts(p oracle.Pooling, row, channel, n int) bool {
	_, ok := tokenAt(p, row, n)
	return ok && (!p.Overlap || row >= p.Ratio || channel < p.Width)
}

// hide marks what no block and no state looks at. Whoever changes lengths, starts or slots calls it again.
func hide(p *bench.Problem) {
	pool := poolOf(p.Attrs)
	cu := p.In("cu_seqlens").Ints()
	c := pool.Channels()
	p.Unread = map[string]func(int) bool{}
	if _, ok := p.Operands["start"]; !ok {
		last := make([]int, cu[len(cu)-1]) // of each token: complete blocks after its own, -1 where it is in none
		for i := range cu[1:] {
			n := cu[i+1] - cu[i]
			for t := range n {
				last[cu[i]+t] = n/pool.Ratio - 1 - t/pool.Ratio
			}
		}
		unread := func(i int) bool {
			left := last[i/c]
			return left < 0 || pool.Overlap && left == 0 && i%c < pool.Width
		}
		p.Unread["kv"], p.Unread["gate"] = unread, unread
		return
	}
	start, slot := p.In("start").Ints(), p.In("slot").Ints()
	owner := map[int]int{}
	for i, s := range slot {
		owner[s] = i
	}
	rows := rowsOf(pool)
	unread := func(at int) bool {
		i, ok := owner[at/(rows*c)]
		return !ok || !counts(pool, at/c%rows, at%c, start[i])
	}
	p.Unread["state_kv"], p.Unread["state_gate"] = unread, unread
}

// poolOf reads the attributes.
func poolOf(a bench.Attrs) oracle.Pooling {
	return oracle.Pooling{Ratio: a.Int("ratio"), Width: a.Int("head_dim"), Overlap: a.Flag("overlap")}
}
