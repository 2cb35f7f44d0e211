package outsider

import (
	"encoding/binary"
	"fmt"
	"math"
)

// bf16 rounds to nearest, ties to even; finite inputs only.
func bf16(x float32) uint16 {
	b := math.Float32bits(x)
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

func fromBF16(b uint16) float32 { return math.Float32frombits(uint32(b) << 16) }

// f16 rounds to nearest even; what overflows becomes infinity.
func f16(x float32) uint16 {
	sign := uint16(math.Float32bits(x) >> 16 & 0x8000)
	a := math.Abs(float64(x))
	switch {
	case x != x:
		return 0x7e00
	case a >= 65520:
		return sign | 0x7c00
	case a < 0x1p-14:
		return sign | uint16(math.RoundToEven(a*0x1p24))
	}
	_, e := math.Frexp(a) // a in [2^(e-1), 2^e)
	m := math.RoundToEven(math.Ldexp(a, 11-e))
	if m == 2048 {
		m, e = 1024, e+1
	}
	return sign | uint16(e+14)<<10 | (uint16(m) & 0x3ff)
}

func fromF16(b uint16) float32 {
	e, m := int(b>>10&31), float64(b&0x3ff)
	v := math.Ldexp(m+1024, e-25)
	if e == 0 {
		v = math.Ldexp(m, -24)
	}
	if e == 31 {
		v = math.Inf(1)
		if m != 0 {
			v = math.NaN()
		}
	}
	if b&0x8000 != 0 {
		v = -v
	}
	return float32(v)
}

// e4m3Values are the 127 finite non-negative values of e4m3fn: bias 7, no infinity, 0x7f is NaN (OCP OFP8 1.0).
var e4m3Values = func() []float32 {
	v := make([]float32, 127)
	for c := range v {
		e, m := c>>3, float64(c&7)
		if e == 0 {
			v[c] = float32(math.Ldexp(m, -9))
		} else {
			v[c] = float32(math.Ldexp(8+m, e-10))
		}
	}
	return v
}()

// e4m3 rounds to nearest even and saturates at 448.
func e4m3(x float32) byte {
	b := math.Float32bits(x)
	sign, a := byte(b>>24&0x80), math.Float32frombits(b&0x7fffffff)
	switch {
	case a >= 448:
		return sign | 0x7e
	case a < 0x1p-6:
		return sign | byte(math.RoundToEven(float64(a)*512))
	}
	b = math.Float32bits(a)
	b += 0x7ffff + b>>20&1
	return sign | byte(b>>20-(120<<3))
}

func fromE4M3(c byte) float32 {
	if c&0x7f == 0x7f {
		return float32(math.NaN())
	}
	if c&0x80 != 0 {
		return -e4m3Values[c&0x7f]
	}
	return e4m3Values[c]
}

// e2m1 has the magnitudes 0, 0.5, 1, 1.5, 2, 3, 4, 6 and a sign bit (OCP MX 1.0); ties go to even codes.
func e2m1(x float32) byte {
	var sign byte
	if x < 0 {
		sign, x = 8, -x
	}
	edges := [7]float32{0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5}
	var c byte
	for i, e := range edges {
		if x > e || (x == e && i%2 == 1) {
			c = byte(i + 1)
		}
	}
	return sign | c
}

// floats reads and writes single elements of the dtypes in which scales and plain weights are stored; a U8 is e8m0.
type floats struct {
	dtype string
	data  []byte
}

func (f floats) size() int { return width(f.dtype) }

func (f floats) len() int { return len(f.data) / f.size() }

func (f floats) get(i int) float64 {
	d := f.data[i*f.size():]
	switch f.dtype {
	case "F32":
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(d)))
	case "BF16":
		return float64(fromBF16(binary.LittleEndian.Uint16(d)))
	case "F16":
		return float64(fromF16(binary.LittleEndian.Uint16(d)))
	case "F8_E4M3":
		return float64(fromE4M3(d[0]))
	case "U8", "F8_E8M0":
		return math.Ldexp(1, int(d[0])-127)
	}
	panic("no float: " + f.dtype)
}

func (f floats) set(i int, v float64) {
	d := f.data[i*f.size():]
	switch f.dtype {
	case "F32":
		binary.LittleEndian.PutUint32(d, math.Float32bits(float32(v)))
	case "BF16":
		binary.LittleEndian.PutUint16(d, bf16(float32(v)))
	case "F16":
		binary.LittleEndian.PutUint16(d, f16(float32(v)))
	case "F8_E4M3":
		d[0] = e4m3(float32(v))
	case "U8", "F8_E8M0":
		d[0] = byte(max(0, min(254, math.Round(math.Log2(v))+127)))
	default:
		panic("no float: " + f.dtype)
	}
}

// width is the size of an element in bytes.
func width(dtype string) int {
	switch dtype {
	case "F64", "I64":
		return 8
	case "F32", "I32", "U32":
		return 4
	case "BF16", "F16":
		return 2
	case "F8_E4M3", "F8_E8M0", "U8", "I8":
		return 1
	}
	panic(fmt.Sprintf("no width for %q", dtype))
}

// store encodes values in a float dtype.
func store(dtype string, values []float32) []byte {
	f := floats{dtype, make([]byte, len(values)*width(dtype))}
	for i, v := range values {
		f.set(i, float64(v))
	}
	return f.data
}
