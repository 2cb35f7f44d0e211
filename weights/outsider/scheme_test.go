package outsider

import (
	"math"
	"slices"
)

// scheme is a way of storing weights, from its public description: encode adds the tensors of one matrix, finish
// declares the scheme in the folder's configuration.
type scheme struct {
	name   string
	dtype  string // of what is not quantised; "" is BF16
	covers func(w *weight) bool
	encode func(b *build, w *weight, m []float32)
	finish func(b *build)
	ragged bool // also for sizes that are no multiple of 128
}

// linears are what quantisers take by default: not the router, the head, vision, small projections, or MTP.
func linears(w *weight) bool {
	switch w.role {
	case "router", "head", "vision", "small", "mtp":
		return false
	}
	return !w.mtp
}

// withMTP is what block fp8 of DeepSeek's family covers: the layer of MTP too, but for its joining projection.
func withMTP(w *weight) bool {
	c := *w
	c.mtp = false
	return linears(&c)
}

func expertsOnly(w *weight) bool { return w.expert >= 0 && !w.mtp }

var schemes = map[string]scheme{}

func init() {
	for _, s := range []scheme{
		{name: "bf16"},
		{name: "fp16", dtype: "F16"},
		{name: "fp32", dtype: "F32"},
	} {
		s.finish, s.ragged = func(*build) {}, true
		schemes[s.name] = s
	}
	for _, list := range [][]scheme{fp8Schemes, intSchemes, fp4Schemes, packedSchemes, otherSchemes} {
		for _, s := range list {
			if s.covers == nil {
				s.covers = linears
			}
			schemes[s.name] = s
		}
	}
}

// part stores one of a weight's tensors beside its codes.
func (b *build) part(w *weight, part, suffix, dtype string, data []byte, shape ...int) {
	w.parts[part] = w.module + suffix
	b.add(w.module+suffix, dtype, data, shape...)
}

func absmax(v []float32) float32 {
	var m float32
	for _, x := range v {
		m = max(m, float32(math.Abs(float64(x))))
	}
	return m
}

// rounded is a scale as it will be stored, so that codes are taken with what a reader multiplies them by.
func rounded(dtype string, v float32) float32 {
	f := floats{dtype, make([]byte, width(dtype))}
	f.set(0, float64(v))
	return float32(f.get(0))
}

// grouped quantises runs of g columns to bits, codes from 0 to 2^bits-1; symmetric ones around the middle.
func grouped(m []float32, g, bits int, sym bool, dtype string) (codes []byte, scales []float32, zeros []byte) {
	codes = make([]byte, len(m))
	top := float32(int(1)<<bits - 1)
	for at := 0; at < len(m); at += g {
		run := m[at : at+g]
		var s, z float32
		if sym {
			s, z = absmax(run)/(top/2), float32(int(1)<<(bits-1))
		} else {
			lo, hi := float32(0), float32(0)
			for _, x := range run {
				lo, hi = min(lo, x), max(hi, x)
			}
			s = (hi - lo) / top
		}
		s = rounded(dtype, s)
		if s == 0 {
			s = rounded(dtype, 1e-5) // what libraries put in place of the scale of a run of zeros
		}
		if !sym {
			lo := float32(0)
			for _, x := range run {
				lo = min(lo, x)
			}
			z = float32(math.Max(0, math.Min(float64(top), math.RoundToEven(float64(-lo/s)))))
		}
		for i, x := range run {
			codes[at+i] = byte(max(0, min(top, float32(math.RoundToEven(float64(x/s)))+z)))
		}
		scales, zeros = append(scales, s), append(zeros, byte(z))
	}
	return codes, scales, zeros
}

// words packs runs of a row's codes into 32-bit words, the first code in the lowest bits.
func words(codes []byte, bits int) []byte {
	out, per := make([]byte, 0, len(codes)*bits/8), 32/bits
	for at := 0; at < len(codes); at += per {
		var v uint32
		for i := range per {
			v |= uint32(codes[at+i]) << (bits * i)
		}
		out = append(out, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
	}
	return out
}

// turned transposes [rows, cols].
func turned[T any](v []T, rows, cols int) []T {
	out := make([]T, len(v))
	for i := range rows {
		for j := range cols {
			out[j*rows+i] = v[i*cols+j]
		}
	}
	return out
}

// pairs packs two 4-bit codes into a byte, the first in the low half.
func pairs4(codes []byte) []byte {
	out := make([]byte, len(codes)/2)
	for i := range out {
		out[i] = codes[2*i]&15 | codes[2*i+1]<<4
	}
	return out
}

// calibrated draws the scale of an activation.
func (b *build) calibrated(lo, hi float64) float32 { return float32(between(b.r, lo, hi)) }

var towers = []string{"visual", "vision_tower", "multi_modal_projector"}

// kinds are what was left out: last parts of names that nothing quantised has, towers, and all other names.
func (b *build) kinds() (last, tower, rest []string) {
	for _, n := range b.excluded {
		l := lastOf(n)
		if i := slices.IndexFunc(towers, func(t string) bool { return has(n, t) }); i >= 0 {
			if !slices.Contains(tower, towers[i]) {
				tower = append(tower, towers[i])
			}
			continue
		}
		clash := func(w *weight) bool { return w.quantised && lastOf(w.module) == l }
		if l == "lm_head" || slices.ContainsFunc(b.weights, clash) {
			rest = append(rest, n)
		} else if !slices.Contains(last, l) {
			last = append(last, l)
		}
	}
	return last, tower, rest
}

// leftOut names the modules that were left out, in full, and as compressed-tensors' patterns.
func (b *build) leftOut() (names []any, patterns []any) {
	names, patterns = []any{}, []any{}
	for _, m := range b.excluded {
		names = append(names, m)
	}
	last, tower, rest := b.kinds()
	for _, l := range last {
		patterns = append(patterns, "re:.*"+l+"$")
	}
	for _, t := range tower {
		patterns = append(patterns, "re:.*"+t+".*")
	}
	for _, n := range rest {
		patterns = append(patterns, n)
	}
	return names, patterns
}

// declare puts quantization_config into config.json, where the family has it.
func (b *build) declare(q object) {
	if b.quantUnder != "" {
		b.config[b.quantUnder].(object)["quantization_config"] = q
		return
	}
	b.config["quantization_config"] = q
}
