package format

import (
	"encoding/binary"
	"math"
)

// widen holds what decoding an 8-bit format to fp32 by integer arithmetic needs.
//
// The magnitude bits, moved to where fp32 keeps them, become a normal value by adding the difference
// of the biases. A subnormal gets the exponent of the smallest normal value, whose implicit 1 a
// subtraction takes away again. Special codes get all exponent bits.
type widen struct {
	sign     uint32 // 1<<31, or 0 without a sign bit
	mag      uint32 // magnitude bits in place
	normal   uint32 // added to a normal magnitude
	sub      uint32 // added to a subnormal one
	magic    uint32 // word subtracted from that in fp32
	and, xor uint32 // a code is special if code & and ^ xor is
	limit    uint32 // larger than limit
	or       uint32 // bits that a special code gets
	lastSub  uint32 // 1<<23 - 1, the largest subnormal word
	shift    uint32 // 23 - ManBits
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

// planes decodes 32 codes at a time, byte by byte: every value of an 8-bit format is a bf16 number,
// whose upper and lower byte are looked up separately, by 16-entry tables. A normal value is a sum
// of two terms, one for each nibble of its code. For subnormals, which are the smallest magnitudes,
// a saturating addition turns the magnitude into an index below 128, and others into one that looks
// up 0; what is found there is the difference to the sum. The assembly reads the rows by their
// offsets; each table is there twice, for the two halves of a register.
type planes struct {
	nibble   [32]byte // 0x0f
	high     [32]byte // table: upper byte of the term of the high nibble, with the sign
	lowUpper [32]byte // table: upper byte of the term of the low nibble
	lowLower [32]byte // table: lower byte
	mag      [32]byte // magnitude bits
	sat      [32]byte // added to a magnitude with saturation
	subUpper [32]byte // table: difference of a subnormal's upper byte
	subLower [32]byte // table: of its lower byte
	and, xor [32]byte // a code is special if (code & and) ^ xor, as signed bytes, is
	limit    [32]byte // larger than limit
	orLower  [32]byte // bits that a special code's lower byte gets
	orUpper  [32]byte // and its upper byte
}

// newPlanes derives the tables.
func newPlanes(k *widen) *planes {
	p := &planes{}
	fill := func(row *[32]byte, b uint32) {
		for i := range row {
			row[i] = byte(b)
		}
	}
	mag := k.mag >> k.shift
	last := k.lastSub >> k.shift // the largest subnormal magnitude, less than 8
	base := func(c uint32) uint32 { return ((c&mag)<<k.shift + k.normal) >> 16 }
	fill(&p.nibble, 0x0f)
	fill(&p.mag, mag)
	fill(&p.sat, 0x7f-last)
	fill(&p.and, k.and)
	fill(&p.xor, k.xor^0x80*(k.limit>>7)) // a limit of 0xfe, unsigned, is one of 0x7e after flipping the top bit
	fill(&p.limit, k.limit&0x7f)
	fill(&p.orLower, k.or>>16&0xff)
	fill(&p.orUpper, k.or>>24)
	for i := range uint32(32) {
		n := i & 15
		// The constant's lower byte goes with the low nibble, whose term may carry into the upper one.
		p.high[i] = byte((base(n<<4)-base(0))>>8 + base(0)>>8 | (n<<4<<24&k.sign)>>24)
		low := base(n) - base(0)>>8<<8
		p.lowUpper[i], p.lowLower[i] = byte(low>>8), byte(low)
		if m := n - (0x7f-last)&15; m <= last {
			d := k.word(m)>>16 ^ base(m)
			p.subUpper[i], p.subLower[i] = byte(d>>8), byte(d)
		}
	}
	return p
}

// wide8 is how to decode one 8-bit format fast: by a table of all codes, or by planes.
type wide8 struct {
	k     widen
	table [256]float32
	p     *planes
}

func newWide8(f Format) *wide8 {
	w := &wide8{k: newWiden(f)}
	for c := range w.table {
		w.table[c] = math.Float32frombits(w.k.word(uint32(c)))
	}
	w.p = newPlanes(&w.k)
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

// decode32 reads fp32 words, without the bits that mask lacks.
func decode32(dst []float32, raw []byte, mask uint32) {
	for len(raw) >= 16 && len(dst) >= 4 {
		s, d := (*[16]byte)(raw), (*[4]float32)(dst)
		d[0] = math.Float32frombits(binary.LittleEndian.Uint32(s[0:4]) & mask)
		d[1] = math.Float32frombits(binary.LittleEndian.Uint32(s[4:8]) & mask)
		d[2] = math.Float32frombits(binary.LittleEndian.Uint32(s[8:12]) & mask)
		d[3] = math.Float32frombits(binary.LittleEndian.Uint32(s[12:16]) & mask)
		raw, dst = raw[16:], dst[4:]
	}
	for i := range min(len(raw)/4, len(dst)) {
		dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]) & mask)
	}
}
