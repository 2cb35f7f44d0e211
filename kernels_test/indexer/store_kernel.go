package indexer

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics/format"
)

// keyStore quantises keys and stores them in the paged cache, in steps, all in fp32.
type keyStore struct {
	sum   bench.Summing
	round func(y []float32) // results of norm, rotation and transform

	mean  func(sum float32, n int) float32 // of LayerNorm's row
	count func(n int) float32              // what the sum of squares is divided by
	eps   func(eps float32) float32
	gain  func(v, root, w float32) float32
	bias  func(v, b float32) float32

	freqs    func(inv []float32) []float32 // of the pairs that are rotated
	turn     func(position int, freq float32) (sin, cos float32)
	pair     func(leading, interleaved bool, dim, pairs, i int) (m, n int) // channels of pair i
	walsh    func(sum bench.Summing, y []float32) []float32                // the transform without its factor
	hadamard func(s keyStore, y []float32) []float32

	source   func(y []float32) // a key before quantisation
	amax     func(block []float32) float32
	quotient func(v, by float32) float32
	scale    func(s float32) float32 // the quotient of amax and the largest code
	power    func(s float32) float32 // the least power of two that is no smaller
	rounding format.Rounding

	slot func(slot, page int) int
	places
	kept   func(channel int) bool // channels that are stored
	pack   func(even, odd uint32) uint32
	put    func(page []float64, at int, scale float64)
	beside func(page []float64, tokens, i int) // what else is written with token i
}

// correctStore follows a contract to the letter; changes make it another correct kernel, or a faulty one.
func correctStore(contract string, changes ...func(s *keyStore)) keyStore {
	s := keyStore{
		sum:      bench.Sequential,
		round:    unrounded,
		mean:     func(sum float32, n int) float32 { return sum / float32(n) },
		count:    func(n int) float32 { return float32(n) },
		eps:      same,
		gain:     func(v, root, w float32) float32 { return float32(v*root) * w },
		bias:     func(v, b float32) float32 { return v + b },
		freqs:    func(inv []float32) []float32 { return inv },
		turn:     turn,
		pair:     pair,
		walsh:    butterflies,
		hadamard: func(s keyStore, y []float32) []float32 { return normalised(s.walsh(s.sum, y)) },
		source:   unrounded,
		amax:     largest,
		quotient: func(v, by float32) float32 { return v / by },
		scale:    same,
		power:    roundUp,
		rounding: format.RN,
		slot:     func(slot, _ int) int { return slot },
		places:   correctPlaces(),
		kept:     func(int) bool { return true },
		pack:     func(even, odd uint32) uint32 { return even | odd<<4 },
		put:      func(page []float64, at int, scale float64) { page[at] = scale },
		beside:   func([]float64, int, int) {},
	}
	if contract == "bf16-steps" {
		s.round = roundAll
	}
	for _, change := range changes {
		change(&s)
	}
	return s
}

func unrounded([]float32) {}

// roundUp is the least power of two that is no smaller.
func roundUp(s float32) float32 {
	f, e := math.Frexp(float64(s))
	if f == 0.5 {
		e--
	}
	return float32(math.Ldexp(1, e))
}

// run is index_key_store.
func (s keyStore) run(a bench.Args) (bench.Results, error) {
	x, slots, positions := a.In("x"), a.In("slot_mapping").Ints(), a.In("positions").Ints()
	pages := a.Fresh("pages")
	size, page := a.Out("pages").Shape[1], a.Int("page_size")
	for t, slot := range slots {
		if slot = s.slot(slot, page); slot < 0 {
			continue
		}
		y := s.key(a, bench.Float32s(x.Row(t)), positions[t])
		s.source(y)
		at := slot / page * size
		s.write(a, pages[at:at+size], page, slot%page, y)
	}
	return bench.Results{"pages": pages}, nil
}

// key is the key before quantisation.
func (s keyStore) key(a bench.Args, y []float32, position int) []float32 {
	if a.Word("norm") != "none" {
		y = s.norm(a, y)
		s.round(y)
	}
	if f := s.freqs(bench.Float32s(a.In("inv_freq").Data)); len(f) > 0 {
		for i, freq := range f {
			m, n := s.pair(a.Flag("rope_leading"), a.Flag("rope_interleaved"), len(y), len(f), i)
			sin, cos := s.turn(position, freq)
			y[m], y[n] = float32(y[m]*cos)-float32(y[n]*sin), float32(y[m]*sin)+float32(y[n]*cos)
		}
		s.round(y)
	}
	if a.Flag("hadamard") {
		y = s.hadamard(s, y)
		s.round(y)
	}
	return y
}

func (s keyStore) norm(a bench.Args, x []float32) []float32 {
	w, bias := bench.Float32s(a.In("norm_weight").Data), a.In("norm_bias").Data
	var mean float32
	if a.Word("norm") == "layernorm" {
		mean = s.mean(s.sum(x), len(x))
	}
	centred, squares := make([]float32, len(x)), make([]float32, len(x))
	for i, v := range x {
		centred[i] = v - mean
		squares[i] = centred[i] * centred[i]
	}
	variance := s.sum(squares)/s.count(len(x)) + s.eps(float32(a.Num("norm_eps")))
	root := 1 / float32(math.Sqrt(float64(variance)))
	for i, v := range centred {
		if centred[i] = s.gain(v, root, w[i]); len(bias) > 0 {
			centred[i] = s.bias(centred[i], float32(bias[i]))
		}
	}
	return centred
}

// turn is the angle of a position, fp32 before sine and cosine.
func turn(position int, freq float32) (sin, cos float32) {
	s, c := math.Sincos(float64(float32(position) * freq))
	return float32(s), float32(c)
}

func pair(leading, interleaved bool, dim, pairs, i int) (m, n int) {
	first := dim - 2*pairs
	if leading {
		first = 0
	}
	if interleaved {
		return first + 2*i, first + 2*i + 1
	}
	return first + i, first + pairs + i
}

// butterflies is the Walsh-Hadamard transform in log D stages, Sylvester order.
func butterflies(_ bench.Summing, y []float32) []float32 {
	out := append([]float32(nil), y...)
	for half := 1; half < len(out); half *= 2 {
		for i := range out {
			if i&half == 0 {
				out[i], out[i|half] = out[i]+out[i|half], out[i]-out[i|half]
			}
		}
	}
	return out
}

// normalised multiplies by D^-1/2.
func normalised(y []float32) []float32 {
	factor := float32(1 / math.Sqrt(float64(len(y))))
	out := make([]float32, len(y))
	for i, v := range y {
		out[i] = v * factor
	}
	return out
}
