package compressor

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// change edits what was drawn.
type change func(g gen, p *bench.Problem)

func edit(c ...change) bench.Change {
	return func(g bench.Gen, p *bench.Problem) error {
		for _, f := range c {
			f(genOf(g), p)
		}
		hide(p)
		return nil
	}
}

// sequences draws whole sequences of other lengths.
func sequences(lengths func(g gen) []int) bench.Change {
	return func(b bench.Gen, p *bench.Problem) error {
		g, layout := genOf(b), p.Layout
		*p = g.compress(lengths(g))
		p.Layout = layout
		return nil
	}
}

// pieces draws other pieces of sequences.
func pieces(of func(g gen) ends) bench.Change {
	return func(b bench.Gen, p *bench.Problem) error {
		g, layout := genOf(b), p.Layout
		drawn, err := g.extend(of(g))
		if err != nil {
			return err
		}
		*p = drawn
		p.Layout = layout
		return nil
	}
}

// token is a place in the inputs: position e of a sequence, channel d.
type token struct{ e, d int }

// everywhere visits every token of every sequence, new or in a state, in an operand and its state.
func everywhere(g gen, p *bench.Problem, name string, f func(at token, old float64, held bool) float64) {
	c, cu := g.pool.Channels(), p.In("cu_seqlens").Ints()
	start := make([]int, len(cu)-1)
	if _, ok := p.Operands["start"]; ok {
		start = p.In("start").Ints()
	}
	values := p.Operands[name].Values
	for i := range start {
		for t := cu[i]; t < cu[i+1]; t++ {
			for d := range c {
				values[t*c+d] = bench.Round(bench.F32, f(token{start[i] + t - cu[i], d}, values[t*c+d], false))
			}
		}
	}
	if _, ok := p.Operands["start"]; !ok {
		return
	}
	state, rows := p.Operands["state_"+name].Values, rowsOf(g.pool)
	for i, slot := range p.In("slot").Ints() {
		for row := range rows {
			e, held := tokenAt(g.pool, row, start[i])
			for d := range c {
				if at := (slot*rows+row)*c + d; held {
					state[at] = bench.Round(bench.F32, f(token{e, d}, state[at], true))
				}
			}
		}
	}
}

// values sets kv by position and channel.
func values(f func(g gen, at token, old float64) float64) change {
	return func(g gen, p *bench.Problem) {
		everywhere(g, p, "kv", func(at token, old float64, _ bool) float64 { return f(g, at, old) })
	}
}

// gates sets gates by position and channel; those of a state get their bias.
func gates(f func(g gen, at token, old float64) float64) change {
	return func(g gen, p *bench.Problem) {
		ape := p.In("ape")
		everywhere(g, p, "gate", func(at token, old float64, held bool) float64 {
			v := bench.Round(bench.F32, f(g, at, old))
			if held {
				return float64(float32(v) + float32(ape.Row(at.e % g.pool.Ratio)[at.d]))
			}
			return v
		})
	}
}

// The ideas, for both operators.
var (
	// coded values name the token: where the gates are equal, a row is the mean of the positions that it looked at.
	coded = values(func(_ gen, at token, _ float64) float64 { return float64(1 + at.e) })

	level = gates(func(gen, token, float64) float64 { return 0.75 })

	rising  = gates(func(_ gen, at token, _ float64) float64 { return 0.5 * float64(at.e%512) })
	falling = gates(func(_ gen, at token, _ float64) float64 { return 90 - 0.5*float64(at.e%512) })

	// one token of each block has nearly all the weight, another one in every channel.
	peaked = gates(func(g gen, at token, _ float64) float64 {
		if at.e%g.pool.Ratio == at.d%g.pool.Ratio {
			return 12
		}
		return -12 + float64(at.d%3)
	})

	large       = gates(func(g gen, _ token, _ float64) float64 { return 95 * float64(1-2*g.IntN(2)) })
	allLarge    = gates(func(_ gen, at token, _ float64) float64 { return 120 + float64(at.e%5) })
	allNegative = gates(func(_ gen, at token, _ float64) float64 { return -130 - float64(at.e%7) })

	// some tokens are masked: in every channel one keeps its gate.
	maskedFirst = gates(func(g gen, at token, old float64) float64 {
		if at.e%g.pool.Ratio < g.pool.Ratio/2 {
			return math.Inf(-1)
		}
		return gateless(old)
	})
	maskedLast = gates(func(g gen, at token, old float64) float64 {
		if at.e%g.pool.Ratio >= (g.pool.Ratio+1)/2 {
			return math.Inf(-1)
		}
		return gateless(old)
	})
	maskedBefore = gates(func(g gen, at token, old float64) float64 {
		if g.pool.Overlap && at.d < g.pool.Width {
			return math.Inf(-1)
		}
		return gateless(old)
	})

	coherent = values(func(_ gen, _ token, old float64) float64 { return math.Abs(old) })
	opposed  = values(func(_ gen, at token, old float64) float64 { return (1000 + old/64) * float64(1-2*(at.e%2)) })
	tiny     = values(func(_ gen, _ token, old float64) float64 { return 1e-30 * old })
	huge     = values(func(_ gen, _ token, old float64) float64 { return 1e30 * old })
	outlier  = values(func(_ gen, at token, old float64) float64 {
		if at.d%7 == 3 {
			return 1000 * old
		}
		return old
	})
	zeroed = values(func(_ gen, at token, old float64) float64 {
		if at.d%2 == 0 {
			return math.Copysign(0, old)
		}
		return old
	})
)

// gateless keeps a stored gate, whose bias everywhere adds again, in the range of others.
func gateless(old float64) float64 { return old / 2 }

// strong gives the bias more weight than the gates have; gates of a state are drawn with the old one and keep it.
func strong(_ gen, p *bench.Problem) {
	p.Change("ape", func(_ int, v float64) float64 { return 4 * v })
}
