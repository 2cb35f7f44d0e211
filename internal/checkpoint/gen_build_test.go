package checkpoint_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
)

// trained draws a matrix as training leaves one: rows of different size, a few large values.
func trained(rng *rand.Rand, rows, cols int) []float32 {
	out := make([]float32, rows*cols)
	for r := range rows {
		s := 0.02 * math.Exp(0.3*rng.NormFloat64())
		for c := range cols {
			out[r*cols+c] = float32(s * rng.NormFloat64())
		}
	}
	return out
}

// storage is a scheme of a sound folder: how linear layers and experts are stored, and what the config says of it.
type storage struct {
	linear, expert encoder
	quant          string // quantization_config
	key            string // its key; "" is quantization_config
	align          int    // columns that the scheme needs a multiple of
	fused          encoder
	head, embed    bool // stored by the scheme too
}

// build draws a sound folder.
func (f *family) build(rng *rand.Rand, s storage) []*stored {
	own := rand.New(rand.NewPCG(20261201, 4)) // of the encoders, so that every scheme stores the same weights
	var out []*stored
	for _, m := range f.modules {
		name := m.name + ".weight"
		if m.bare {
			name = m.name
		}
		w := trained(rng, m.rows*max(1, m.n), m.cols)
		enc := encoder(bf16)
		switch m.role {
		case linear:
			enc = s.linear
		case expert1:
			enc = s.expert
			if enc == nil {
				enc = s.linear
			}
		case head:
			if s.head {
				enc = s.linear
			}
		case embed:
			if s.embed {
				enc = s.linear
			}
		case normOne, normZero:
			for i := range w {
				w[i] = 0.1 * float32(rng.NormFloat64())
				if m.role == normOne {
					w[i]++
				}
			}
			out = append(out, tensorOf(name, "BF16", rawBF16(w), m.rows))
			continue
		case vector:
			shape := []int{m.rows}
			if m.cols > 1 {
				shape = []int{m.rows, m.cols}
			}
			out = append(out, tensorOf(name, "BF16", rawBF16(w), shape...))
			continue
		case conv:
			out = append(out, tensorOf(name, "BF16", rawBF16(w), m.rows, 1, m.cols))
			continue
		case fused:
			if s.fused == nil {
				out = append(out, tensorOf(name, "BF16", rawBF16(w), m.n, m.rows, m.cols))
				continue
			}
			for _, t := range s.fused(own, m.name, w, m.n*m.rows, m.cols) {
				t.shape = []int{m.n, m.rows, m.cols / 32, 16}
				if strings.HasSuffix(t.name, "_scales") {
					t.shape = t.shape[:3]
				}
				out = append(out, t)
			}
			continue
		case router:
		}
		if m.cols%max(1, s.align) != 0 || m.rows%8 != 0 {
			enc = bf16
		}
		out = append(out, enc(own, m.name, w, m.rows, m.cols)...)
	}
	f.declare(s)
	return out
}

// declare writes the scheme into the config; modules that the scheme cannot hold are listed as left out.
func (f *family) declare(s storage) {
	if s.quant == "" {
		return
	}
	var q map[string]any
	if err := json.Unmarshal([]byte(s.quant), &q); err != nil {
		panic(err) // a constant of the test
	}
	key := s.key
	if key == "" {
		key = "quantization_config"
	}
	f.config[key] = q
}
