package indexer

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// places are where the numbers of token i lie in a page, in bytes, by DeepGEMM's layouts.
type places struct {
	fp8 func(i, page, dim int) (values, scale int)
	fp4 func(i, group, page, dim int) int // the scale of a group of 32 channels
}

func correctPlaces() places {
	return places{
		fp8: func(i, page, dim int) (values, scale int) { return i * dim, page*dim + 4*i },
		fp4: func(i, group, page, dim int) int { return page*dim/2 + 4*i + group },
	}
}

// afterValues takes the scale of a token to follow its values.
func afterValues(i, _, dim int) (values, scale int) { return i * (dim + 4), i*(dim+4) + dim }

// codec reads pages of keys in steps.
type codec struct {
	places
	bf16   func(first, second byte) float32
	e4m3   func(code byte) float32
	nibble func(b byte, channel int) byte // the code of a channel, in the low bits
	scale  func(bits uint32) float32      // fp8 pages
	power  func(code byte) float64        // fp4 pages
}

func correctCodec() codec {
	return codec{
		places: correctPlaces(),
		bf16:   func(first, second byte) float32 { return math.Float32frombits(uint32(first)<<16 | uint32(second)<<24) },
		e4m3:   e4m3,
		nibble: func(b byte, channel int) byte { return b >> (4 * (channel % 2)) },
		scale:  math.Float32frombits,
		power: func(code byte) float64 {
			if code == 255 {
				return math.NaN()
			}
			return math.Ldexp(1, int(code)-127)
		},
	}
}

// pool decodes every token of every page: codes (fp4: with their scales, which bf16 holds) and the scale of a key.
func (c codec) pool(pages bench.Tensor, name string, page, dim int) (keys [][]float32, scale []float32) {
	var table [256]float32
	for code := range table {
		table[code] = c.e4m3(byte(code))
	}
	for p := range pages.Dim(0) {
		raw := bench.Tensor{Data: pages.Row(p)}.Bytes()
		for i := range page {
			k, s := c.token(raw, name, page, dim, i, &table)
			keys, scale = append(keys, k), append(scale, s)
		}
	}
	return keys, scale
}

// token decodes token i of a page, e4m3 by a table.
func (c codec) token(raw []byte, name string, page, dim, i int, table *[256]float32) ([]float32, float32) {
	k := make([]float32, dim)
	switch name {
	case "bf16":
		for d := range k {
			at := 2 * (i*dim + d)
			k[d] = c.bf16(raw[at], raw[at+1])
		}
		return k, 1
	case "fp4":
		for d := range k {
			code := c.nibble(raw[i*dim/2+d/2], d)
			k[d] = float32(e2m1(code) * c.power(raw[c.fp4(i, d/32, page, dim)]))
		}
		return k, 1
	}
	values, at := c.fp8(i, page, dim)
	for d := range k {
		k[d] = table[raw[values+d]]
	}
	return k, c.scale(uint32(raw[at]) | uint32(raw[at+1])<<8 | uint32(raw[at+2])<<16 | uint32(raw[at+3])<<24)
}

// e2m1 is the value of a nibble: two exponent bits of bias 1, one of mantissa.
func e2m1(code byte) float64 {
	v := [8]float64{0, 0.5, 1, 1.5, 2, 3, 4, 6}[code&7]
	if code&8 != 0 {
		v = -v
	}
	return v
}

// e4m3 is the value of a byte: four exponent bits of bias 7, three of mantissa, all ones for NaN.
func e4m3(code byte) float32 {
	v := e4m3FNUZ(code) * 2
	if code&0x7f == 0x7f {
		v = float32(math.Copysign(math.NaN(), float64(v)))
	}
	return v
}

// e4m3FNUZ has bias 8 and no NaN among the codes of e4m3's numbers.
func e4m3FNUZ(code byte) float32 {
	e, m := int(code>>3&15), float64(code&7)
	v := math.Ldexp(1+m/8, e-8)
	if e == 0 {
		v = math.Ldexp(m, -10)
	}
	if code&0x80 != 0 {
		v = -v
	}
	return float32(v)
}
