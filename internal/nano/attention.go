package nano

import (
	"fmt"

	"github.com/assay-suite/assay/oracle"
)

// attention is one layer's attention sublayer: low-rank query, shared kv row, window and compressed
// rows, inverse rotation, grouped output projection. h [T, Hidden]; result [T, Hidden].
func (r *run) attention(name string, l *layer, h oracle.Mat, s *layerState) (oracle.Mat, error) {
	c, ops := r.Config, r.ops
	qr := ops.RMSNorm(ops.Linear(h, l.wqA), l.qNorm, 0, c.NormEps)
	q := ops.RMSNorm(ops.Linear(qr, l.wqB), nil, c.HeadDim, c.NormEps)
	kv := ops.RMSNorm(ops.Linear(h, l.wkv), l.kvNorm, 0, c.NormEps)
	r.record(name+"q_a_norm.out", qr)
	r.record(name+"q_b_norm.out", byHead(q, c.Heads))
	r.record(name+"kv_norm.out", kv)

	rope := r.rope(l)
	in := oracle.AttentionInput{
		Q:         ops.RotateInterleaved(q, c.HeadDim, r.positions, rope, false),
		Positions: r.positions,
		Window: oracle.NewMat(0, c.HeadDim).Append(s.window).Append(ops.RotateInterleaved(kv, c.HeadDim, r.positions, rope,
			false)),
		// s.window holds the rows just before this call's first token.
		WindowStart: r.start - s.window.Rows,
		WindowSize:  c.Window,
		Sink:        l.sink,
		Scale:       invSqrt(c.HeadDim),
	}
	if l.compressor != nil {
		var err error
		if in.Selected, err = r.selection(name+"compressor.", l, h, qr, s); err != nil {
			return oracle.Mat{}, err
		}
		in.Compressed = s.kv.rows
	}
	o := ops.Attention(in)
	if r.rec != nil {
		r.record(name+"out.1", oracle.AttentionWeights(in))
	}
	s.window = in.Window.Slice(max(0, in.Window.Rows-c.Window), in.Window.Rows).Clone()

	o = ops.RotateInterleaved(o, c.HeadDim, r.positions, rope, true)
	u := ops.GroupedProjection(o, l.woA, c.OGroups)
	r.record(name+"o_a_proj.out", u)
	out := ops.Linear(u, l.woB)
	r.record(name+"out.0", out)
	return out, nil
}

// selection updates the compressed rows and says which of them each query attends to: the indexer's
// choice in sparse layers, all visible ones otherwise.
func (r *run) selection(name string, l *layer, h, qr oracle.Mat, s *layerState) ([][]int, error) {
	c, ops := r.Config, r.ops
	visible := make([]int, len(r.ids))
	for t, p := range r.positions {
		visible[t] = oracle.Visible(p, l.ratio)
	}
	var scores oracle.Mat
	if l.indexer != nil {
		r.compress(name+"indexer.kv_norm.out", "", l.indexer.compressor, l, c.IndexDim, h, &s.index)
		q := ops.RotateInterleaved(ops.Linear(qr, l.indexer.wqB), c.IndexDim, r.positions, r.rope(l), false)
		w := ops.Linear(h, l.indexer.weights)
		for i := range w.Data {
			w.Data[i] *= invSqrt(c.IndexHeads) * invSqrt(c.IndexDim)
		}
		scores = ops.IndexerLogits(q, s.index.rows, w, visible)
		r.record(name+"indexer.scorer.in.0", q)
		r.record(name+"indexer.scorer.in.1", s.index.rows)
		r.record(name+"indexer.scorer.in.2", h)
		r.record(name+"indexer.scorer.out", scores)
	}
	r.compress(name+"kv_norm.out", name+"out.0", *l.compressor, l, c.HeadDim, h, &s.kv)

	selected := make([][]int, len(r.ids))
	if l.indexer != nil && ops.SelectRows != nil {
		var err error
		if selected, err = ops.SelectRows(scores, visible, c.TopK, oracle.LowestIndex); err != nil {
			return nil, fmt.Errorf("positions %d to %d: %w", r.positions[0], r.positions[len(r.positions)-1], err)
		}
		if r.rec != nil {
			r.rec.Sets(name+"indexer.out", selected)
		}
		return selected, nil
	}
	for t := range selected {
		if l.indexer == nil {
			selected[t] = make([]int, visible[t])
			for i := range selected[t] {
				selected[t][i] = i
			}
			continue
		}
		var err error
		if selected[t], err = ops.SelectTopK(scores.Row(t), visible[t], c.TopK, oracle.LowestIndex); err != nil {
			return nil, fmt.Errorf("position %d: %w", r.positions[t], err)
		}
	}
	if r.rec != nil && l.indexer != nil {
		r.rec.Sets(name+"indexer.out", selected)
	}
	return selected, nil
}

// compress appends the rows of every block that this call completes: pooled, normalised, rotated at
// the block's first position. The rest stays pending.
func (r *run) compress(normName, outName string, w compressor, l *layer, width int, h oracle.Mat, s *poolState) {
	ops := r.ops
	a, g := ops.Linear(h, w.wkv), ops.Linear(h, w.wgate)
	oracle.AddPositionBias(g, w.ape, r.start)
	a, g = s.pendingA.Clone().Append(a), s.pendingG.Clone().Append(g)

	blocks := a.Rows / l.ratio
	full := blocks * l.ratio
	pooled := ops.Compress(a.Slice(0, full), g.Slice(0, full), s.prevA, s.prevG,
		oracle.Pooling{Ratio: l.ratio, Width: width, Overlap: l.overlap})
	normed := ops.RMSNorm(pooled, w.norm, 0, r.Config.NormEps)
	first := s.rows.Rows
	positions := make([]int, blocks)
	for b := range positions {
		positions[b] = (first + b) * l.ratio
	}
	rotated := ops.RotateInterleaved(normed, width, positions, r.rope(l), false)
	r.record(normName, normed)
	if outName != "" {
		r.record(outName, rotated)
	}
	s.rows = s.rows.Append(rotated)
	s.rows.Cols = width
	if blocks > 0 {
		s.prevA, s.prevG = a.Slice(full-l.ratio, full), g.Slice(full-l.ratio, full)
	}
	s.pendingA, s.pendingG = a.Slice(full, a.Rows), g.Slice(full, g.Rows)
}

// rope is the layer's rotary table: one base for everything in a compressed layer, another in a
// window-only one.
func (r *run) rope(l *layer) oracle.Rope {
	if l.ratio == 0 {
		return oracle.Rope{Base: r.Config.RopeBase, Dims: r.Config.RopeDims}
	}
	return oracle.Rope{Base: r.Config.CompressedRopeBase, Dims: r.Config.RopeDims}
}

// byHead reorders [T, H·D] to the traces' [H·T, D].
func byHead(q oracle.Mat, heads int) oracle.Mat {
	width := q.Cols / heads
	out := oracle.NewMat(heads*q.Rows, width)
	for t := range q.Rows {
		for h := range heads {
			copy(out.Row(h*q.Rows+t), q.Row(t)[h*width:(h+1)*width])
		}
	}
	return out
}
