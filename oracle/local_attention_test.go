package oracle_test

import (
	"fmt"
	"math"
	"slices"

	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/oracle"
)

// names of one layer in the trace and in the checkpoint.
func names(layer int) (tracePrefix, weightPrefix string) {
	return fmt.Sprintf("model.layers.%d.", layer), fmt.Sprintf("layers.%d.", layer)
}

func (s *subject) ratioOf(layer int) int { return []int{0, 4, s.far, 4}[layer] }

func ropeOf(layer int) oracle.Rope {
	if layer == 0 {
		return oracle.Rope{Base: 10000, Dims: 16}
	}
	return oracle.Rope{Base: 160000, Dims: 16}
}

// positions are those the trace kept.
func (s *subject) positions() []int {
	p := make([]int, s.tr.Kept)
	for i := range p {
		p[i] = s.tr.Length - s.tr.Kept + i
	}
	return p
}

// projections checks norms and low-rank projections, rotated indexer queries and the output half.
func (s *subject) projections(layer int) []reading {
	p, w := names(layer)
	a := p + "self_attn."
	h, qr := s.tr.Mat(p+"input_layernorm.out", 0), s.tr.Mat(a+"q_a_norm.out", 0)
	all := []reading{
		s.norm(p+"attn_hc.out.2", w+"attn_norm.weight", p+"input_layernorm.out"),
		s.norm(p+"ffn_hc.out.2", w+"ffn_norm.weight", p+"post_attention_layernorm.out"),
		s.projectedNorm("q-a", h, s.weight(w+"attn.wq_a.weight"), s.weight(w+"attn.q_norm.weight").Row(0), 64, qr),
		s.projectedNorm("q-b", qr, s.weight(w+"attn.wq_b.weight"), nil, 64, fromHeads(s.tr.Mat(a+"q_b_norm.out", 0), 4)),
		s.projectedNorm("kv", h, s.weight(w+"attn.wkv.weight"), s.weight(w+"attn.kv_norm.weight").Row(0), 64,
			s.tr.Mat(a+"kv_norm.out", 0)),
	}
	u, wo := s.tr.Mat(a+"o_a_proj.out", 128), s.weight(w+"attn.wo_b.weight")
	return append(all, reading{
		"wo-b", s.ops.Linear(u, wo).Data, s.tr.Mat(a+"out.0", 0).Data, bounds(s.linear(tracked(u), wo)),
	})
}

// projectedNorm checks RMSNorm(x wᵀ), per group of width channels.
func (s *subject) projectedNorm(op string, x, w oracle.Mat, weight []float64, width int, want oracle.Mat) reading {
	got := s.ops.RMSNorm(s.ops.Linear(x, w), weight, width, s.cfg.NormEps)
	var tw []numerics.Tracked
	if weight != nil {
		tw = numerics.ExactSlice(weight)
	}
	var b [][]numerics.Tracked
	for _, row := range s.linear(tracked(x), w) {
		for group := range slices.Chunk(row, width) {
			b = append(b, s.ar.RMSNorm(group, tw, s.cfg.NormEps))
		}
	}
	return reading{op, got.Data, want.Data, bounds(b)}
}

// fromHeads reorders [H·T, D] to [T, H·D].
func fromHeads(m oracle.Mat, heads int) oracle.Mat {
	tokens := m.Rows / heads
	out := oracle.NewMat(tokens, heads*m.Cols)
	for t := range tokens {
		for h := range heads {
			copy(out.Row(t)[h*m.Cols:], m.Row(h*tokens+t))
		}
	}
	return out
}

// compressed checks both compressors, the rotation of their rows, indexer logits and selection.
func (s *subject) compressed(layer int) []reading {
	ratio := s.ratioOf(layer)
	if ratio == 0 {
		return nil
	}
	p, w := names(layer)
	c := p + "self_attn.compressor."
	all := append(s.pooled(layer, w+"attn.compressor.", c+"kv_norm.out", 64),
		s.rotated(layer, c+"kv_norm.out", c+"out.0", 64, s.blockPositions(layer, c+"kv_norm.out")))
	if ratio != 4 {
		return all
	}
	i := c + "indexer."
	q, k, x := s.tr.Mat(i+"scorer.in.0", 128), s.tr.Mat(i+"scorer.in.1", 0), s.tr.Mat(i+"scorer.in.2", 0)
	qr := s.tr.Mat(p+"self_attn.q_a_norm.out", 0)
	wq := s.weight(w + "attn.indexer.wq_b.weight")
	all = append(all, s.pooled(layer, w+"attn.indexer.compressor.", i+"kv_norm.out", 32)...)
	all = append(all,
		s.rotated(layer, i+"kv_norm.out", i+"scorer.in.1", 32, s.blockPositions(layer, i+"kv_norm.out")),
		reading{
			"indexer-q", s.ops.RotateInterleaved(s.ops.Linear(qr, wq), 32, s.positions(), ropeOf(layer), false).Data, q.Data,
			bounds(s.rotate(s.linear(tracked(qr), wq), 32, s.positions(), ropeOf(layer), false)),
		},
		s.logits(q, k, x, s.weight(w+"attn.indexer.weights_proj.weight"), s.tr.Mat(i+"scorer.out", 0)))
	s.selection(i)
	return all
}

