package gemm

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
)

// What one more rounding leaves open. With u the unit roundoff of fp32:
//
//   - amax / 448 by a product with the rounded 1/448 has two roundings where the quotient has one: both lie within 2u
//     of the exact value, and so within 3u of each other;
//   - the power of two of ue8m0 is the least one that is not below the quotient: one that is off by d is right for some
//     quotient between (1-d) and (1+d) times the exact one, and d is 3u, or, through log2 in fp32 with 2^-22 for the
//     function and u of |log2| for its rounding, 3u + ln 2 (2u |log2| + 2^-22);
//   - an element's quotient by the scale that was stored, by division or by a product with a rounded reciprocal, lies
//     within 2u of the exact one, so its code is that of some value within 3u of it.
//
// leaveRoundings takes every admissible scale and code for the expected one. A code is judged by the scale that the
// candidate has stored.
func leaveRoundings(contract string, p bench.Problem, out []bench.Expected) {
	codes, scale := &out[0], &out[1]
	x, group, form := p.In("x"), p.Attrs.Int("group_size"), p.Attrs.Word("scale_fmt")
	k := x.Dim(1)
	if group == 0 {
		k, group = len(x.Data), max(len(x.Data), 1)
	}
	blocks := up(k, group)
	block := func(i int) int { return i/k*blocks + i%k/group }
	amax := make([]float64, len(scale.Want))
	for i := range amax {
		amax[i] = p.Attrs.Num("amax_floor")
	}
	for i, v := range x.Data {
		amax[block(i)] = math.Max(amax[block(i)], math.Abs(v))
	}
	wantScale, wantCodes := scale.Want, codes.Want
	if form == "fp32" {
		scale.Derivation = "amax / 448 by a quotient, or by a product with a rounded reciprocal: 3u"
		scale.Bound = make([]float64, len(wantScale))
		for i, s := range wantScale {
			scale.Bound[i] = 3 * numerics.UFP32 * s
		}
	}
	scale.From = func(out map[string][]float64) []float64 {
		got := append([]float64(nil), out["scale"]...)
		for i, v := range got {
			if form == "ue8m0" && i < len(amax) && admissiblePower(contract, amax[i], v) {
				got[i] = wantScale[i]
			}
		}
		return got
	}
	codes.Derivation = "the code of a quotient within 3u of the exact one, by the scale that was stored"
	codes.From = func(out map[string][]float64) []float64 {
		got := append([]float64(nil), out["codes"]...)
		if len(got) != len(wantCodes) || len(out["scale"]) != len(wantScale) {
			return got
		}
		for i, v := range got {
			if by := divisor(form, out["scale"][block(i)]); admissibleCode(x.Data[i]/by, v) {
				got[i] = wantCodes[i]
			}
		}
		return got
	}
}

// admissiblePower tells whether an e8m0 byte is right for some quotient near amax / 448.
func admissiblePower(contract string, amax, got float64) bool {
	v, d := amax/448, 3*numerics.UFP32
	if contract == quantiseLog2.Name && v > 0 {
		d += math.Ln2 * (2*numerics.UFP32*math.Abs(math.Log2(v)) + 0x1p-22)
	}
	least := func(v float64) float64 {
		f, e := math.Frexp(v)
		if f == 0.5 {
			e--
		}
		return float64(min(max(e, -127), 127) + 127)
	}
	return v > 0 && least(v*(1-d)) <= got && got <= least(v*(1+d))
}

// divisor is what a stored scale stands for.
func divisor(form string, stored float64) float64 {
	if form == "fp32" {
		return stored
	}
	return math.Ldexp(1, int(stored)-127)
}

// admissibleCode tells whether an e4m3 byte is that of some value within 3u of q.
func admissibleCode(q, got float64) bool {
	of := func(v float64) float64 { return float64(format.E4M3FN.Encode(v, format.RN, format.Saturate)) }
	d := 3 * numerics.UFP32
	return got == of(q*(1-d)) || got == of(q*(1+d))
}
