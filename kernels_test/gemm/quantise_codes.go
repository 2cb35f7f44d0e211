package gemm

import "math"

// ceilBits is the least e with 2^e >= s, from the bits of a normal s.
func ceilBits(s float32) int {
	w := math.Float32bits(s)
	e := int(w>>23) - 127
	if w&(1<<23-1) != 0 {
		e++
	}
	return e
}

// ceilFrexp is the same from fraction and exponent.
func ceilFrexp(s float32) int {
	f, e := math.Frexp(float64(s))
	if f == 0.5 {
		return e - 1
	}
	return e
}

// ceilLog2 is the same through a logarithm in fp32, which loses what lies next to a power of two.
func ceilLog2(s float32) int {
	return int(math.Ceil(float64(float32(math.Log2(float64(s))))))
}

// toE4M3 rounds to nearest even, saturating.
func toE4M3(v float32) byte { return roundE4M3(v, math.RoundToEven) }

func roundE4M3(v float32, round func(float64) float64) byte {
	a := math.Min(math.Abs(float64(v)), 448)
	e := -6
	if a >= 0x1p-6 {
		_, up := math.Frexp(a)
		e = up - 1
	}
	steps := int(round(math.Ldexp(a, 3-e))) // 8 to 16 in a normal binade, 0 to 8 below
	var code int
	switch {
	case steps >= 16:
		code = (e + 8) << 3
	case steps >= 8:
		code = (e+7)<<3 + steps - 8
	default:
		code = steps
	}
	if code = min(code, 0x7e); math.Signbit(float64(v)) {
		code |= 0x80
	}
	return byte(code)
}

// searchE4M3 is the same by comparison with every midpoint.
func searchE4M3(v float32) byte {
	a := math.Abs(float64(v))
	best := 0
	for c := 1; c <= 0x7e; c++ {
		mid := (valueE4M3(c-1) + valueE4M3(c)) / 2
		if a > mid || a == mid && c%2 == 0 {
			best = c
		}
	}
	if math.Signbit(float64(v)) {
		best |= 0x80
	}
	return byte(best)
}

func valueE4M3(c int) float64 {
	e, m := c>>3&15, c&7
	if e == 0 {
		return math.Ldexp(float64(m), -9)
	}
	return math.Ldexp(8+float64(m), e-10)
}

// toE2M1 rounds to nearest even, saturating; a negative value that becomes 0 keeps its sign.
func toE2M1(v float32) byte {
	return tableE2M1(v, func(a, mid float32, even bool) bool { return a > mid || a == mid && even })
}

func tableE2M1(v float32, over func(a, mid float32, even bool) bool) byte {
	a := v
	if v < 0 {
		a = -v
	}
	var code byte
	for i, mid := range []float32{.25, .75, 1.25, 1.75, 2.5, 3.5, 5} {
		if over(a, mid, i%2 == 1) {
			code = byte(i + 1)
		}
	}
	if v < 0 {
		code |= 8
	}
	return code
}
