package gemm

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// quantiser is quantisation in steps.
type quantiser struct {
	read     func(v float32) float32                 // a value before anything else
	amax     func(row []float32, lo, hi int) float32 // of the block [lo, hi) of a row
	floored  func(amax, floor float32) float32
	divided  func(amax float32) float32
	exponent func(s float32) int         // of a power-of-two scale for a quotient s, rounded up
	quotient func(v, by float32) float32 // of an element by its scale
	element  func(v float32) byte        // e4m3
	narrow   func(v float32) byte        // e2m1
	written  func(k, group int) int      // groups of a row that are written

	relative func(amax, tensor float32) float32 // amax of an NVFP4 block by what its scale's code 1.0 stands for
	place    func(row, col, cols int) int       // where an NVFP4 block's scale is stored
	padding  func(scale []float64)              // what fills up tiles of scales
	pack     func(even, odd byte) byte
}

// correctQuantiser follows the recipe to the letter.
func correctQuantiser(changes ...func(q *quantiser)) quantiser {
	q := quantiser{
		read:     same,
		amax:     func(row []float32, lo, hi int) float32 { return largest(row[lo:hi]) },
		floored:  func(amax, floor float32) float32 { return max(amax, floor) },
		divided:  func(amax float32) float32 { return amax / 448 },
		exponent: ceilBits,
		quotient: func(v, by float32) float32 { return v / by },
		element:  toE4M3,
		narrow:   toE2M1,
		written:  up,
		relative: func(amax, tensor float32) float32 { return amax / (6 * tensor) },
		place: func(r, c, cols int) int {
			return (r/128*((cols+3)/4)+c/4)*512 + r%32*16 + r%128/32*4 + c%4
		},
		padding: func(scale []float64) { clear(scale) },
		pack:    func(even, odd byte) byte { return even | odd<<4 },
	}
	for _, change := range changes {
		change(&q)
	}
	return q
}

// kernels are both quantisers.
func (q quantiser) kernels() map[string]bench.Kernel {
	return map[string]bench.Kernel{opQuantFP8: q.fp8, opQuantNV: q.nvfp4}
}

func largest(v []float32) float32 {
	var m float32
	for _, x := range v {
		m = max(m, float32(math.Abs(float64(x))))
	}
	return m
}

// fp8 is quantise_fp8.
func (q quantiser) fp8(a bench.Args) (bench.Results, error) {
	t := a.In("x")
	x := each(bench.Float32s(t.Data), q.read)
	m, k, group := t.Dim(0), t.Dim(1), a.Int("group_size")
	codes, scale := a.Fresh("codes"), a.Fresh("scale")
	if group == 0 {
		m, k, group = 1, len(x), len(x)
	}
	group = max(group, 1)
	for r := range m {
		row := x[r*k : (r+1)*k]
		for g := range q.written(k, group) {
			lo, hi := g*group, min((g+1)*group, k)
			by, stored := q.scale(q.floored(q.amax(row, lo, hi), float32(a.Num("amax_floor"))), a.Word("scale_fmt"))
			scale[r*up(k, group)+g] = stored
			for i := lo; i < hi; i++ {
				codes[r*k+i] = float64(q.element(q.quotient(row[i], by)))
			}
		}
	}
	return bench.Results{"codes": codes, "scale": scale}, nil
}

// scale is the divisor of a block and what is stored of it.
func (q quantiser) scale(amax float32, form string) (by float32, stored float64) {
	var e int
	switch form {
	case "ue8m0":
		e = q.exponent(q.divided(amax))
	case "ocp":
		_, up := math.Frexp(float64(amax))
		if e = up - 1 - 8; amax == 0 {
			e = -127
		}
	default:
		s := q.divided(amax)
		return s, float64(s)
	}
	e = min(max(e, -127), 127)
	return float32(math.Ldexp(1, e)), float64(e + 127)
}

// nvfp4 is quantise_nvfp4.
func (q quantiser) nvfp4(a bench.Args) (bench.Results, error) {
	t := a.In("x")
	x := each(bench.Float32s(t.Data), q.read)
	m, k := t.Dim(0), t.Dim(1)
	codes, scale := a.Fresh("codes"), a.Fresh("scale")
	q.padding(scale)
	tensor := float32(a.Num("global_amax")) / 2688
	for r := range m {
		for g := range k / 16 {
			block := x[r*k+g*16 : r*k+g*16+16]
			quotient := q.relative(largest(block), tensor)
			if quotient == 0 {
				quotient = 1
			}
			code := q.element(min(max(quotient, 0x1p-9), 448))
			scale[q.place(r, g, k/16)] = float64(code)
			by := float32(valueE4M3(int(code))) * tensor
			for i := 0; i < 16; i += 2 {
				even, odd := q.narrow(q.quotient(block[i], by)), q.narrow(q.quotient(block[i+1], by))
				codes[(r*k+g*16+i)/2] = float64(q.pack(even, odd))
			}
		}
	}
	return bench.Results{"codes": codes, "scale": scale}, nil
}

// byReciprocals multiplies by rounded reciprocals, as contract two-roundings allows.
func byReciprocals(q *quantiser) {
	q.divided = func(amax float32) float32 { return amax * float32(1.0/448) }
	q.quotient = func(v, by float32) float32 { return v * (1 / by) }
}

// throughLog2 besides takes powers of two through a logarithm in fp32.
func throughLog2(q *quantiser) {
	byReciprocals(q)
	q.exponent = ceilLog2
}
