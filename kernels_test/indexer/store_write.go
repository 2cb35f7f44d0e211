package indexer

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics/format"
)

// write quantises a key and stores it as token i of a page, by the byte offsets of the layouts.
func (st storeStyle) write(a bench.Args, page []float64, tokens, dim, i int, y []float32) {
	switch a.Word("page_format") {
	case "bf16":
		for d, v := range y {
			code := format.BF16.Encode(float64(v), st.round, format.Overflow)
			page[2*(i*dim+d)], page[2*(i*dim+d)+1] = float64(code&255), float64(code>>8)
		}
	case "fp4":
		st.writeFP4(page, tokens, dim, i, y)
	default:
		st.writeFP8(page, tokens, dim, i, y, a.Word("scale_format") == "ue8m0")
	}
	if st.spill && i+1 < tokens {
		page[(i+1)*len(page)/tokens] = 0
	}
}

// scale of a block: amax over the largest element, rounded up to a power of two where asked for.
func (st storeStyle) scale(block []float32, floor, top float32, power bool) float32 {
	amax := floor
	for i, v := range block {
		if st.amaxOf > 0 && i >= st.amaxOf {
			break
		}
		amax = max(amax, float32(math.Abs(float64(v))))
	}
	s := amax / top
	if st.reciprocal {
		s = amax * (1 / top)
	}
	if st.halfAmax {
		s /= 2
	}
	if !power {
		return s
	}
	f, e := math.Frexp(float64(s))
	if f == 0.5 || st.floorScale {
		e--
	}
	return float32(math.Ldexp(1, e))
}

func (st storeStyle) code(f format.Format, v, s float32) uint32 {
	q := v / s
	if st.reciprocal {
		q = v * (1 / s)
	}
	return f.Encode(float64(q), st.round, format.Saturate)
}

func (st storeStyle) writeFP8(page []float64, tokens, dim, i int, y []float32, power bool) {
	s := st.scale(y, 1e-4, 448, power)
	values, at := i*dim, tokens*dim+4*i
	if st.tokenMajor {
		values, at = i*(dim+4), i*(dim+4)+dim
	}
	for d, v := range y {
		if st.unwritten == 0 || d < st.unwritten {
			page[values+d] = float64(st.code(format.E4M3FN, v, s))
		}
	}
	if st.noScale {
		return
	}
	bits := math.Float32bits(s)
	for b := range 4 {
		page[at+b] = float64(bits >> (8 * b) & 255)
	}
}

func (st storeStyle) writeFP4(page []float64, tokens, dim, i int, y []float32) {
	for g := range dim / 32 {
		block := y[32*g : 32*g+32]
		s := st.scale(block, 6*0x1p-126, 6, true)
		for d := 0; d < 32; d += 2 {
			low, high := st.code(format.E2M1, block[d], s), st.code(format.E2M1, block[d+1], s)
			if st.highFirst {
				low, high = high, low
			}
			if st.unwritten == 0 || d < st.unwritten {
				page[(i*dim+32*g+d)/2] = float64(low | high<<4)
			}
		}
		at := tokens*dim/2 + 4*i + g
		switch {
		case st.tokenMajor:
			at = tokens*dim/2 + g*tokens + i
		case st.swapped:
			at = tokens*dim/2 + 4*i + dim/32 - 1 - g
		}
		if !st.noScale {
			page[at] = float64(math.Round(math.Log2(float64(s))) + 127)
		}
	}
}
