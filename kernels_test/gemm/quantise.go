package gemm

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// quantStyle is how a quantiser works, and what a faulty one does otherwise.
type quantStyle struct {
	exponent func(s float32) int // the exponent of a power-of-two scale for a quotient s, rounded up
	element  func(v float32) byte
	narrow   func(v float32) byte // e2m1

	reciprocal, noFloor, noTensorScale, bf16First, rowScale bool
	linearTiles, highFirst, padsLeft, lostBlock, floorScale bool
}

func correctQuant() quantStyle {
	return quantStyle{exponent: ceilBits, element: toE4M3, narrow: toE2M1}
}

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

func largest(v []float32) float32 {
	var m float32
	for _, x := range v {
		m = max(m, float32(math.Abs(float64(x))))
	}
	return m
}

func bf16(v float32) float32 {
	w := math.Float32bits(v)
	w += 0x7fff + w>>16&1
	return math.Float32frombits(w &^ 0xffff)
}

// quantFP8 is quantise_fp8.
func quantFP8(s quantStyle) bench.Kernel {
	return func(a bench.Args) (bench.Results, error) {
		t := a.In("x")
		x := floats(t.Data)
		if s.bf16First {
			x = each(x, bf16)
		}
		m, k, group := t.Dim(0), t.Dim(1), a.Int("group_size")
		codes, scale := a.Fresh("codes"), a.Fresh("scale")
		if group == 0 {
			m, k, group = 1, len(x), len(x)
		}
		groups := (k + group - 1) / max(group, 1)
		for r := range m {
			for g := range groups {
				lo, hi := r*k+g*group, r*k+min((g+1)*group, k)
				if s.lostBlock && hi-lo < group {
					continue
				}
				amax := largest(x[lo:hi])
				if s.rowScale {
					amax = largest(x[r*k : (r+1)*k])
				}
				if !s.noFloor {
					amax = max(amax, float32(a.Num("amax_floor")))
				}
				by, stored := s.scale(amax, a.Word("scale_fmt"))
				scale[r*groups+g] = stored
				for i := lo; i < hi; i++ {
					v := x[i] / by
					if s.reciprocal {
						v = x[i] * (1 / by)
					}
					codes[i] = float64(s.element(v))
				}
			}
		}
		return bench.Results{"codes": codes, "scale": scale}, nil
	}
}

// scale is the divisor of a block and what is stored of it.
func (s quantStyle) scale(amax float32, form string) (by float32, stored float64) {
	var e int
	switch form {
	case "ue8m0":
		if e = s.exponent(amax / 448); s.floorScale {
			e--
		}
	case "ocp":
		_, up := math.Frexp(float64(amax))
		if e = up - 1 - 8; amax == 0 {
			e = -127
		}
	default:
		return amax / 448, float64(amax / 448)
	}
	e = min(max(e, -127), 127)
	return float32(math.Ldexp(1, e)), float64(e + 127)
}

// quantNV is quantise_nvfp4.
func quantNV(s quantStyle) bench.Kernel {
	return func(a bench.Args) (bench.Results, error) {
		t := a.In("x")
		x := floats(t.Data)
		if s.bf16First {
			x = each(x, bf16)
		}
		m, k := t.Dim(0), t.Dim(1)
		groups := k / 16
		codes, scale := a.Fresh("codes"), a.Fresh("scale")
		if !s.padsLeft {
			clear(scale)
		}
		tensor := float32(a.Num("global_amax")) / 2688
		for r := range m {
			for g := range groups {
				block := x[r*k+g*16 : r*k+g*16+16]
				quotient := largest(block) / (6 * tensor)
				if s.noTensorScale {
					quotient = largest(block) / 6
				}
				if quotient == 0 {
					quotient = 1
				}
				code := s.element(min(max(quotient, 0x1p-9), 448))
				if at := (r/128*((groups+3)/4)+g/4)*512 + r%32*16 + r%128/32*4 + g%4; s.linearTiles {
					scale[r*groups+g] = float64(code)
				} else {
					scale[at] = float64(code)
				}
				by := float32(valueE4M3(int(code))) * tensor
				for i := 0; i < 16; i += 2 {
					lo, hi := s.narrow(s.quotient(block[i], by)), s.narrow(s.quotient(block[i+1], by))
					if s.highFirst {
						lo, hi = hi, lo
					}
					codes[(r*k+g*16+i)/2] = float64(lo | hi<<4)
				}
			}
		}
		return bench.Results{"codes": codes, "scale": scale}, nil
	}
}

func (s quantStyle) quotient(v, by float32) float32 {
	if s.reciprocal {
		return v * (1 / by)
	}
	return v / by
}
