package format

import "math"

// Decode returns the value of a code, exactly. Bits above the format's width and the Shift low bits
// are ignored, as hardware ignores the low 13 bits of a tf32 operand.
func (f Format) Decode(code uint32) float64 {
	code >>= f.Shift
	bits := f.ExpBits + f.ManBits
	mag := code & (1<<bits - 1)
	neg := f.SignBits == 1 && code>>bits&1 == 1
	if f.isNaN(mag, neg) {
		return math.NaN()
	}
	v := math.Inf(1)
	if !f.Inf || mag <= f.maxMag() {
		v = f.magnitude(mag)
	}
	if neg {
		return -v
	}
	return v
}

// isNaN reports whether the magnitude bits, with their sign, are a NaN code.
func (f Format) isNaN(mag uint32, neg bool) bool {
	switch f.NaN {
	case NaNIEEE:
		return mag > (1<<f.ExpBits-1)<<f.ManBits
	case NaNAllOnes:
		return mag == 1<<(f.ExpBits+f.ManBits)-1
	case NaNNegZero:
		return neg && mag == 0
	}
	return false
}

// magnitude is the value of finite magnitude bits. Both factors have at most 24 bits and the
// exponents stay far inside float64, so it is exact.
func (f Format) magnitude(mag uint32) float64 {
	e, m := int(mag>>f.ManBits), mag&(1<<f.ManBits-1)
	if e > 0 || f.NoZero {
		return float64(m|1<<f.ManBits) * pow2(e-f.Bias-f.ManBits)
	}
	return float64(m) * pow2(f.emin()-f.ManBits)
}

// table decodes all codes of a format of at most 8 bits.
func (f Format) table() [256]float64 {
	var t [256]float64
	for c := range 1 << f.Width() {
		t[c] = f.Decode(uint32(c))
	}
	return t
}
