package outsider

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
)

func seeded(name string, draw int) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name))
	return rand.New(rand.NewPCG(h.Sum64(), uint64(draw)))
}

// heldOut splits names into the half to tune on and the half that is asked once.
func heldOut(name string) bool {
	h := fnv.New32a()
	h.Write([]byte("held out: " + name))
	return h.Sum32()>>7&1 == 1
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

func between(r *rand.Rand, lo, hi float64) float64 { return lo * math.Pow(hi/lo, r.Float64()) }

// build is a folder in the making.
type build struct {
	*folder
	r        *rand.Rand
	s        scheme
	dtype    string    // of what is not quantised
	residual []float64 // how large weights are that read or write a channel of the residual stream
	rolesRMS map[string]float64
	sparse   string // "", "2:4", "half"
	// quantUnder is the field of config.json that holds quantization_config; "" for the top
	quantUnder string
}

// rms of a role in this model: published checkpoints of 1 to 700 B keep nearly all matrices between 0.008 and 0.06.
func (b *build) rms(role string, layer int) float64 {
	base, ok := b.rolesRMS[role]
	if !ok {
		switch role {
		case "embed":
			base = between(b.r, 0.01, 0.05)
		case "head":
			base = between(b.r, 0.01, 0.03)
		case "conv":
			base = between(b.r, 0.08, 0.3)
		default:
			base = between(b.r, 0.012, 0.045)
		}
		b.rolesRMS[role] = base
	}
	if layer < 0 {
		return base
	}
	return base * math.Exp(0.18*b.r.NormFloat64())
}

// channels is a profile of n channels: mild spread, and a few that stand out.
func channels(r *rand.Rand, n int, spread float64, outliers int) []float64 {
	p := make([]float64, n)
	for i := range p {
		p[i] = math.Exp(spread * r.NormFloat64())
	}
	for range outliers {
		p[r.IntN(n)] *= between(r, 2.5, 6)
	}
	return p
}

// matrix draws [rows, cols] with heavy tails, a profile of its own across the inner side, and the residual stream's
// across the outer one.
func (b *build) matrix(w *weight) []float32 {
	rows, cols := channels(b.r, w.rows, 0.25, 1+w.rows/200), channels(b.r, w.cols, 0.2, w.cols/200)
	if w.profileIn {
		for i := range cols {
			cols[i] = b.residual[i%len(b.residual)] * math.Exp(0.1*b.r.NormFloat64())
		}
	}
	if w.profileOut {
		for i := range rows {
			rows[i] = math.Sqrt(b.residual[i%len(b.residual)]) * math.Exp(0.1*b.r.NormFloat64())
		}
	}
	m, sum := make([]float32, w.rows*w.cols), 0.0
	for i, r := range rows {
		for j, c := range cols {
			x := r * c * b.r.NormFloat64()
			if b.r.IntN(256) == 0 {
				x *= 2.5
			}
			m[i*w.cols+j] = float32(x)
			sum += x * x
		}
	}
	scale := float32(w.rms / math.Sqrt(sum/float64(len(m))))
	for i := range m {
		m[i] *= scale
	}
	switch {
	case b.sparse == "2:4" && w.linear && w.layer >= 0:
		prune24(m)
	case b.sparse == "half" && w.linear && w.layer >= 0:
		for i := range m {
			if math.Abs(float64(m[i])) < 0.65*w.rms {
				m[i] = 0
			}
		}
	}
	return m
}

// prune24 keeps the two larger of every four.
func prune24(m []float32) {
	for q := 0; q+4 <= len(m); q += 4 {
		for range 2 {
			least := -1
			for i := q; i < q+4; i++ {
				if m[i] != 0 && (least < 0 || math.Abs(float64(m[i])) < math.Abs(float64(m[least]))) {
					least = i
				}
			}
			if least >= 0 {
				m[least] = 0
			}
		}
	}
}

// linear adds a matrix [rows, cols] of a Linear, quantised where the scheme covers it.
func (b *build) linear(module, role string, layer, expert, rows, cols int) *weight {
	w := &weight{
		module: module, role: role, layer: layer, expert: expert, slices: 1, rows: rows, cols: cols, linear: true,
		parts: map[string]string{},
	}
	return b.place(w)
}

func (b *build) place(w *weight) *weight {
	h := len(b.residual)
	w.profileIn, w.profileOut = w.cols == h && w.role != "o" && w.role != "down", w.rows == h && w.role != "q"
	w.rms = b.rms(w.role, w.layer)
	b.weights = append(b.weights, w)
	if b.s.encode != nil && w.linear && b.s.covers(w) {
		w.quantised = true
		m := b.matrix(w)
		b.source[w] = m
		b.s.encode(b, w, m)
		return w
	}
	if w.linear && b.s.encode != nil {
		b.excluded = append(b.excluded, w.module)
	}
	b.plain(w, b.matrix(w))
	return w
}

func (b *build) plain(w *weight, m []float32) {
	w.parts["codes"] = w.module + ".weight"
	b.add(w.codes(), b.dtype, store(b.dtype, m), w.rows, w.cols)
}

// table is an embedding or an unquantised matrix that is no Linear.
func (b *build) table(module, role string, rows, cols int) *weight {
	w := &weight{
		module: module, role: role, layer: -1, expert: -1, slices: 1, rows: rows, cols: cols, parts: map[string]string{},
	}
	w.linear = role == "head"
	return b.place(w)
}

// stack adds fused experts [slices, rows, cols] in the plain dtype, under name alone.
func (b *build) stack(name, role string, layer, slices, rows, cols int) *weight {
	w := &weight{
		module: name, role: role, layer: layer, expert: -1, slices: slices, rows: rows, cols: cols,
		parts: map[string]string{"codes": name},
	}
	w.rms = b.rms(role, layer)
	b.weights = append(b.weights, w)
	data := make([]byte, 0, slices*rows*cols*2)
	for range slices {
		data = append(data, store(b.dtype, b.matrix(w))...)
	}
	b.add(name, b.dtype, data, slices, rows, cols)
	return w
}

// vector adds n values around mean with a relative spread, and a few that stand out.
func (b *build) vector(name string, n int, mean, spread float64) {
	b.vectorIn(b.dtype, name, n, mean, spread)
}

func (b *build) vectorIn(dtype, name string, n int, mean, spread float64) {
	v := make([]float32, n)
	for i := range v {
		x := mean + spread*b.r.NormFloat64()
		if b.r.IntN(100) == 0 {
			x *= 2.5
		}
		v[i] = float32(x)
	}
	b.add(name, dtype, store(dtype, v), n)
}
