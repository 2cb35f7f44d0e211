package outsider

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

var structureDamages = []damage{
	{kind: "layer-missing", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		l := f.any(r, func(w *weight) bool { return body(w) && !w.mtp }).layer
		mark := fmt.Sprintf("layers.%d.", l)
		for _, t := range slices.Clone(f.tensors) {
			if has(t.name, mark) {
				f.drop(t.name)
			}
		}
		return []string{mark, strings.TrimSuffix(mark, "."), fmt.Sprintf("layer %d", l), "num_hidden_layers"}, true
	}},
	{kind: "tensor-missing", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		w := f.any(r, func(w *weight) bool { return body(w) && !w.mtp && w.expert < 0 && !f.lonely(w) })
		if w == nil {
			return nil, false
		}
		for _, n := range w.parts {
			f.drop(n)
		}
		return append(w.words(), w.module), true
	}},
	{kind: "norm-missing", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		var norms []string
		for _, t := range f.tensors {
			if has(t.name, "layers.1.") && hasSuffix(t.name, "norm.weight") {
				norms = append(norms, t.name)
			}
		}
		if len(norms) == 0 {
			return nil, false
		}
		n := norms[r.IntN(len(norms))]
		if hasSuffix(n, "linear_attn.norm.weight", "mixer.norm.weight", "self_attn.norm.weight") {
			return nil, false
		}
		f.drop(n)
		return []string{n, strings.TrimSuffix(n, ".weight")}, true
	}},
	{kind: "expert-missing", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		w := f.any(r, func(w *weight) bool { return w.expert >= 0 && body(w) })
		if w == nil {
			return nil, false
		}
		mark := fmt.Sprintf("experts.%d.", w.expert)
		stem := w.module[:strings.Index(w.module, mark)+len(mark)]
		for _, t := range slices.Clone(f.tensors) {
			if strings.HasPrefix(t.name, stem) {
				f.drop(t.name)
			}
		}
		e := fmt.Sprint(w.expert)
		return []string{stem, strings.TrimSuffix(stem, "."), "expert " + e, "numbered " + e}, true
	}},
	{kind: "expert-matrix-missing", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		w := f.any(r, func(w *weight) bool { return w.expert >= 0 && body(w) })
		if w == nil {
			return nil, false
		}
		for _, n := range w.parts {
			f.drop(n)
		}
		return append(w.words(), w.module), true
	}},
	{kind: "head-missing", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		w := f.any(r, func(w *weight) bool { return w.role == "head" })
		if w == nil {
			return nil, false
		}
		for _, n := range w.parts {
			f.drop(n)
		}
		return []string{"lm_head", "tie_word_embeddings"}, true
	}},
	{kind: "tied-with-another-head", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		if f.any(r, func(w *weight) bool { return w.role == "head" }) == nil {
			return nil, false
		}
		f.config["tie_word_embeddings"] = true
		return []string{"lm_head", "tie_word_embeddings"}, true
	}},
	{kind: "transposed", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		w := f.any(r, func(w *weight) bool { return body(w) && !w.quantised && w.slices == 1 && w.rows != w.cols })
		return f.transpose(w)
	}},
	{kind: "transposed-square", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		w := f.any(r, func(w *weight) bool { return body(w) && !w.quantised && w.slices == 1 && w.rows == w.cols })
		return f.transpose(w)
	}},
	{kind: "names-exchanged", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		w := f.any(r, f.coded)
		x := f.any(r, func(x *weight) bool {
			return x.layer == w.layer && x.expert == w.expert && x.rows != w.rows && f.coded(x) && x.slices == 1
		})
		if x == nil || w.slices > 1 {
			return nil, false
		}
		for part, n := range w.parts {
			a, b := f.own(n), f.own(x.parts[part])
			a.dtype, b.dtype, a.shape, b.shape, a.data, b.data = b.dtype, a.dtype, b.shape, a.shape, b.data, a.data
		}
		return append(w.words(), x.words()...), true
	}},
	{kind: "matrix-narrower", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		w := f.any(r, func(w *weight) bool { return body(w) && !w.quantised && w.slices == 1 })
		if w == nil {
			return nil, false
		}
		t := f.own(w.codes())
		row := len(t.data) / t.shape[0]
		t.shape[0] -= 8
		t.data = t.data[:t.shape[0]*row]
		return w.words(), true
	}},
	{kind: "gate-and-up-exchanged", original: true, do: func(f *folder, r *rand.Rand) ([]string, bool) {
		n := 0
		for _, g := range f.weights {
			if g.role != "gate" {
				continue
			}
			u := f.any(r, func(x *weight) bool {
				return x.role == "up" && x.layer == g.layer && x.expert == g.expert && f.alikeShape(x, g)
			})
			if u == nil {
				continue
			}
			for part, name := range g.parts {
				a, b := f.own(name), f.own(u.parts[part])
				a.data, b.data = b.data, a.data
			}
			n++
		}
		return []string{"gate", "up"}, n > 0
	}},
}

func (f *folder) alikeShape(x, w *weight) bool {
	return x.rows == w.rows && x.cols == w.cols && x.quantised == w.quantised &&
		has(x.module, "shared") == has(w.module, "shared")
}

// lonely is whether no other layer has such a tensor: then only the family's definition could miss it.
func (f *folder) lonely(w *weight) bool {
	return !slices.ContainsFunc(f.weights, func(x *weight) bool {
		return x.layer != w.layer && x.layer >= 0 && x.role == w.role && lastOf(x.module) == lastOf(w.module) &&
			x.slices == w.slices
	}) || has(f.pair, "nemotron")
}

func (f *folder) transpose(w *weight) ([]string, bool) {
	if w == nil {
		return nil, false
	}
	t := f.own(w.codes())
	n := width(t.dtype)
	out := make([]byte, 0, len(t.data))
	for j := range w.cols {
		for i := range w.rows {
			out = append(out, t.data[(i*w.cols+j)*n:][:n]...)
		}
	}
	t.data, t.shape = out, []int{w.cols, w.rows}
	return w.words(), true
}
