package compressor

import (
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle"
)

// line is what a call knows of one sequence: the tokens of its state that count, then the new ones. Positions are
// absolute.
type line struct {
	base     int         // position of the first row
	kv, gate [][]float64 // [tokens][C]; gates as stored, biased for what comes from the state
	start    int         // position of the first new token: its gate and those after it have no bias yet
	end      int         // position after the last token
}

// lineOf reads sequence i of a problem.
func lineOf(p bench.Problem, i int) line {
	pool, cu := poolOf(p.Attrs), p.In("cu_seqlens").Ints()
	kv, gate := p.In("kv"), p.In("gate")
	var out line
	if _, ok := p.Operands["start"]; ok {
		out.start = int(p.In("start").Data[i])
		out.base = out.start
		slot := int(p.In("slot").Data[i])
		rows, c := rowsOf(pool), pool.Channels()
		skv, sgate := p.In("state_kv").Row(slot), p.In("state_gate").Row(slot)
		for at := range rows {
			if e, held := tokenAt(pool, at, out.start); held {
				out.base = min(out.base, e)
				out.kv, out.gate = append(out.kv, skv[at*c:(at+1)*c]), append(out.gate, sgate[at*c:(at+1)*c])
			}
		}
	}
	for t := cu[i]; t < cu[i+1]; t++ {
		out.kv, out.gate = append(out.kv, kv.Row(t)), append(out.gate, gate.Row(t))
	}
	out.end = out.start + cu[i+1] - cu[i]
	return out
}

// first and last are the blocks that the call completes, [first, last).
func (l line) blocks(p oracle.Pooling) (first, last int) { return l.start / p.Ratio, l.end / p.Ratio }

// place is a token as a block looks at it: its row in the line, and the channel.
type place struct{ row, channel int }

// looks lists what block b looks at for channel d, the block before first.
func (l line) looks(p oracle.Pooling, b, d int) []place {
	var out []place
	if p.Overlap && b > 0 {
		for e := (b - 1) * p.Ratio; e < b*p.Ratio; e++ {
			out = append(out, place{e - l.base, d})
		}
	}
	if p.Overlap {
		d += p.Width
	}
	for e := b * p.Ratio; e < (b+1)*p.Ratio; e++ {
		out = append(out, place{e - l.base, d})
	}
	return out
}
