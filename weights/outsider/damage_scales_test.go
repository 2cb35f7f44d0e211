package outsider

import (
	"math"
	"math/rand/v2"
)

func scaled(w *weight) bool { return body(w) && w.parts["scale"] != "" }

// scales harms the scales of one drawn weight; all harms those of every one.
func scales(
	all bool, harm func(f *folder, r *rand.Rand, w *weight, v floats) bool,
) func(*folder, *rand.Rand) ([]string, bool) {
	return func(f *folder, r *rand.Rand) ([]string, bool) {
		w := f.any(r, scaled)
		if w == nil {
			return nil, false
		}
		targets := []*weight{w}
		if all {
			targets = targets[:0]
			for _, x := range f.weights {
				if x.parts["scale"] != "" {
					targets = append(targets, x)
				}
			}
		}
		for _, x := range targets {
			t := f.own(x.parts["scale"])
			if !harm(f, r, x, floats{t.dtype, t.data}) {
				return nil, false
			}
		}
		if all {
			return []string{w.module, "scale", "SCB", "absmax"}, true
		}
		return w.words(), true
	}
}

func each(g func(x float64) float64) func(*folder, *rand.Rand, *weight, floats) bool {
	return func(_ *folder, _ *rand.Rand, _ *weight, v floats) bool {
		for i := range v.len() {
			v.set(i, g(v.get(i)))
		}
		return true
	}
}

func one(value func(dtype string) (float64, bool)) func(*folder, *rand.Rand, *weight, floats) bool {
	return func(_ *folder, r *rand.Rand, _ *weight, v floats) bool {
		x, ok := value(v.dtype)
		if !ok {
			return false
		}
		i := r.IntN(v.len())
		switch {
		case v.dtype == "F8_E4M3" && math.IsNaN(x):
			v.data[i] = 0x7f
		case v.size() == 1 && math.IsNaN(x):
			v.data[i] = 255
		default:
			v.set(i, x)
		}
		return true
	}
}

// wide is whether a dtype holds the inverse of a usual scale.
func wide(v floats) bool {
	return v.dtype == "F32" || v.dtype == "BF16" || v.dtype == "U8" || v.dtype == "F8_E8M0"
}

