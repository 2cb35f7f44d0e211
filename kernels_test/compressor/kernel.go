package compressor

import (
	"fmt"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle"
)

// pooler is the softmax-weighted sum of one channel of one block in fp32: gates and values of the tokens that it looks
// at.
type pooler func(g, v []float32) float32

// tokens is one sequence as a kernel holds it in fp32, gates biased.
type tokens struct {
	base, start, end int // positions: of the first row, of the first new one, after the last one
	kv, gate         [][]float32
}

// quirks are what a faulty kernel does otherwise; the zero value is a correct one.
type quirks struct {
	bias   func(gate, ape float32) float32      // of a new token
	biasAt func(position, start, ratio int) int // row of ape
	// what a block is made of
	looks  func(l line, t tokens, p oracle.Pooling, b, d int) (g, v []float32)
	blocks func(first, last int, t tokens, p oracle.Pooling) (from, until int) // what is emitted
	slot   func(slots []int, i int) int                                        // row of the pool
	// after the state was read
	load func(t *tokens, p oracle.Pooling, kv, gate []float64)
	// as the state is written
	store func(t tokens, p oracle.Pooling, row, channel int, kv, gate float32) (float32, float32)
}

// kernelOf is both operators around a pooling.
func kernelOf(pool pooler, q quirks) bench.Kernel {
	return func(a bench.Args) (bench.Results, error) {
		p := poolOf(a.Attrs)
		in := gathered(a)
		cu := in.cu
		out := bench.Results{}
		c := a.Fresh("c")
		var skv, sgate []float64
		if a.Has("start") {
			skv, sgate = a.Fresh("new_state_kv"), a.Fresh("new_state_gate")
			out["new_state_kv"], out["new_state_gate"] = skv, sgate
		}
		gates, values := make([]float32, 0, 2*p.Ratio), make([]float32, 0, 2*p.Ratio)
		m := 0
		for i := range len(cu) - 1 {
			t, err := in.load(p, i, q)
			if err != nil {
				return nil, err
			}
			first, last := t.start/p.Ratio, t.end/p.Ratio
			if q.blocks != nil {
				first, last = q.blocks(first, last, t, p)
			}
			for b := first; b < last; b++ {
				for d := range p.Width {
					g, v := t.terms(p, b, d, q, gates, values)
					if m*p.Width+d < len(c) {
						c[m*p.Width+d] = float64(pool(g, v))
					}
				}
				m++
			}
			if a.Has("start") {
				size := rowsOf(p) * p.Channels()
				t.store(p, skv[i*size:(i+1)*size], sgate[i*size:(i+1)*size], q)
			}
		}
		out["c"] = c
		return out, nil
	}
}

// inputs are the operands of a call.
type inputs struct {
	kv, gate, ape, stateKV, stateGate bench.Tensor
	cu, start, slot                   []int
}

func gathered(a bench.Args) inputs {
	return inputs{
		kv: a.In("kv"), gate: a.In("gate"), ape: a.In("ape"), stateKV: a.In("state_kv"), stateGate: a.In("state_gate"),
		cu: a.In("cu_seqlens").Ints(), start: a.In("start").Ints(), slot: a.In("slot").Ints(),
	}
}

// load gathers the state's tokens and the new ones of sequence i.
func (in inputs) load(p oracle.Pooling, i int, q quirks) (tokens, error) {
	var t tokens
	if len(in.start) > 0 {
		t.start = in.start[i]
		t.base = t.start
		slot := in.slot[i]
		if q.slot != nil {
			slot = q.slot(in.slot, i)
		}
		if slot < 0 || slot >= in.stateKV.Dim(0) || t.start < 0 {
			return t, fmt.Errorf("sequence %d has slot %d of %d and start %d", i, slot, in.stateKV.Dim(0), t.start)
		}
		kv, gate, c := in.stateKV.Row(slot), in.stateGate.Row(slot), p.Channels()
		for at := range rowsOf(p) {
			if e, held := tokenAt(p, at, t.start); held {
				t.base = min(t.base, e)
				t.kv, t.gate = append(t.kv, single(kv[at*c:(at+1)*c])), append(t.gate, single(gate[at*c:(at+1)*c]))
			}
		}
		if q.load != nil {
			q.load(&t, p, kv, gate)
		}
	}
	from, to := in.cu[i], in.cu[i+1]
	if n := in.kv.Dim(0); from < 0 || to < from || to > n {
		return t, fmt.Errorf("sequence %d has tokens %d to %d of %d", i, from, to, n)
	}
	for at := from; at < to; at++ {
		position := t.start + at - from
		row := position % p.Ratio
		if q.biasAt != nil {
			row = q.biasAt(position, t.start, p.Ratio)
		}
		g := single(in.gate.Row(at))
		for d, bias := range in.ape.Row(row) {
			if q.bias != nil {
				g[d] = q.bias(g[d], float32(bias))
			} else {
				g[d] += float32(bias)
			}
		}
		t.kv, t.gate = append(t.kv, single(in.kv.Row(at))), append(t.gate, g)
	}
	t.end = t.start + to - from
	return t, nil
}

// terms are the gates and values that block b looks at for channel d, in buffers that are used again.
func (t tokens) terms(p oracle.Pooling, b, d int, q quirks, g, v []float32) (gates, values []float32) {
	if q.looks != nil {
		return q.looks(line{base: t.base, start: t.start, end: t.end}, t, p, b, d)
	}
	g, v = g[:0], v[:0]
	look := func(from, to, channel int) {
		for at := from - t.base; at < to-t.base; at++ {
			g, v = append(g, t.gate[at][channel]), append(v, t.kv[at][channel])
		}
	}
	switch {
	case p.Overlap && b > 0:
		look((b-1)*p.Ratio, b*p.Ratio, d)
		look(b*p.Ratio, (b+1)*p.Ratio, p.Width+d)
	case p.Overlap:
		look(0, p.Ratio, p.Width+d)
	default:
		look(b*p.Ratio, (b+1)*p.Ratio, d)
	}
	return g, v
}

// pick gathers places.
func (t tokens) pick(at []place) (g, v []float32) {
	for _, w := range at {
		g, v = append(g, t.gate[w.row][w.channel]), append(v, t.kv[w.row][w.channel])
	}
	return g, v
}

// store writes the state after the call; rows without a token stay as they are.
func (t tokens) store(p oracle.Pooling, kv, gate []float64, q quirks) {
	c := p.Channels()
	for at := range rowsOf(p) {
		e, held := tokenAt(p, at, t.end)
		if !held {
			continue
		}
		for d := range c {
			if !counts(p, at, d, t.end) {
				continue
			}
			x, y := t.kv[e-t.base][d], t.gate[e-t.base][d]
			if q.store != nil {
				x, y = q.store(t, p, at, d, x, y)
			}
			kv[at*c+d], gate[at*c+d] = float64(x), float64(y)
		}
	}
}

func single(v []float64) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return out
}
