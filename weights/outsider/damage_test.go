package outsider

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// damage is one kind of harm. do harms a folder, with tensor, place and size drawn, and says which words a right
// finding must hold one of; ok is false where the folder has nothing that the kind could harm.
type damage struct {
	kind string
	do   func(f *folder, r *rand.Rand) (words []string, ok bool)
	// original: nothing in the folder alone contradicts it, so that only ASSAY_REFERENCE shows it
	original bool
}

func damages() []damage {
	return slices.Concat(byteDamages, scaleDamages, structureDamages, configDamages, fileDamages)
}

// any draws one of the weights for which ok holds.
func (f *folder) any(r *rand.Rand, ok func(w *weight) bool) *weight {
	var all []*weight
	for _, w := range f.weights {
		if ok(w) {
			all = append(all, w)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all[r.IntN(len(all))]
}

// body is a matrix of a layer that carries weight: no router, no tower.
func body(w *weight) bool {
	return w.layer >= 0 && w.role != "router" && w.role != "small" && w.role != "vision" && w.role != "mtp"
}

// coded is a body matrix that the folder's scheme stores; every one where nothing is quantised.
func (f *folder) coded(w *weight) bool {
	return body(w) && (w.quantised || !slices.ContainsFunc(f.weights, func(x *weight) bool { return x.quantised }))
}

// words are what names a weight: any of its tensors.
func (w *weight) words() []string {
	var out []string
	for _, n := range w.parts {
		out = append(out, n)
	}
	if w.slices == 1 {
		out = append(out, w.module+".")
	}
	return out
}

// stretch draws a place and a size of at least 4 KiB or a hundredth, whole elements.
func stretch(r *rand.Rand, n int) (at, size int) {
	least := 4096
	if n < 400<<10 {
		least = max(256, n/100)
	}
	size = int(between(r, float64(least), float64(max(n/2, least+1)))) &^ 15
	size = max(size, (least+15)&^15)
	if size > n {
		return 0, 0
	}
	return r.IntN((n-size)/16+1) * 16, size
}

var byteDamages = []damage{
	{kind: "zeros-in-codes", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		w := f.any(r, f.coded)
		t := f.own(w.codes())
		at, size := stretch(r, len(t.data))
		clear(t.data[at : at+size])
		return w.words(), size > 0
	}},
	{kind: "zeros-in-half", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		w := f.any(r, f.coded)
		t := f.own(w.codes())
		clear(t.data[r.IntN(2)*len(t.data)/2:][:len(t.data)/2])
		return w.words(), true
	}},
	{kind: "zeros-in-embedding", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		w := f.any(r, func(w *weight) bool { return w.role == "embed" || w.role == "head" })
		t := f.own(w.codes())
		n := 16 + r.IntN(64)
		at, row := r.IntN(f.tokens-n-16), len(t.data)/w.rows
		clear(t.data[at*row : (at+n)*row])
		return w.words(), true
	}},
	{kind: "zeros-in-slice", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		return f.slice(r, func(_ *tensor, _, _ int, data []byte) { clear(data) })
	}},
	{kind: "slice-repeated", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		return f.slice(r, func(t *tensor, e, n int, data []byte) { copy(data, t.data[(e+1)%n*len(data):]) })
	}},
	{kind: "expert-zero", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		w := f.any(r, func(w *weight) bool { return w.expert >= 0 && f.coded(w) })
		if w == nil {
			return nil, false
		}
		clear(f.own(w.codes()).data)
		return w.words(), true
	}},
	{kind: "expert-repeated", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		w := f.any(r, func(w *weight) bool { return w.expert > 0 && f.coded(w) })
		if w == nil {
			return nil, false
		}
		from := f.any(r, func(x *weight) bool {
			return x.expert == w.expert-1 && x.role == w.role && x.layer == w.layer
		})
		return f.over(w, from), true
	}},
	{kind: "tensor-of-another-layer", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		w := f.any(r, f.coded)
		from := f.any(r, func(x *weight) bool { return x.layer != w.layer && f.alike(x, w) })
		if from == nil {
			return nil, false
		}
		return f.over(w, from), true
	}},
	{kind: "rows-repeated", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		w := f.any(r, f.coded)
		t := f.own(w.codes())
		_, size := stretch(r, len(t.data)/2)
		size = min(max(size, 1024), len(t.data)/2)
		row := len(t.data) / (t.shape[0] * max(w.slices, 1))
		if w.slices == 1 {
			size = min((size+row-1)/row*row, len(t.data)/2)
		}
		from := r.IntN(len(t.data)/2-size+1) &^ 15
		if w.slices == 1 {
			from = from / row * row
		}
		copy(t.data[len(t.data)-size:], t.data[from:from+size])
		return w.words(), true
	}},
	{kind: "stretch-of-another", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		w := f.any(r, f.coded)
		from := f.any(r, func(x *weight) bool {
			return x != w && f.coded(x) && f.byName[x.codes()].dtype == f.byName[w.codes()].dtype
		})
		t, src := f.own(w.codes()), f.byName[from.codes()].data
		at, size := stretch(r, min(len(t.data), len(src)))
		size = max(size, 4096)
		at = min(at, min(len(t.data), len(src))-size)
		if at < 0 {
			return nil, false
		}
		copy(t.data[at:at+size], src[at:])
		return append(w.words(), from.words()...), true
	}},
	{kind: "not-finite", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		w := f.any(r, func(w *weight) bool { return body(w) && hasSuffix(f.byName[w.codes()].dtype, "16", "F32", "E4M3") })
		if w == nil {
			return nil, false
		}
		t := f.own(w.codes())
		v := floats{t.dtype, t.data}
		i := r.IntN(v.len())
		for k := range v.size() {
			t.data[i*v.size()+k] = 0xff
		}
		if t.dtype == "F8_E4M3" {
			t.data[i] = 0x7f
		}
		return w.words(), true
	}},
	{kind: "noise", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		w := f.any(r, func(w *weight) bool { return body(w) && hasSuffix(f.byName[w.codes()].dtype, "16", "F32", "E4M3") })
		if w == nil {
			return nil, false
		}
		t := f.own(w.codes())
		at, size := stretch(r, len(t.data))
		for i := range size {
			t.data[at+i] = byte(r.Uint32())
		}
		return w.words(), size > 0
	}},
	{kind: "shifted-by-a-byte", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		w := f.any(r, func(w *weight) bool { return body(w) && hasSuffix(f.byName[w.codes()].dtype, "16", "F32") })
		if w == nil {
			return nil, false
		}
		t := f.own(w.codes())
		at, _ := stretch(r, len(t.data)/2)
		copy(t.data[at+1:], t.data[at:len(t.data)-1])
		return w.words(), true
	}},
	{kind: "one-huge-value", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		w := f.any(r, func(w *weight) bool { return body(w) && hasSuffix(f.byName[w.codes()].dtype, "BF16", "F32") })
		if w == nil {
			return nil, false
		}
		t := f.own(w.codes())
		v := floats{t.dtype, t.data}
		v.set(r.IntN(v.len()), between(r, 1e12, 1e30))
		return w.words(), true
	}},
	{kind: "norm-zero", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		var norms []string
		for _, t := range f.tensors {
			if hasSuffix(t.name, "layernorm.weight") && !has(t.name, "vis") {
				norms = append(norms, t.name)
			}
		}
		if len(norms) == 0 || strings.HasPrefix(f.pair[strings.Index(f.pair, "/")+1:], "gemma") || has(f.pair, "qwen3-next") {
			return nil, false
		}
		n := norms[r.IntN(len(norms))]
		clear(f.own(n).data)
		return []string{n}, true
	}},
	{kind: "read-as-another-dtype", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		w := f.any(r, func(w *weight) bool { return body(w) && hasSuffix(f.byName[w.codes()].dtype, "BF16", "F16") })
		if w == nil {
			return nil, false
		}
		t := f.own(w.codes())
		t.dtype = map[string]string{"BF16": "F16", "F16": "BF16"}[t.dtype]
		return w.words(), true
	}},
}

// alike is whether x could stand in w's place.
func (f *folder) alike(x, w *weight) bool {
	return x.role == w.role && x.rows == w.rows && x.cols == w.cols && x.quantised == w.quantised &&
		x.slices == w.slices && (x.expert < 0) == (w.expert < 0) && body(x) &&
		len(f.byName[x.codes()].data) == len(f.byName[w.codes()].data)
}

// over puts all of from's tensors in the place of w's.
func (f *folder) over(w, from *weight) []string {
	for part, name := range w.parts {
		if src := f.byName[from.parts[part]]; src != nil && part != "state" {
			t := f.own(name)
			t.data = slices.Clone(src.data)
		}
	}
	return append(w.words(), from.words()...)
}

// slice harms one expert of a stack.
func (f *folder) slice(r *rand.Rand, harm func(t *tensor, e, n int, data []byte)) ([]string, bool) {
	w := f.any(r, func(w *weight) bool { return w.slices > 1 })
	if w == nil {
		return nil, false
	}
	t := f.own(w.codes())
	n := len(t.data) / w.slices
	e := r.IntN(w.slices)
	harm(t, e, w.slices, t.data[e*n:(e+1)*n])
	return w.words(), true
}