func (s *subject) blockPositions(layer int, name string) []int {
	p := make([]int, s.tr.Mat(name, 0).Rows)
	for b := range p {
		p[b] = b * s.ratioOf(layer)
	}
	return p
}

// pooled checks a compressor with its norm on the blocks whose tokens the trace kept, if any: of the
// cut trace's last 24 positions, none completes a block of 32 that begins among them.
func (s *subject) pooled(layer int, weights, out string, width int) []reading {
	ratio, first := s.ratioOf(layer), s.tr.Length-s.tr.Kept
	pool := oracle.Pooling{Ratio: ratio, Width: width, Overlap: ratio == 4}
	h := s.tr.Mat(fmt.Sprintf("model.layers.%d.input_layernorm.out", layer), 0)
	a, g := s.ops.Linear(h, s.weight(weights+"wkv.weight")), s.ops.Linear(h, s.weight(weights+"wgate.weight"))
	ape, norm := s.weight(weights+"ape"), s.weight(weights+"norm.weight").Row(0)
	oracle.AddPositionBias(g, ape, first)
	ta, tg := s.linear(tracked(h), s.weight(weights+"wkv.weight")), s.linear(tracked(h), s.weight(weights+"wgate.weight"))

	// Without the tokens before them, the first blocks of a cut trace cannot be computed.
	start := (first + ratio - 1) / ratio
	end := s.tr.Length / ratio
	var prevA, prevG oracle.Mat
	if start > 0 && pool.Overlap {
		from := start*ratio - first
		prevA, prevG = a.Slice(from, from+ratio), g.Slice(from, from+ratio)
		start++
	}
	if start >= end {
		return nil
	}
	lo, hi := start*ratio-first, end*ratio-first
	got := s.ops.RMSNorm(s.ops.Compress(a.Slice(lo, hi), g.Slice(lo, hi), prevA, prevG, pool), norm, 0, s.cfg.NormEps)

	var b [][]numerics.Tracked
	for block := start; block < end; block++ {
		var row []numerics.Tracked
		for d := range width {
			var gates, values []numerics.Tracked
			take := func(from, channel int) {
				for t := from; t < from+ratio; t++ {
					bias := numerics.Exact(ape.Row((first + t) % ratio)[channel])
					gates, values = append(gates, s.ar.Add(tg[t][channel], bias)), append(values, ta[t][channel])
				}
			}
			if pool.Overlap && block > 0 {
				take((block-1)*ratio-first, d)
			}
			take(block*ratio-first, pool.Channels()-width+d)
			row = append(row, s.ar.Attention(numerics.AttentionTerms{Scores: gates, V: column(values)})[0])
		}
		b = append(b, s.ar.RMSNorm(row, numerics.ExactSlice(norm), s.cfg.NormEps))
	}
	want := s.tr.Mat(out, 0)
	return []reading{{"compressor", got.Data, want.Slice(start, want.Rows).Data, bounds(b)}}
}

func column(v []numerics.Tracked) [][]numerics.Tracked {
	out := make([][]numerics.Tracked, len(v))
	for i := range v {
		out[i] = v[i : i+1]
	}
	return out
}

func (s *subject) rotated(layer int, in, out string, width int, positions []int) reading {
	x := s.tr.Mat(in, 0)
	return reading{
		"rope", s.ops.RotateInterleaved(x, width, positions, ropeOf(layer), false).Data, s.tr.Mat(out, width).Data,
		bounds(s.rotate(tracked(x), width, positions, ropeOf(layer), false)),
	}
}

// logits checks the indexer on all keys: Hugging Face scores first and masks afterwards.
func (s *subject) logits(q, k, x, proj, want oracle.Mat) reading {
	scale := [2]float64{1 / math.Sqrt(4), 1 / math.Sqrt(32)}
	w := s.ops.Linear(x, proj)
	for i := range w.Data {
		w.Data[i] *= scale[0] * scale[1]
	}
	visible := make([]int, q.Rows)
	for t := range visible {
		visible[t] = k.Rows
	}
	tq, tk, tw := tracked(q), tracked(k), s.linear(tracked(x), proj)
	var bound []float64
	for t := range tq {
		for key := range tk {
			var terms []numerics.Tracked
			for h := range 4 {
				d := s.ar.Max(s.ar.Mul(s.ar.Dot(tq[t][h*32:(h+1)*32], tk[key]), numerics.Exact(scale[1])), numerics.Exact(0))
				terms = append(terms, s.ar.Mul(d, s.ar.Mul(tw[t][h], numerics.Exact(scale[0]))))
			}
			bound = append(bound, s.ar.Sum(terms).E)
		}
	}
	return reading{"indexer-logits", s.ops.IndexerLogits(q, k, w, visible).Data, want.Data, bound}
}

