package format

import (
	"encoding/binary"
	"math"
)

// widen holds what decoding an 8-bit format to fp32 by integer arithmetic needs. The assembly reads
// the fields by their offsets.
//
// The magnitude bits, moved to where fp32 keeps them, become a normal value by adding the difference
// of the biases. A subnormal gets the exponent of the smallest normal value, whose implicit 1 a
// subtraction takes away again. Special codes get all exponent bits.
type widen struct {
	sign        uint32 // 1<<31, or 0 without a sign bit
	mag         uint32 // magnitude bits in place
	normal      uint32 // added to a normal magnitude
	sub         uint32 // added to a subnormal one
	magic       uint32 // word subtracted from that in fp32
	and, xor    uint32 // a code is special if code & and ^ xor is
	limit       uint32 // larger than limit
	or          uint32 // bits that a special code gets
	lastSub     uint32 // 1<<23 - 1, the largest subnormal word
	shift, zero uint32 // 23 - ManBits
}

// newWiden derives the constants of one of the five 8-bit formats of this package.
func newWiden(f Format) widen {
	e := uint32(127-f.Bias) << 23
	k := widen{
		sign: 1 << 31, mag: 0x7f << (23 - f.ManBits), normal: e, sub: e + 1<<23, magic: e + 1<<23,
		or: 0x7fc00000, lastSub: 1<<23 - 1, shift: uint32(23 - f.ManBits),
	}
	switch f.NaN {
	case NaNIEEE: // infinity has mantissa 0 and stays infinity
		k.and, k.limit, k.or = 0x7f, f.maxMag(), 0x7f800000
	case NaNNegZero: // 0x80 alone
		k.and, k.xor, k.limit = 0xff, 0x7f, 0xfe
	case NaNAllOnes, NaNNone:
		k.and, k.limit = 0x7f, f.maxMag()
	}
	if f.NoZero { // e8m0: code 0 is 2^-127, which in fp32 is a subnormal with one mantissa bit
		k.sign, k.mag, k.and, k.sub, k.magic = 0, 0xff<<23, 0xff, 1<<22, 0
	}
	return k
}

// word decodes one code.
func (k *widen) word(c uint32) uint32 {
	m := c << k.shift & k.mag
	r := m + k.normal
	if m <= k.lastSub {
		r = math.Float32bits(math.Float32frombits(m+k.sub) - math.Float32frombits(k.magic))
	}
	if c&k.and^k.xor > k.limit {
		r |= k.or
	}
	return r | c<<24&k.sign
}

// wide8 is how to decode one 8-bit format fast: by table, or by the arithmetic the table came from.
type wide8 struct {
	k     widen
	table [256]float32
}

func newWide8(f Format) *wide8 {
	w := &wide8{k: newWiden(f)}
	for c := range w.table {
		w.table[c] = math.Float32frombits(w.k.word(uint32(c)))
	}
	return w
}

var wideE4M3FN, wideE5M2, wideE4M3FNUZ, wideE5M2FNUZ, wideE8M0 = newWide8(E4M3FN), newWide8(E5M2),
	newWide8(E4M3FNUZ), newWide8(E5M2FNUZ), newWide8(E8M0)

// wideFor returns the fast decoder of a format that has one; what a NaN encodes to does not matter.
func wideFor(f Format) *wide8 {
	f.NaNCode = 0
	switch f {
	case E4M3FN.WithNaNCode(0):
		return wideE4M3FN
	case E5M2.WithNaNCode(0):
		return wideE5M2
	case E4M3FNUZ.WithNaNCode(0):
		return wideE4M3FNUZ
	case E5M2FNUZ.WithNaNCode(0):
		return wideE5M2FNUZ
	case E8M0.WithNaNCode(0):
		return wideE8M0
	}
	return nil
}

// decode8Go decodes as many codes as both slices hold.
func decode8Go(dst []float32, raw []byte, w *wide8) {
	t := &w.table
	for len(raw) >= 8 && len(dst) >= 8 {
		s, d := (*[8]byte)(raw), (*[8]float32)(dst)
		d[0], d[1], d[2], d[3] = t[s[0]], t[s[1]], t[s[2]], t[s[3]]
		d[4], d[5], d[6], d[7] = t[s[4]], t[s[5]], t[s[6]], t[s[7]]
		raw, dst = raw[8:], dst[8:]
	}
	for i := range min(len(raw), len(dst)) {
		dst[i] = t[raw[i]]
	}
}

// decode16Go decodes bf16.
func decode16Go(dst []float32, raw []byte) {
	for len(raw) >= 8 && len(dst) >= 4 {
		w, d := binary.LittleEndian.Uint64(raw), (*[4]float32)(dst)
		d[0] = math.Float32frombits(uint32(w) << 16)
		d[1] = math.Float32frombits(uint32(w) & 0xffff0000)
		d[2] = math.Float32frombits(uint32(w>>32) << 16)
		d[3] = math.Float32frombits(uint32(w>>32) & 0xffff0000)
		raw, dst = raw[8:], dst[4:]
	}
	for i := range min(len(raw)/2, len(dst)) {
		dst[i] = DecodeBF16(binary.LittleEndian.Uint16(raw[2*i:]))
	}
}

// fp16Word decodes one fp16 code to an fp32 word, as widen.word does for 8 bits.
func fp16Word(c uint32) uint32 {
	const bias = (127 - 15) << 23
	m := c << 13 & 0x0fffe000
	r := m + bias
	switch {
	case m < 1<<23:
		r = math.Float32bits(math.Float32frombits(r+1<<23) - 0x1p-14)
	case m >= 31<<23:
		r |= 0x7f800000
	}
	return r | c<<16&(1<<31)
}
