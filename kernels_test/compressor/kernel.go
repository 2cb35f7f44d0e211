package compressor

import (
	"fmt"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle"
)

// kernel is both operators as the steps of one computation, sequence by sequence: its state is read and its new tokens
// are biased, completed blocks are pooled channel by channel, the state after is written.
type kernel struct {
	slot    func(slots []int, i int) int                                 // row of the pools
	read    func(p oracle.Pooling, start int, kv, gate []float64) tokens // what a state holds
	biasRow func(position, start, ratio int) int                         // row of ape
	bias    func(gate, ape float32) float32                              // of a new token
	emits   func(t tokens, ratio int) (first, last int)                  // the blocks that are emitted
	// terms are the gates and values that block b looks at for channel d, in buffers that are used again
	terms func(t tokens, p oracle.Pooling, b, d int, g, v []float32) (gates, values []float32)
	pool  pooler
	keep  func(t tokens, p oracle.Pooling, row, channel int) (kv, gate float32) // an element of the state after
}

// correct is the kernel with two passes over a block in fp32, from its first token.
func correct() kernel {
	return kernel{
		slot:    func(slots []int, i int) int { return slots[i] },
		read:    readState,
		biasRow: func(position, _, ratio int) int { return position % ratio },
		bias:    func(gate, ape float32) float32 { return gate + ape },
		emits:   func(t tokens, ratio int) (first, last int) { return t.start / ratio, t.end / ratio },
		terms:   tokens.terms,
		pool:    plain,
		keep:    tokens.kept,
	}
}

// candidate offers both operators.
func (k kernel) candidate(name string) bench.Candidate {
	return bench.FromKernels(name, map[string]bench.Kernel{opCompress: k.run, opExtend: k.run})
}

// tokens is one sequence as a kernel holds it in fp32, gates biased.
type tokens struct {
	base, start, end int // positions: of the first row, of the first new one, after the last one
	kv, gate         [][]float32
}

// run is the operator of a call: with a state where the call has starts.
func (k kernel) run(a bench.Args) (bench.Results, error) {
	p, in := poolOf(a.Attrs), gathered(a)
	c := a.Fresh("c")
	out := bench.Results{"c": c}
	if a.Has("start") {
		out["new_state_kv"], out["new_state_gate"] = a.Fresh("new_state_kv"), a.Fresh("new_state_gate")
	}
	gates, values := make([]float32, 0, 2*p.Ratio), make([]float32, 0, 2*p.Ratio)
	m := 0
	for i := range len(in.cu) - 1 {
		t, err := k.load(in, p, i)
		if err != nil {
			return nil, err
		}
		first, last := k.emits(t, p.Ratio)
		for b := first; b < last; b++ {
			for d := range p.Width {
				g, v := k.terms(t, p, b, d, gates, values)
				if m*p.Width+d < len(c) {
					c[m*p.Width+d] = float64(k.pool(g, v))
				}
			}
			m++
		}
		if a.Has("start") {
			size := rowsOf(p) * p.Channels()
			k.store(t, p, out["new_state_kv"][i*size:(i+1)*size], out["new_state_gate"][i*size:(i+1)*size])
		}
	}
	return out, nil
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
func (k kernel) load(in inputs, p oracle.Pooling, i int) (tokens, error) {
	var t tokens
	if len(in.start) > 0 {
		start, slot := in.start[i], k.slot(in.slot, i)
		if slot < 0 || slot >= in.stateKV.Dim(0) || start < 0 {
			return t, fmt.Errorf("sequence %d has slot %d of %d and start %d", i, slot, in.stateKV.Dim(0), start)
		}
		t = k.read(p, start, in.stateKV.Row(slot), in.stateGate.Row(slot))
	}
	from, to := in.cu[i], in.cu[i+1]
	if n := in.kv.Dim(0); from < 0 || to < from || to > n {
		return t, fmt.Errorf("sequence %d has tokens %d to %d of %d", i, from, to, n)
	}
	for at := from; at < to; at++ {
		g := single(in.gate.Row(at))
		for d, bias := range in.ape.Row(k.biasRow(t.start+at-from, t.start, p.Ratio)) {
			g[d] = k.bias(g[d], float32(bias))
		}
		t.kv, t.gate = append(t.kv, single(in.kv.Row(at))), append(t.gate, g)
	}
	t.end = t.start + to - from
	return t, nil
}

// readState is what the state of a sequence of start tokens holds, [R, C] each.
func readState(p oracle.Pooling, start int, kv, gate []float64) tokens {
	t, c := tokens{base: start, start: start}, p.Channels()
	for at := range rowsOf(p) {
		if e, held := tokenAt(p, at, start); held {
			t.base = min(t.base, e)
			t.kv, t.gate = append(t.kv, single(kv[at*c:(at+1)*c])), append(t.gate, single(gate[at*c:(at+1)*c]))
		}
	}
	return t
}

// terms is the step of that name: with overlap the block before through the first half of the channels.
func (t tokens) terms(p oracle.Pooling, b, d int, g, v []float32) (gates, values []float32) {
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

// kept is the token that a row of the state after the call holds.
func (t tokens) kept(p oracle.Pooling, row, channel int) (kv, gate float32) {
	e, _ := tokenAt(p, row, t.end)
	return t.kv[e-t.base][channel], t.gate[e-t.base][channel]
}

// store writes the state after the call; rows without a token stay as they are.
func (k kernel) store(t tokens, p oracle.Pooling, kv, gate []float64) {
	c := p.Channels()
	for at := range rowsOf(p) {
		for d := range c {
			if counts(p, at, d, t.end) {
				x, y := k.keep(t, p, at, d)
				kv[at*c+d], gate[at*c+d] = float64(x), float64(y)
			}
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
