package sparse

import (
	"encoding/binary"
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics/format"
)

// bytes are pages of codes with scales that differ from group to group. V3.2's fp32 scales are no powers of two but
// have four significant bits, so that code times scale is exact in bf16 too: implementations differ in where they round
// that product.
func (d *draft) bytes(c pool) bench.Operand {
	l, err := layoutOf(d.layout, c.page)
	if err != nil {
		return bench.Operand{}
	}
	pages := c.rows / c.page
	data := make([]byte, pages*l.Size)
	for i := range data {
		data[i] = byte(d.IntN(120)) // padding too
	}
	for p := range pages {
		page := data[p*l.Size : (p+1)*l.Size]
		for _, f := range l.Fields {
			for t := range l.Tokens {
				for e := range f.Count {
					d.code(page, f, t, e)
				}
			}
		}
	}
	return bench.Bytes(data, pages, l.Size)
}

func (d *draft) code(page []byte, f format.Field, t, e int) {
	at := f.At + t*f.Stride + e*f.Format.Width()/8
	switch f.Format.Name {
	case format.E4M3FN.Name:
		page[at] = byte(format.E4M3FN.Encode(2*d.NormFloat64(), format.RN, format.Saturate))
	case format.BF16.Name:
		binary.LittleEndian.PutUint16(page[at:], uint16(format.BF16.Encode(0.9*d.NormFloat64(), format.RN, format.Saturate)))
	case format.E8M0.Name:
		page[at] = byte(127 - d.IntN(4)) // 2^0 to 2^-3
	default:
		binary.LittleEndian.PutUint32(page[at:],
			math.Float32bits(float32(1+float64(1+d.IntN(7))/8)/float32(int(2)<<d.IntN(2))))
	}
}

// owner tells for a byte of a page which token has it, -1 for padding.
func owner(l format.Layout) []int {
	out := make([]int, l.Size)
	for i := range out {
		out[i] = -1
	}
	for _, f := range l.Fields {
		for t := range l.Tokens {
			for b := range f.Count * f.Format.Width() / 8 {
				out[f.At+t*f.Stride+b] = t
			}
		}
	}
	return out
}
