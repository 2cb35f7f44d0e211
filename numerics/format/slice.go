package format

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// AppendEncoded rounds every value to f and appends the codes to dst, little-endian and packed as
// DecodeBytes reads them. It equals PackCodes of Encode. bf16, e4m3fn, e5m2 and e2m1 to nearest
// even, and fp32, take a fast way. It reports a count of 4-bit or 6-bit codes that does not fill whole bytes.
func AppendEncoded(dst []byte, f Format, x []float32, r Rounding, s Saturation) ([]byte, error) {
	w := f.Width()
	if _, err := count(f, nil); err != nil {
		return dst, err
	}
	if len(x)*w%8 != 0 || w == 6 && len(x)%4 != 0 {
		return dst, fmt.Errorf("%s: %d codes of %d bits do not fill whole bytes", f.Name, len(x), w)
	}
	at, n := len(dst), len(x)*w/8
	dst = slices.Grow(dst, n)[:at+n]
	out := dst[at:]
	if k, ok := narrowFor(f, r, s); ok {
		encode8(out, x, &k)
		return dst, nil
	}
	switch {
	case f.WithNaNCode(BF16.NaNCode) == BF16 && r == RN && s == Overflow:
		encode16(out, x, f.NaNCode)
	case f == E2M1 && r == RN:
		for i := range out {
			out[i] = e2m1Code(math.Float32bits(x[2*i])) | e2m1Code(math.Float32bits(x[2*i+1]))<<4
		}
	case f == TF32 && s == Overflow:
		for i, v := range x {
			binary.LittleEndian.PutUint32(out[4*i:], EncodeTF32(v, r))
		}
	case f == FP32:
		for i, v := range x {
			w := math.Float32bits(v)
			if v != v {
				w = f.NaNCode
			}
			binary.LittleEndian.PutUint32(out[4*i:], w)
		}
	case w == 8:
		for i, v := range x {
			out[i] = byte(f.Encode(float64(v), r, s))
		}
	default:
		var acc uint64
		fill, j := 0, 0
		for _, v := range x {
			acc |= uint64(f.Encode(float64(v), r, s)) << fill
			for fill += w; fill >= 8; fill -= 8 {
				out[j] = byte(acc)
				acc >>= 8
				j++
			}
		}
	}
	return dst, nil
}

// encode8Go encodes as many values as both slices hold.
func encode8Go(dst []byte, x []float32, k *narrow) {
	c := *k
	dst = dst[:min(len(dst), len(x))]
	x = x[:len(dst)]
	for i, v := range x {
		w := math.Float32bits(v)
		dst[i] = byte(c.special(w, c.round(w&0x7fffffff)))
	}
}

// encode16Go encodes to bf16, nearest even, overflow to infinity.
func encode16Go(dst []byte, x []float32, nan uint32) {
	for len(dst) >= 8 && len(x) >= 4 {
		v := (*[4]float32)(x)
		w := uint64(bf16Code(math.Float32bits(v[0]), nan)) | uint64(bf16Code(math.Float32bits(v[1]), nan))<<16
		w |= uint64(bf16Code(math.Float32bits(v[2]), nan))<<32 | uint64(bf16Code(math.Float32bits(v[3]), nan))<<48
		binary.LittleEndian.PutUint64(dst, w)
		dst, x = dst[8:], x[4:]
	}
	for i := range min(len(dst)/2, len(x)) {
		binary.LittleEndian.PutUint16(dst[2*i:], uint16(bf16Code(math.Float32bits(x[i]), nan)))
	}
}