var scaleDamages = []damage{
	{kind: "scales-inverted", do: scales(false, func(f *folder, r *rand.Rand, w *weight, v floats) bool {
		return wide(v) && each(func(x float64) float64 { return 1 / x })(f, r, w, v)
	})},
	{kind: "all-scales-inverted", do: scales(true, func(f *folder, r *rand.Rand, w *weight, v floats) bool {
		return wide(v) && each(func(x float64) float64 { return 1 / x })(f, r, w, v)
	})},
	{kind: "scales-times-64", do: scales(false, func(f *folder, r *rand.Rand, w *weight, v floats) bool {
		return v.dtype != "F8_E4M3" && each(func(x float64) float64 { return 64 * x })(f, r, w, v)
	})},
	{kind: "scales-over-64", do: scales(false, func(f *folder, r *rand.Rand, w *weight, v floats) bool {
		return v.dtype != "F8_E4M3" && v.dtype != "F16" && each(func(x float64) float64 { return x / 64 })(f, r, w, v)
	})},
	{kind: "all-exponents-doubled", do: scales(true, func(f *folder, r *rand.Rand, w *weight, v floats) bool {
		return wide(v) && f.scheme != "bnb-int8" && f.scheme != "bnb-nf4" &&
			each(func(x float64) float64 { return x * x })(f, r, w, v)
	})},
	{kind: "scale-zero", do: scales(false, one(func(dtype string) (float64, bool) {
		return 0, dtype != "U8" && dtype != "F8_E8M0"
	}))},
	{kind: "scale-nan", do: scales(false, one(func(string) (float64, bool) { return math.NaN(), true }))},
	{kind: "scale-negative", do: scales(false, func(_ *folder, r *rand.Rand, w *weight, v floats) bool {
		if v.size() == 1 || w.parts["offset"] != "" {
			return false
		}
		i := r.IntN(v.len())
		v.set(i, -v.get(i))
		return true
	})},
	{kind: "scales-zero-run", do: scales(false, func(_ *folder, r *rand.Rand, _ *weight, v floats) bool {
		n := max(1, v.len()/8)
		at := r.IntN(v.len() - n + 1)
		for i := range n {
			v.data[(at+i)*v.size()] = 0
			clear(v.data[(at+i)*v.size() : (at+i+1)*v.size()])
		}
		return true
	})},
	{kind: "scale-missing", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		w := f.any(r, scaled)
		if w == nil {
			return nil, false
		}
		f.drop(w.parts["scale"])
		return w.words(), true
	}},
	{kind: "scales-short", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		w := f.any(r, func(w *weight) bool {
			t := f.byName[w.parts["scale"]]
			return scaled(w) && t != nil && len(t.shape) > 0 && t.shape[0] > 1
		})
		if w == nil {
			return nil, false
		}
		t := f.own(w.parts["scale"])
		row := len(t.data) / t.shape[0]
		t.shape[0]--
		t.data = t.data[:len(t.data)-row]
		return w.words(), true
	}},
	{kind: "factors-are-divisors", do: func(f *folder, _ *rand.Rand) ([]string, bool) {
		n := 0
		for _, w := range f.weights {
			if name := w.parts["global"]; name != "" {
				t := f.own(name)
				v := floats{t.dtype, t.data}
				v.set(0, 1/v.get(0))
				n++
			}
		}
		return []string{"weight_scale_2", "weight_global_scale"}, n > 0
	}},
	{kind: "factor-missing", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		w := f.any(r, func(w *weight) bool { return w.parts["global"] != "" })
		if w == nil {
			return nil, false
		}
		f.drop(w.parts["global"])
		return w.words(), true
	}},
	{kind: "input-scale-missing", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		w := f.any(r, func(w *weight) bool { return w.parts["input"] != "" })
		if w == nil {
			return nil, false
		}
		f.drop(w.parts["input"])
		return w.words(), true
	}},
	{kind: "input-scale-zero", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		w := f.any(r, func(w *weight) bool { return w.parts["input"] != "" })
		if w == nil {
			return nil, false
		}
		clear(f.own(w.parts["input"]).data)
		return w.words(), true
	}},
	{kind: "zeros-off-by-one", do: func(f *folder, _ *rand.Rand) ([]string, bool) {
		return f.zeros(true, func(v uint32) uint32 { return (v + 1) & 15 })
	}},
	{kind: "zero-points-15", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		w := f.any(r, func(w *weight) bool { return w.parts["zero"] != "" })
		if w == nil || f.scheme == "gptq-8bit" {
			return nil, false
		}
		t := f.own(w.parts["zero"])
		for i := range t.data {
			t.data[i] = 0xff
		}
		return w.words(), true
	}},
	{kind: "zero-points-missing", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		w := f.any(r, func(w *weight) bool { return w.parts["zero"] != "" })
		if w == nil {
			return nil, false
		}
		f.drop(w.parts["zero"])
		return w.words(), true
	}},
	{kind: "weight-shape-lies", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		w := f.any(r, func(w *weight) bool { return w.parts["shape"] != "" })
		if w == nil {
			return nil, false
		}
		t := f.own(w.parts["shape"])
		if r.IntN(2) == 0 {
			t.data = int64s(int64(w.rows), int64(2*w.cols))
		} else {
			t.data = int64s(int64(w.rows-8), int64(w.cols))
		}
		return w.words(), true
	}},
	{kind: "group-index-out-of-range", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		w := f.any(r, func(w *weight) bool { return w.parts["gidx"] != "" })
		if w == nil {
			return nil, false
		}
		t := f.own(w.parts["gidx"])
		t.data[4*r.IntN(len(t.data)/4)] = byte(w.cols/w.group + r.IntN(20))
		return w.words(), true
	}},
	{kind: "nibbles-exchanged", original: true, do: func(f *folder, r *rand.Rand) ([]string, bool) {
		w := f.any(r, func(w *weight) bool { return w.quantised && f.byName[w.codes()].dtype == "U8" })
		if w == nil {
			return nil, false
		}
		t := f.own(w.codes())
		for i, c := range t.data {
			t.data[i] = c<<4 | c>>4
		}
		return w.words(), true
	}},
	{kind: "scales-shifted-by-a-block", original: true, do: scales(false, func(
		_ *folder, _ *rand.Rand, _ *weight, v floats,
	) bool {
		if v.len() < 4 {
			return false
		}
		first := append([]byte{}, v.data[:v.size()]...)
		copy(v.data, v.data[v.size():])
		copy(v.data[len(v.data)-v.size():], first)
		return true
	})},
}

// zeros changes every 4-bit zero point.
func (f *folder) zeros(_ bool, g func(v uint32) uint32) ([]string, bool) {
	n := 0
	for _, w := range f.weights {
		if w.parts["zero"] == "" || f.scheme == "gptq-8bit" {
			continue
		}
		n++
		t := f.own(w.parts["zero"])
		for i, c := range t.data {
			t.data[i] = byte(g(uint32(c&15)) | g(uint32(c>>4))<<4)
		}
	}
	return []string{"zero"}, n > 0
}
