package oracle_test

import (
	"fmt"

	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/oracle"
)

// hyperConnections checks both mHC of a layer: gates, comb, collapsed input, and the streams after.
func (s *subject) hyperConnections(layer int) []reading {
	p := fmt.Sprintf("model.layers.%d.", layer)
	var all []reading
	for _, part := range []struct{ module, weights, sublayer, next string }{
		{"attn_hc", "hc_attn_", "self_attn.out.0", p + "ffn_hc.in.0"},
		{"ffn_hc", "hc_ffn_", "mlp.out", p + "out"},
	} {
		name, wname := p+part.module, fmt.Sprintf("layers.%d.%s", layer, part.weights)
		x, fn := s.tr.Mat(name+".in.0", 512), s.weight(wname+"fn")
		scale, base := s.weight(wname+"scale").Row(0), s.weight(wname+"base").Row(0)
		pre, post, comb := s.ops.HCSplit(s.ops.HCMix(x, fn, s.cfg.NormEps), scale, base, s.cfg)
		y := s.ops.HCPre(x, pre)

		var bPost, bComb, bY [][]numerics.Tracked
		for _, row := range tracked(x) {
			tPre, tPost, tComb := s.split(row, fn, scale, base)
			bPost, bComb = append(bPost, tPost), append(bComb, tComb)
			bY = append(bY, s.collapse(tPre, row))
		}
		all = append(all,
			reading{"hc-post-gate", post.Data, s.tr.Mat(name+".out.0", 0).Data, bounds(bPost)},
			reading{"hc-comb", comb.Data, s.tr.Mat(name+".out.1", 16).Data, bounds(bComb)},
			reading{"hc-pre", y.Data, s.tr.Mat(name+".out.2", 0).Data, bounds(bY)})
		all = append(all, s.spread(name, p+part.sublayer, part.next, x))
	}
	return all
}

// mix is one row's mixes with their bound.
func (s *subject) mix(v []numerics.Tracked, fn oracle.Mat) []numerics.Tracked {
	r := s.ar.RMSScale(v, s.cfg.NormEps)
	var out []numerics.Tracked
	for _, m := range s.linear([][]numerics.Tracked{v}, fn)[0] {
		out = append(out, s.ar.Mul(m, r))
	}
	return out
}

func (s *subject) gate(m numerics.Tracked, scale, base float64) numerics.Tracked {
	return s.ar.Sigmoid(s.ar.Add(s.ar.Mul(m, numerics.Exact(scale)), numerics.Exact(base)))
}

func (s *subject) split(v []numerics.Tracked, fn oracle.Mat, scale, base []float64) (pre, post,
	comb []numerics.Tracked,
) {
	mixes := s.mix(v, fn)
	var logits []numerics.Tracked
	for i, m := range mixes {
		switch {
		case i < 4:
			pre = append(pre, s.ar.Add(s.gate(m, scale[0], base[i]), numerics.Exact(s.cfg.Eps)))
		case i < 8:
			post = append(post, s.ar.Scale(s.gate(m, scale[1], base[i]), 2))
		default:
			logits = append(logits, s.ar.Add(s.ar.Mul(m, numerics.Exact(scale[2])), numerics.Exact(base[i])))
		}
	}
	return pre, post, s.ar.Sinkhorn(logits, 4, s.cfg.Iterations, s.cfg.Eps)
}

// collapse is sum_j pre_j X[j, c].
func (s *subject) collapse(pre, x []numerics.Tracked) []numerics.Tracked {
	width := len(x) / len(pre)
	var y []numerics.Tracked
	for c := range width {
		var column []numerics.Tracked
		for j := range pre {
			column = append(column, x[j*width+c])
		}
		y = append(y, s.ar.Dot(pre, column))
	}
	return y
}

// spread checks HCPost on the recorded gates, comb and sublayer output.
func (s *subject) spread(name, sublayer, next string, x oracle.Mat) reading {
	f, post, comb := s.tr.Mat(sublayer, 0), s.tr.Mat(name+".out.0", 0), s.tr.Mat(name+".out.1", 16)
	got := s.ops.HCPost(f, post, comb, x)
	var bound []float64
	for t := range f.Rows {
		for k := range 4 {
			for c := range f.Cols {
				a := []numerics.Tracked{numerics.Exact(post.Row(t)[k])}
				b := []numerics.Tracked{numerics.Exact(f.Row(t)[c])}
				for j := range 4 {
					a = append(a, numerics.Exact(comb.Row(t)[j*4+k]))
					b = append(b, numerics.Exact(x.Row(t)[j*f.Cols+c]))
				}
				bound = append(bound, s.ar.Dot(a, b).E)
			}
		}
	}
	return reading{"hc-post", got.Data, s.tr.Mat(next, 512).Data, bound}
}

// head checks what follows the last layer.
func (s *subject) head() []reading {
	x, fn := s.tr.Mat("model.hc_head.in.0", 512), s.weight("hc_head_fn")
	scale, base := s.weight("hc_head_scale").Data[0], s.weight("hc_head_base").Row(0)
	y := s.ops.HCPre(x, s.ops.HCHead(s.ops.HCMix(x, fn, s.cfg.NormEps), scale, base, s.cfg.Eps))
	var bY [][]numerics.Tracked
	for _, row := range tracked(x) {
		var pre []numerics.Tracked
		for j, m := range s.mix(row, fn) {
			pre = append(pre, s.ar.Add(s.gate(m, scale, base[j]), numerics.Exact(s.cfg.Eps)))
		}
		bY = append(bY, s.collapse(pre, row))
	}
	normed := s.tr.Mat("model.norm.out", 0)
	return []reading{
		{"hc-head", y.Data, s.tr.Mat("model.hc_head.out", 0).Data, bounds(bY)},
		s.norm("model.hc_head.out", "norm.weight", "model.norm.out"),
		{
			"lm-head", s.ops.Linear(normed, s.weight("head.weight")).Data, s.tr.Mat("logits", 0).Data,
			bounds(s.linear(tracked(normed), s.weight("head.weight"))),
		},
	}
}

// norm checks a weighted RMSNorm between two recorded tensors.
func (s *subject) norm(in, weight, out string) reading {
	x, w := s.tr.Mat(in, 0), s.weight(weight).Row(0)
	var b [][]numerics.Tracked
	for _, row := range tracked(x) {
		b = append(b, s.ar.RMSNorm(row, numerics.ExactSlice(w), s.cfg.NormEps))
	}
	return reading{"rms-norm", s.ops.RMSNorm(x, w, 0, s.cfg.NormEps).Data, s.tr.Mat(out, 0).Data, bounds(b)}
}
