package compressor

import (
	"errors"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// piece is tokens [from, to) of some sequences of a problem, from and to counted from its new tokens. A state that it
// begins with is the exact one: values are copies, gates fp32 sums.
type piece struct {
	seq      []int
	from, to []int
}

// of makes a piece a problem of its own.
func (w piece) of(p bench.Problem) bench.Problem {
	pool := poolOf(p.Attrs)
	c, rows := pool.Channels(), rowsOf(pool)
	cu, ape := p.In("cu_seqlens").Ints(), p.In("ape")
	_, extends := p.Operands["start"]
	out := p.Clone()
	out.Layout = map[string]bench.Layout{}
	var kv, gate []float64
	ends, starts, slots, blocks := []int{0}, []int{}, []int{}, 0
	for j, i := range w.seq {
		kv = append(kv, p.In("kv").Data[(cu[i]+w.from[j])*c:(cu[i]+w.to[j])*c]...)
		gate = append(gate, p.In("gate").Data[(cu[i]+w.from[j])*c:(cu[i]+w.to[j])*c]...)
		ends = append(ends, len(kv)/c)
		l := lineOf(p, i)
		at := l.start + w.from[j]
		blocks += (l.start+w.to[j])/pool.Ratio - at/pool.Ratio
		if !extends {
			continue
		}
		slot := p.In("slot").Ints()[i]
		starts, slots = append(starts, at), append(slots, slot)
		for row := range rows {
			e, held := tokenAt(pool, row, at)
			for d := range c {
				if !held {
					continue
				}
				k := (slot*rows+row)*c + d
				out.Operands["state_kv"].Values[k] = l.kv[e-l.base][d]
				g := l.gate[e-l.base][d]
				if e >= l.start {
					g = float64(float32(g) + float32(ape.Row(e % pool.Ratio)[d]))
				}
				out.Operands["state_gate"].Values[k] = g
			}
		}
	}
	n := len(kv) / c
	out.Operands["kv"] = bench.Operand{DType: bench.F32, Shape: []int{n, c}, Values: kv}
	out.Operands["gate"] = bench.Operand{DType: bench.F32, Shape: []int{n, c}, Values: gate}
	out.Operands["cu_seqlens"] = bench.Ints(ends, len(ends))
	out.Outputs["c"] = bench.Out(p.Outputs["c"].DType, blocks, pool.Width)
	if extends {
		out.Operands["start"], out.Operands["slot"] = bench.Ints(starts, len(starts)), bench.Ints(slots, len(slots))
		for _, name := range []string{"new_state_kv", "new_state_gate"} {
			out.Outputs[name] = bench.Out(bench.F32, len(w.seq), rows, c)
		}
	}
	hide(&out)
	return out
}

// cut makes pieces of a problem that has n new tokens of each sequence.
type cut func(g gen, n []int) []piece

// relation runs pieces and puts rows and states together again: rows in the order of positions, states from the last
// piece of each sequence.
func relation(c cut) func(bench.Gen, bench.Problem) (bench.Relation, error) {
	return func(b bench.Gen, p bench.Problem) (bench.Relation, error) {
		pool, cu := poolOf(p.Attrs), p.In("cu_seqlens").Ints()
		var n []int
		for i := range cu[1:] {
			n = append(n, cu[i+1]-cu[i])
		}
		parts := c(genOf(b), n)
		var r bench.Relation
		for _, w := range parts {
			r.Parts = append(r.Parts, w.of(p))
		}
		size := rowsOf(pool) * pool.Channels()
		r.Join = func(got []bench.Results) (bench.Results, error) {
			rows, kv, gate := make([][]float64, len(n)), make([]float64, len(n)*size), make([]float64, len(n)*size)
			for at, w := range parts {
				left := got[at]["c"]
				for j, i := range w.seq {
					start := lineOf(p, i).start
					blocks := (start+w.to[j])/pool.Ratio - (start+w.from[j])/pool.Ratio
					if len(left) < blocks*pool.Width {
						return nil, errors.New("a part has fewer rows than its pieces complete")
					}
					rows[i] = append(rows[i], left[:blocks*pool.Width]...)
					left = left[blocks*pool.Width:]
					if _, ok := p.Operands["start"]; ok && len(got[at]["new_state_kv"]) == len(w.seq)*size {
						copy(kv[i*size:(i+1)*size], got[at]["new_state_kv"][j*size:])
						copy(gate[i*size:(i+1)*size], got[at]["new_state_gate"][j*size:])
					}
				}
			}
			return bench.Results{"c": slices.Concat(rows...), "new_state_kv": kv, "new_state_gate": gate}, nil
		}
		return r, nil
	}
}

// alone runs every sequence by itself.
func alone(_ gen, n []int) []piece {
	var out []piece
	for i := range n {
		out = append(out, piece{[]int{i}, []int{0}, []int{n[i]}})
	}
	return out
}

// permuted runs the sequences in another order.
func permuted(g gen, n []int) []piece {
	var w piece
	for _, i := range g.Perm(len(n)) {
		w.seq, w.from, w.to = append(w.seq, i), append(w.from, 0), append(w.to, n[i])
	}
	return []piece{w}
}

// whole leaves out the tokens after the last complete block of sequences that begin at position 0.
func whole(g gen, n []int) []piece {
	var w piece
	for i := range n {
		w.seq, w.from, w.to = append(w.seq, i), append(w.from, 0), append(w.to, n[i]-n[i]%g.pool.Ratio)
	}
	return []piece{w}
}

// between runs pieces of all sequences between cuts, which at gives for sequence i of n tokens, in ascending order; a
// piece may be empty.
func between(at func(g gen, i, n int) []int) cut {
	return func(g gen, n []int) []piece {
		var cuts [][]int
		longest := 0
		for i := range n {
			cuts = append(cuts, append(append([]int{0}, at(g, i, n[i])...), n[i]))
			longest = max(longest, len(cuts[i]))
		}
		var out []piece
		for k := range longest - 1 {
			var w piece
			for i := range n {
				c := cuts[i]
				w.seq, w.from, w.to = append(w.seq, i), append(w.from, c[min(k, len(c)-1)]), append(w.to, c[min(k+1, len(c)-1)])
			}
			out = append(out, w)
		}
		return out
	}
}

var (
	// halved cuts sequence i after i tokens.
	halved = between(func(_ gen, i, n int) []int { return []int{min(i, n)} })
	// singles are decode steps.
	singles = between(func(_ gen, _, n int) []int {
		var out []int
		for t := 1; t < n; t++ {
			out = append(out, t)
		}
		return out
	})
	// uneven cuts into pieces of 1, 2, 3, ... tokens, another first one for each sequence.
	uneven = between(func(_ gen, i, n int) []int {
		var out []int
		for at, step := 1+i%3, 2; at < n; at, step = at+step, step+1 {
			out = append(out, at)
		}
		return out
	})
	// chunked cuts into chunks of a block and a half.
	chunked = between(func(g gen, _, n int) []int {
		var out []int
		for at := g.pool.Ratio + g.pool.Ratio/2; at < n; at += g.pool.Ratio + g.pool.Ratio/2 {
			out = append(out, at)
		}
		return out
	})
)

func compressRelations() []bench.Scenario {
	return []bench.Scenario{
		{
			ID:        "alone",
			Why:       "every sequence alone gives what it gives in a batch",
			Contracts: sharp,
			Shapes:    narrow(5),
			Relate:    relation(alone),
		},
		{
			ID:        "permuted",
			Why:       "the sequences in another order",
			Contracts: sharp,
			Shapes:    narrow(5),
			Relate:    relation(permuted),
		},
		{
			ID:        "left-over",
			Why:       "without the tokens after the last complete block",
			Contracts: sharp,
			Shapes:    narrow(5),
			Relate:    relation(whole),
		},
	}
}

func extendRelations() []bench.Scenario {
	r4 := []bench.Shape{shape("narrow", 4, 6, 1, 3, 14), shape("plain", 4, 5, 0, 3, 14), shape("odd", 3, 4, 1, 4, 12)}
	r128 := []bench.Shape{shape("narrow", 128, 2, 0, 2, 10)}
	from0 := stepping(func(g gen, i int) (int, int) { return 0, g.pool.Ratio*g.blocks + i%g.pool.Ratio })
	later := stepping(func(g gen, i int) (int, int) { return g.pool.Ratio + i, g.pool.Ratio*2 + i%3 })
	spread := between(func(_ gen, i, n int) []int { return []int{min(n, i*27+1)} })
	return []bench.Scenario{
		{
			ID:        "two-chunks",
			Phase:     "prefill",
			Why:       "one shot and two chunks, cut after 0, 1, 2, ... tokens, at every remainder of the end",
			Contracts: sharp,
			Shapes:    r4,
			Change:    from0,
			Relate:    relation(halved),
		},
		{
			ID:        "two-chunks-long",
			Phase:     "prefill",
			Why:       "the same at ratio 128, cut at other tokens",
			Contracts: sharp,
			Shapes:    r128,
			Change:    from0,
			Relate:    relation(spread),
		},
		{
			ID:        "token-by-token",
			Phase:     "prefill",
			Why:       "one shot and decode steps",
			Contracts: sharp,
			Shapes:    join(r4, []bench.Shape{shape("odd", 9, 3, 0, 3, 5)}),
			Change:    from0,
			Relate:    relation(singles),
		},
		{
			ID:        "uneven-chunks",
			Phase:     "prefill",
			Why:       "one shot and chunks of 1, 2, 3, ... tokens",
			Contracts: sharp,
			Shapes:    join(r4, r128),
			Change:    from0,
			Relate:    relation(uneven),
		},
		{
			ID:        "chunks-of-a-block-and-a-half",
			Phase:     "prefill",
			Why:       "one shot and chunks that end in the middle of every other block",
			Contracts: sharp,
			Shapes:    join(r4[:1], r128),
			Change:    from0,
			Relate:    relation(chunked),
		},
		{
			ID:        "resumed",
			Phase:     "extend",
			Why:       "a piece in the middle of a sequence and its parts",
			Contracts: sharp,
			Shapes:    r4,
			Change:    later,
			Relate:    relation(halved),
		},
		{
			ID:        "verified",
			Phase:     "extend",
			Why:       "a few draft tokens at once and one by one",
			Contracts: sharp,
			Shapes:    r4[:1],
			Change:    stepping(func(g gen, i int) (int, int) { return g.pool.Ratio*2 - 2 + i%4, 3 }),
			Relate:    relation(singles),
		},
		{
			ID:        "alone",
			Why:       "every sequence alone gives what it gives in a batch",
			Contracts: sharp,
			Shapes:    narrow(6),
			Relate:    relation(alone),
		},
		{
			ID:        "permuted",
			Why:       "the sequences in another order",
			Contracts: sharp,
			Shapes:    narrow(6),
			Relate:    relation(permuted),
		},
		{
			ID:        "moved-slots",
			Why:       "the states moved to other slots of the pool",
			Contracts: sharp,
			Shapes:    narrow(6),
			Relate:    relateMoved,
		},
	}
}

// relateMoved turns the pool of states round.
func relateMoved(_ bench.Gen, p bench.Problem) (bench.Relation, error) {
	out := p.Clone()
	for _, name := range []string{"state_kv", "state_gate"} {
		o := out.Operands[name]
		size := len(o.Values) / o.Shape[0]
		var v []float64
		for s := o.Shape[0] - 1; s >= 0; s-- {
			v = append(v, o.Values[s*size:(s+1)*size]...)
		}
		o.Values = v
		out.Operands[name] = o
	}
	slots := out.Operands["state_kv"].Shape[0]
	out.Change("slot", func(_ int, v float64) float64 { return float64(slots-1) - v })
	hide(&out)
	return bench.Relation{
		Parts: []bench.Problem{out},
		Exact: true,
		Join:  func(got []bench.Results) (bench.Results, error) { return got[0], nil },
	}, nil
}
