package compressor

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/oracle"
)

// expect judges rows and, where there is a state, the state. Rows come from the oracle. Their bound is that of one
// softmax row of attention for each channel (numerics.Arith.Attention): scores are biased gates, whose fp32 sum is off
// by u·|G| where this call adds the bias and by nothing where the state holds it; as many rescalings as tokens are
// admitted, so that an online softmax may go token by token; then one rounding to the output. The state's values are
// copies, its gates one fp32 addition.
func expect(c bench.Case, p bench.Problem) ([]bench.Expected, error) {
	ar, pool := numerics.FP32(), poolOf(p.Attrs)
	ape := p.In("ape").Mat()
	rows := bench.Expected{
		Name: "c", Shape: p.Outputs["c"].Shape, Axes: []string{"block", "channel"}, Want: []float64{}, Bound: []float64{},
		Derivation: "bias added in fp32, softmax over the tokens of a block and weighted sum in any order, with up to a " +
			"rescaling for each token; one rounding to the output",
	}
	kv := bench.Expected{
		Name:       "new_state_kv",
		Axes:       []string{"sequence", "row", "channel"},
		Derivation: "values are copied",
	}
	gate := bench.Expected{
		Name:       "new_state_gate",
		Axes:       []string{"sequence", "row", "channel"},
		Derivation: "a gate and its bias are added once, in fp32",
	}
	for i := range p.Operands["cu_seqlens"].Shape[0] - 1 {
		l := lineOf(p, i)
		biased := l.biased(ar, pool, ape)
		want, bound := l.rows(ar, pool, biased)
		for j, w := range want.Data {
			rows.Want = append(rows.Want, w)
			rows.Bound = append(rows.Bound, bound[j]+bench.OutTerm(c.Contract, w, bound[j]))
		}
		if _, ok := p.Operands["start"]; ok {
			l.carry(pool, biased, &kv, &gate)
		}
	}
	out := []bench.Expected{rows}
	if o, ok := p.Outputs["new_state_kv"]; ok {
		kv.Shape, gate.Shape = o.Shape, o.Shape
		kv.Bound = make([]float64, len(kv.Want))
		out = append(out, kv, gate)
	}
	return out, nil
}

// biased are the gates with their bias, [tokens][C].
func (l line) biased(ar numerics.Arith, p oracle.Pooling, ape oracle.Mat) [][]numerics.Tracked {
	out := make([][]numerics.Tracked, len(l.gate))
	for j, g := range l.gate {
		out[j] = numerics.ExactSlice(g)
		if l.base+j < l.start {
			continue
		}
		for d, v := range g {
			if !math.IsInf(v, -1) {
				out[j][d] = ar.Add(numerics.Exact(v), numerics.Exact(ape.Row((l.base + j) % p.Ratio)[d]))
			}
		}
	}
	return out
}

// rows are the completed blocks by the oracle, and how far fp32 may lie from them.
func (l line) rows(ar numerics.Arith, p oracle.Pooling, biased [][]numerics.Tracked) (want oracle.Mat,
	bound []float64,
) {
	first, last := l.blocks(p)
	if last <= first {
		return oracle.Mat{}, nil
	}
	mat := func(from, to int, row func(j int) []float64) oracle.Mat {
		m := oracle.NewMat(0, p.Channels())
		for e := from; e < to; e++ {
			m = m.Append(oracle.Mat{Rows: 1, Cols: p.Channels(), Data: row(e - l.base)})
		}
		return m
	}
	values := func(j int) []float64 { return l.kv[j] }
	gates := func(j int) []float64 {
		v := make([]float64, len(biased[j]))
		for d, t := range biased[j] {
			v[d] = t.X
		}
		return v
	}
	from, to := first*p.Ratio, last*p.Ratio
	var prevA, prevG oracle.Mat
	if p.Overlap && first > 0 {
		prevA, prevG = mat(from-p.Ratio, from, values), mat(from-p.Ratio, from, gates)
	}
	want = oracle.Compress(mat(from, to, values), mat(from, to, gates), prevA, prevG, p)
	for b := first; b < last; b++ {
		for d := range p.Width {
			looks := l.looks(p, b, d)
			scores, flat, v := make([]numerics.Tracked, len(looks)), make([]numerics.Tracked, len(looks)),
				make([][]numerics.Tracked, len(looks))
			for j, at := range looks {
				scores[j], flat[j] = biased[at.row][at.channel], numerics.Exact(l.kv[at.row][at.channel])
				v[j] = flat[j : j+1]
			}
			bound = append(bound, ar.Attention(numerics.AttentionTerms{Scores: scores, V: v, Splits: len(looks)})[0].E)
		}
	}
	return want, bound
}

// carry appends the state after the call.
func (l line) carry(p oracle.Pooling, biased [][]numerics.Tracked, kv, gate *bench.Expected) {
	for at := range rowsOf(p) {
		e, held := tokenAt(p, at, l.end)
		for d := range p.Channels() {
			if !held || !counts(p, at, d, l.end) {
				kv.Want, kv.Free = append(kv.Want, 0), append(kv.Free, true)
				gate.Want, gate.Bound, gate.Free = append(gate.Want, 0), append(gate.Bound, 0), append(gate.Free, true)
				continue
			}
			g := biased[e-l.base][d]
			kv.Want, kv.Free = append(kv.Want, l.kv[e-l.base][d]), append(kv.Free, false)
			gate.Want, gate.Bound, gate.Free = append(gate.Want, g.X), append(gate.Bound, g.E), append(gate.Free, false)
		}
	}
}