// selection checks top-k on the recorded scores themselves: the sets must be equal.
func (s *subject) selection(indexer string) {
	s.Helper()
	scores, want := s.tr.Mat(indexer+"scorer.out", 0), s.tr.Sets(indexer+"out")
	for t, p := range s.positions() {
		visible := oracle.Visible(p, 4)
		got, err := s.ops.SelectTopK(scores.Row(t), visible, s.topK, oracle.LowestIndex)
		set := slices.DeleteFunc(want[t], func(i int) bool { return i >= visible })
		if err != nil || !slices.Equal(got, set) {
			s.Errorf("%s: position %d selects %v (%v), recorded %v", indexer, p, got, err, set)
		}
	}
}

// attention checks a whole layer's attention on recorded queries, keys and compressed rows, up to
// the grouped projection, and its weights. It needs every position's row, so a full trace.
func (s *subject) attention(layer int) []reading {
	if s.tr.Kept < s.tr.Length {
		return nil
	}
	p, w := names(layer)
	a := p + "self_attn."
	rope, positions := ropeOf(layer), s.positions()
	q, kv := fromHeads(s.tr.Mat(a+"q_b_norm.out", 0), 4), s.tr.Mat(a+"kv_norm.out", 0)
	in := oracle.AttentionInput{
		Q: s.ops.RotateInterleaved(q, 64, positions, rope, false), Positions: positions,
		Window: s.ops.RotateInterleaved(kv, 64, positions, rope, false), WindowSize: 32,
		Compressed: s.tr.Mat(a+"compressor.out.0", 64), Selected: s.selected(layer),
		Sink: s.weight(w + "attn.attn_sink").Row(0), Scale: 0.125,
	}
	woA := s.weight(w + "attn.wo_a.weight")
	u := s.ops.GroupedProjection(s.ops.RotateInterleaved(s.ops.Attention(in), 64, positions, rope, true), woA, 2)

	tq, tkv := s.rotate(tracked(q), 64, positions, rope, false), s.rotate(tracked(kv), 64, positions, rope, false)
	rows := append(tkv, tracked(in.Compressed)...)
	weightBound := oracle.NewMat(4*in.Q.Rows, len(rows))
	var to [][]numerics.Tracked
	for t := range tq {
		var o []numerics.Tracked
		for h := range 4 {
			attended := s.attended(in, t)
			terms := numerics.AttentionTerms{Sinks: numerics.ExactSlice(in.Sink[h : h+1])}
			for _, r := range attended {
				terms.Scores = append(terms.Scores, s.ar.Mul(s.ar.Dot(tq[t][h*64:(h+1)*64], rows[r]), numerics.Exact(in.Scale)))
				terms.V = append(terms.V, rows[r])
			}
			for i, weight := range s.ar.Softmax(terms.Scores, terms.Sinks...) {
				weightBound.Row(h*in.Q.Rows + t)[attended[i]] = weight.E
			}
			o = append(o, s.ar.Attention(terms)...)
		}
		to = append(to, o)
	}
	to = s.rotate(to, 64, positions, rope, true)
	var tu [][]numerics.Tracked
	for t := range to {
		group0 := s.linear([][]numerics.Tracked{to[t][:128]}, woA.Slice(0, 64))[0]
		tu = append(tu, append(group0, s.linear([][]numerics.Tracked{to[t][128:]}, woA.Slice(64, 128))[0]...))
	}
	return []reading{
		{"attention-weights", oracle.AttentionWeights(in).Data, s.tr.Mat(a+"out.1", 0).Data, weightBound.Data},
		{"attention", u.Data, s.tr.Mat(a+"o_a_proj.out", 128).Data, bounds(tu)},
	}
}

// selected are the compressed rows of each query: the recorded selection, or all visible ones.
func (s *subject) selected(layer int) [][]int {
	ratio := s.ratioOf(layer)
	if ratio == 0 {
		return nil
	}
	sets := s.tr.Sets(fmt.Sprintf("model.layers.%d.self_attn.compressor.indexer.out", layer))
	all := make([][]int, s.tr.Kept)
	for t, p := range s.positions() {
		for i := range oracle.Visible(p, ratio) {
			if ratio != 4 || slices.Contains(sets[t], i) {
				all[t] = append(all[t], i)
			}
		}
	}
	return all
}

// attended are the rows query t sees, compressed ones counted after the window's.
func (s *subject) attended(in oracle.AttentionInput, t int) []int {
	var rows []int
	for i := max(0, in.Positions[t]-31); i <= in.Positions[t]; i++ {
		rows = append(rows, i)
	}
	if in.Selected != nil {
		for _, i := range in.Selected[t] {
			rows = append(rows, in.Window.Rows+i)
		}
	}
	return rows
}
