package indexer

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics/format"
)

// write quantises a key and stores it as token i of a page, by the byte offsets of the layouts.
func (s keyStore) write(a bench.Args, page []float64, tokens, i int, y []float32) {
	switch a.Word("page_format") {
	case "bf16":
		for d, v := range y {
			code, at := format.BF16.Encode(float64(v), s.rounding, format.Overflow), 2*(i*len(y)+d)
			page[at], page[at+1] = float64(code&255), float64(code>>8)
		}
	case "fp4":
		s.writeFP4(page, tokens, i, y)
	default:
		s.writeFP8(page, tokens, i, y, a.Word("scale_format") == "ue8m0")
	}
	s.beside(page, tokens, i)
}

func largest(block []float32) float32 {
	var amax float32
	for _, v := range block {
		amax = max(amax, float32(math.Abs(float64(v))))
	}
	return amax
}

// scaleOf is the scale of a block: amax, or a floor, over the element's maximum.
func (s keyStore) scaleOf(block []float32, floor, top float32, power bool) float32 {
	by := s.scale(s.quotient(max(floor, s.amax(block)), top))
	if power {
		return s.power(by)
	}
	return by
}

func (s keyStore) code(f format.Format, v, scale float32) uint32 {
	return f.Encode(float64(s.quotient(v, scale)), s.rounding, format.Saturate)
}

func (s keyStore) writeFP8(page []float64, tokens, i int, y []float32, power bool) {
	scale := s.scaleOf(y, 1e-4, 448, power)
	values, at := s.fp8(i, tokens, len(y))
	for d, v := range y {
		if s.kept(d) {
			page[values+d] = float64(s.code(format.E4M3FN, v, scale))
		}
	}
	bits := math.Float32bits(scale)
	for b := range 4 {
		s.put(page, at+b, float64(bits>>(8*b)&255))
	}
}

func (s keyStore) writeFP4(page []float64, tokens, i int, y []float32) {
	dim := len(y)
	for g := range dim / 32 {
		block := y[32*g : 32*g+32]
		scale := s.scaleOf(block, 6*0x1p-126, 6, true)
		for d := 0; d < 32; d += 2 {
			if s.kept(d) {
				even, odd := s.code(format.E2M1, block[d], scale), s.code(format.E2M1, block[d+1], scale)
				page[(i*dim+32*g+d)/2] = float64(s.pack(even, odd))
			}
		}
		s.put(page, s.fp4(i, g, tokens, dim), math.Round(math.Log2(float64(scale)))+127)
	}
}
