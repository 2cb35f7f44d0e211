package indexer

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics/format"
)

// storeStyle is how a correct kernel stores keys in fp32; the fields after the gap are what faulty ones do otherwise.
type storeStyle struct {
	sum        bench.Summing
	steps      bool // results of norm, rotation and transform rounded to bf16
	direct     bool // the transform as a product with the matrix, not as butterflies
	normFirst  bool // its factor before the butterflies
	reciprocal bool // scales and codes by multiplication with reciprocals
	foldWeight bool // weight times root first

	noEps, noMean, noBias, unbiased bool
	otherEnd, otherPairs, noTurn    bool // rotation
	shift                           int  // of positions
	amplitude                       float32
	noHadamard, unnormalised, gray  bool
	round                           format.Rounding
	floorScale, halfAmax, noScale   bool
	amaxOf                          int // channels that amax is taken of, 0 for all of the block
	tokenMajor, highFirst, swapped  bool
	slot                            func(slot, page int) int
	narrowed                        bool // rounded to bf16 before quantisation
	unwritten                       int  // channels from this one on are not written, 0 for none
	spill                           bool // a row of the next token is cleared too
}

// storeKernel is index_key_store.
func storeKernel(st storeStyle) bench.Kernel {
	return func(a bench.Args) (bench.Results, error) {
		x, slots, positions := a.In("x"), a.In("slot_mapping").Ints(), a.In("positions").Ints()
		pages := a.Fresh("pages")
		size, page, dim := a.Out("pages").Shape[1], a.Int("page_size"), x.Dim(1)
		for t, slot := range slots {
			if st.slot != nil {
				slot = st.slot(slot, page)
			}
			if slot < 0 {
				continue
			}
			y := st.key(a, narrow(x.Row(t)), positions[t]+st.shift)
			if st.narrowed {
				roundAll(y)
			}
			at := slot / page * size
			st.write(a, pages[at:at+size], page, dim, slot%page, y)
		}
		return bench.Results{"pages": pages}, nil
	}
}

func roundAll(y []float32) {
	for i, v := range y {
		y[i] = bf16(v)
	}
}

// key is the key before quantisation.
func (st storeStyle) key(a bench.Args, y []float32, position int) []float32 {
	step := func() {
		if st.steps {
			roundAll(y)
		}
	}
	if a.Word("norm") != "none" {
		y = st.norm(a, y)
		step()
	}
	if f := a.In("inv_freq").Data; len(f) > 0 && !st.noTurn {
		st.rotate(a, y, narrow(f), position)
		step()
	}
	if a.Flag("hadamard") && !st.noHadamard {
		y = st.hadamard(y)
		step()
	}
	return y
}

func (st storeStyle) norm(a bench.Args, x []float32) []float32 {
	w, n := narrow(a.In("norm_weight").Data), float32(len(x))
	centred := x
	if a.Word("norm") == "layernorm" && !st.noMean {
		mean := st.sum(x) / n
		centred = make([]float32, len(x))
		for i, v := range x {
			centred[i] = v - mean
		}
	}
	squares := make([]float32, len(x))
	for i, v := range centred {
		squares[i] = v * v
	}
	if st.unbiased {
		n--
	}
	mean := st.sum(squares) / n
	if !st.noEps {
		mean += float32(a.Num("norm_eps"))
	}
	r := 1 / float32(math.Sqrt(float64(mean)))
	bias := a.In("norm_bias").Data
	out := make([]float32, len(x))
	for i, v := range centred {
		if out[i] = float32(v*r) * w[i]; st.foldWeight {
			out[i] = v * float32(r*w[i])
		}
		if len(bias) > 0 && !st.noBias {
			out[i] = float32(out[i]) + float32(bias[i])
		}
	}
	return out
}

func (st storeStyle) rotate(a bench.Args, y, f []float32, position int) {
	first := len(y) - 2*len(f)
	if a.Flag("rope_leading") != st.otherEnd {
		first = 0
	}
	for i, freq := range f {
		m, n := first+i, first+len(f)+i
		if a.Flag("rope_interleaved") != st.otherPairs {
			m, n = first+2*i, first+2*i+1
		}
		sin, cos := math.Sincos(float64(float32(position) * freq))
		s, c := float32(sin), float32(cos)
		if st.amplitude != 0 {
			s, c = s*st.amplitude, c*st.amplitude
		}
		y[m], y[n] = float32(y[m]*c)-float32(y[n]*s), float32(y[m]*s)+float32(y[n]*c)
	}
}

func (st storeStyle) hadamard(x []float32) []float32 {
	factor := float32(1 / math.Sqrt(float64(len(x))))
	y := make([]float32, len(x))
	copy(y, x)
	if st.normFirst {
		for i := range y {
			y[i] *= factor
		}
	}
	if st.direct {
		terms := make([]float32, len(y))
		out := make([]float32, len(y))
		for i := range out {
			for j, v := range y {
				if terms[j] = v; odd(i & j) {
					terms[j] = -v
				}
			}
			out[i] = st.sum(terms)
		}
		y = out
	} else {
		for half := 1; half < len(y); half *= 2 {
			for i := range y {
				if i&half == 0 {
					y[i], y[i|half] = y[i]+y[i|half], y[i]-y[i|half]
				}
			}
		}
	}
	if !st.normFirst && !st.unnormalised {
		for i := range y {
			y[i] *= factor
		}
	}
	if st.gray {
		out := make([]float32, len(y))
		for i, v := range y {
			out[i^i>>1] = v
		}
		y = out
	}
	return y
}

func odd(n int) bool {
	p := false
	for ; n > 0; n &= n - 1 {
		p = !p
	}
	return p
}
