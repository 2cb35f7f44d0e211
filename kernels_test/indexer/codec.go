package indexer

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// codec reads pages of keys; its fields are what a faulty one does otherwise.
type codec struct {
	tokenMajor bool // the scale of a token is taken to follow its values
	highFirst  bool // the high nibble is taken for the even channel
	otherScale int  // tokens by which the scale is off
	unscaled   bool
	fnuz       bool // e4m3 is taken for e4m3fnuz
	groupOff   bool // fp4 scales are taken in the order of another layout: token and group swapped
	mantissa   bool // the scale's exponent alone is used: 2^floor(log2 scale)
	halfBF16   bool // bf16 is read high byte first
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

// token decodes token i of a page, e4m3 by a table, by the byte offsets of DeepGEMM's layouts.
func (c codec) token(raw []byte, name string, page, dim, i int, table *[256]float32) ([]float32, float32) {
	k := make([]float32, dim)
	switch name {
	case "bf16":
		for d := range k {
			at := 2 * (i*dim + d)
			lo, hi := raw[at], raw[at+1]
			if c.halfBF16 {
				lo, hi = hi, lo
			}
			k[d] = math.Float32frombits(uint32(lo)<<16 | uint32(hi)<<24)
		}
		return k, 1
	case "fp4":
		return c.fp4(raw, page, dim, i, k), 1
	}
	values, at := i*dim, page*dim+4*((i+c.otherScale)%page)
	if c.tokenMajor {
		values, at = i*(dim+4), i*(dim+4)+dim
	}
	for d := range k {
		k[d] = table[raw[values+d]]
	}
	s := math.Float32frombits(uint32(raw[at]) | uint32(raw[at+1])<<8 | uint32(raw[at+2])<<16 | uint32(raw[at+3])<<24)
	switch {
	case c.unscaled:
		s = 1.0 / 128
	case c.mantissa:
		s = math.Float32frombits(math.Float32bits(s) &^ 0x7fffff)
	}
	return k, s
}

func (c codec) fp4(raw []byte, page, dim, i int, k []float32) []float32 {
	for d := range k {
		code := raw[i*dim/2+d/2]
		if (d%2 == 1) != c.highFirst {
			code >>= 4
		}
		at := page*dim/2 + 4*((i+c.otherScale)%page) + d/32
		if c.groupOff {
			at = page*dim/2 + (d/32*page+i)%(4*page)
		}
		s := math.Ldexp(1, int(raw[at])-127)
		if raw[at] == 255 {
			s = math.NaN()
		}
		if c.unscaled {
			s = 0.25
		}
		k[d] = float32(e2m1(code) * s)
	}
	return k
}

// e2m1 is the value of a nibble: two exponent bits of bias 1, one of mantissa.
func e2m1(code byte) float64 {
	v := [8]float64{0, 0.5, 1, 1.5, 2, 3, 4, 6}[code&7]
	if code&8 != 0 {
		v = -v
	}
	return v
}

// e4m3 is the value of a byte: four exponent bits of bias 7, three of mantissa, all ones for NaN; fnuz has bias 8.
func (c codec) e4m3(code byte) float32 {
	e, m := int(code>>3&15), float64(code&7)
	v := math.Ldexp(1+m/8, e-7)
	switch {
	case code&0x7f == 0x7f && !c.fnuz:
		v = math.NaN()
	case e == 0:
		v = math.Ldexp(m, -9)
	}
	if c.fnuz {
		v /= 2
	}
	if code&0x80 != 0 {
		v = -v
	}
	return float32(v)
}
