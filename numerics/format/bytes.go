package format

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// pairsE2M1 are the two values in a byte of e2m1 codes, low nibble first.
var pairsE2M1 = func() (p [256][2]float32) {
	for b := range p {
		p[b] = [2]float32{float32(E2M1.Decode(uint32(b & 15))), float32(E2M1.Decode(uint32(b >> 4)))}
	}
	return p
}()

// DecodeBytes decodes little-endian raw tensor bytes, as safetensors stores them. Exact.
//
// 4-bit codes are packed two to a byte, the first in the low nibble (ONNX, ModelOpt, DeepSeek-V4).
// 6-bit codes fill three bytes with four codes from the lowest bit up: safetensors fixes their size
// only, and this carries on the 4-bit rule. A tensor of an odd number of 4-bit elements cannot be
// told from raw bytes; safetensors does not store one.
func DecodeBytes(f Format, raw []byte) ([]float64, error) {
	n, err := count(f, raw)
	if err != nil {
		return nil, err
	}
	out := make([]float64, 0, n)
	switch {
	case f == FP32:
		for ; len(raw) >= 4; raw = raw[4:] {
			out = append(out, float64(math.Float32frombits(binary.LittleEndian.Uint32(raw))))
		}
	case f == BF16:
		for ; len(raw) >= 2; raw = raw[2:] {
			out = append(out, float64(DecodeBF16(binary.LittleEndian.Uint16(raw))))
		}
	case f.Width() == 8:
		t := f.table()
		for _, b := range raw {
			out = append(out, t[b])
		}
	case f.Width() == 4:
		t := f.table()
		for _, b := range raw {
			out = append(out, t[b&15], t[b>>4])
		}
	default:
		each(f, raw, func(c uint32) { out = append(out, f.Decode(c)) })
	}
	return out, nil
}

// AppendFloat32 appends the decoded values to dst; every format here is exact in fp32. A NaN
// stays a NaN; its payload is not promised.
func AppendFloat32(dst []float32, f Format, raw []byte) ([]float32, error) {
	n, err := count(f, raw)
	if err != nil {
		return dst, err
	}
	at := len(dst)
	dst = slices.Grow(dst, n)[:at+n]
	out := dst[at:]
	if w := wideFor(f); w != nil {
		decode8(out, raw, w)
		return dst, nil
	}
	switch {
	case f.WithNaNCode(BF16.NaNCode) == BF16:
		decode16(out, raw)
	case f.WithNaNCode(FP16.NaNCode) == FP16:
		for i := range out {
			out[i] = math.Float32frombits(fp16Word(uint32(binary.LittleEndian.Uint16(raw[2*i:]))))
		}
	case f.WithNaNCode(FP32.NaNCode) == FP32:
		decode32(out, raw, math.MaxUint32)
	case f.WithNaNCode(TF32.NaNCode) == TF32:
		decode32(out, raw, ^uint32(1<<13-1))
	case f.WithNaNCode(E2M1.NaNCode) == E2M1:
		for i, b := range raw {
			*(*[2]float32)(out[2*i:]) = pairsE2M1[b]
		}
	default:
		i := 0
		each(f, raw, func(c uint32) {
			out[i] = float32(f.Decode(c))
			i++
		})
	}
	return dst, nil
}

// UnpackCodes returns the codes in raw, one a value, in the packing of DecodeBytes.
func UnpackCodes(f Format, raw []byte) ([]uint32, error) {
	n, err := count(f, raw)
	if err != nil {
		return nil, err
	}
	out := make([]uint32, 0, n)
	each(f, raw, func(c uint32) { out = append(out, c) })
	return out, nil
}

// PackCodes is the inverse of UnpackCodes. It reports a code that is too large, and a number of
// 4-bit or 6-bit codes that does not fill its last group of bytes.
func PackCodes(f Format, codes []uint32) ([]byte, error) {
	w := f.Width()
	if len(codes)*w%8 != 0 {
		return nil, fmt.Errorf("%s: %d codes of %d bits do not fill whole bytes", f.Name, len(codes), w)
	}
	out := make([]byte, 0, len(codes)*w/8)
	var acc uint64
	fill := 0
	for i, c := range codes {
		if uint64(c)>>w != 0 {
			return nil, fmt.Errorf("%s: code %#x at %d does not fit into %d bits", f.Name, c, i, w)
		}
		acc |= uint64(c) << fill
		for fill += w; fill >= 8; fill -= 8 {
			out = append(out, byte(acc))
			acc >>= 8
		}
	}
	return out, nil
}

// count is the number of elements in raw.
func count(f Format, raw []byte) (int, error) {
	w := f.Width()
	switch w {
	case 4:
		return 2 * len(raw), nil
	case 6:
		if len(raw)%3 != 0 {
			return 0, fmt.Errorf("%s: %d bytes do not hold whole groups of four 6-bit codes in three bytes", f.Name, len(raw))
		}
		return len(raw) / 3 * 4, nil
	case 8, 16, 32:
		if len(raw)%(w/8) != 0 {
			return 0, fmt.Errorf("%s: %d bytes are no multiple of its %d bytes an element", f.Name, len(raw), w/8)
		}
		return len(raw) * 8 / w, nil
	}
	return 0, fmt.Errorf("%s: no rule to store elements of %d bits; want 4, 6, 8, 16 or 32", f.Name, w)
}

// each calls fn with every code in raw, whose length count has accepted.
func each(f Format, raw []byte, fn func(uint32)) {
	switch f.Width() {
	case 4:
		for _, b := range raw {
			fn(uint32(b & 15))
			fn(uint32(b >> 4))
		}
	case 6:
		for ; len(raw) >= 3; raw = raw[3:] {
			g := uint32(raw[0]) | uint32(raw[1])<<8 | uint32(raw[2])<<16
			for s := 0; s < 24; s += 6 {
				fn(g >> s & 63)
			}
		}
	case 8:
		for _, b := range raw {
			fn(uint32(b))
		}
	case 16:
		for ; len(raw) >= 2; raw = raw[2:] {
			fn(uint32(binary.LittleEndian.Uint16(raw)))
		}
	case 32:
		for ; len(raw) >= 4; raw = raw[4:] {
			fn(binary.LittleEndian.Uint32(raw))
		}
	}
}
