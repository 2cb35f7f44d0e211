package checkpoint

import (
	"encoding/binary"

	"github.com/assay-suite/assay/safetensors"
)

// The class scan works on 8-byte words: a word holds 8, 4, 2 or 1 elements ("lanes"), and one or two
// additions per word tell whether any lane is a NaN or an infinity. No carry leaves a lane, because the
// masked value plus the addend never exceeds the lane.

// lanes describes how a dtype is scanned.
type lanes struct {
	width    int    // bytes of an element
	mask     uint64 // magnitude bits that decide, in every lane
	add      uint64 // carries into the lane's top bit when all of them are set
	top      uint64 // the top bit of every lane
	sign     bool   // the top bit is a sign, so that a zero has two codes
	unsigned bool   // e8m0: NaN needs the top bit too
}

func every(width int, v uint64) uint64 {
	out := uint64(0)
	for s := 0; s < 64; s += 8 * width {
		out |= v << s
	}
	return out
}

// lanesOf gives the scan of a dtype; mask is 0 for those without NaN, which are compared only.
func lanesOf(d safetensors.DType) lanes {
	l := lanes{width: max(1, d.Bits()/8)}
	set := func(mask, add uint64) {
		l.mask, l.add, l.sign = every(l.width, mask), every(l.width, add), true
	}
	switch d {
	case safetensors.F32:
		set(0x7f800000, 0x80000000-hugeExponent<<23)
	case safetensors.BF16:
		set(0x7f80, 0x8000-hugeExponent<<7)
	case safetensors.F16:
		set(0x7c00, 0x0400)
	case safetensors.F64:
		set(0x7ff<<52, 1<<52)
	case safetensors.F8E4M3:
		set(0x7f, 0x01)
	case safetensors.F8E5M2:
		set(0x7c, 0x04)
	case safetensors.F8E8M0:
		set(0x7f, 0x01)
		l.sign, l.unsigned = false, true
	}
	l.top = every(l.width, 1<<(8*l.width-1))
	return l
}

// hugeExponent is the biased exponent of fp32 and bf16 from which a value is looked at: 2^16, which no weight
// reaches. It takes no more time than NaN and infinity alone, which have 255.
const hugeExponent = 127 + 16

// special ORs, over all words, the top bit of every lane that is NaN, infinite or (fp32 and bf16) huge. Words are 8
// bytes; b is a multiple of 8 long.
func special(b []byte, l lanes) uint64 {
	mask, add := l.mask, l.add
	var a0, a1 uint64
	if l.unsigned {
		for ; len(b) >= 16; b = b[16:] {
			w0, w1 := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
			a0 |= (w0&mask + add) & w0
			a1 |= (w1&mask + add) & w1
		}
		for ; len(b) >= 8; b = b[8:] {
			w := binary.LittleEndian.Uint64(b)
			a0 |= (w&mask + add) & w
		}
		return (a0 | a1) & l.top
	}
	for ; len(b) >= 32; b = b[32:] {
		w0, w1 := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		w2, w3 := binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint64(b[24:])
		a0 |= (w0&mask + add) | (w1&mask + add)
		a1 |= (w2&mask + add) | (w3&mask + add)
	}
	for ; len(b) >= 8; b = b[8:] {
		a0 |= binary.LittleEndian.Uint64(b)&mask + add
	}
	return (a0 | a1) & l.top
}

// varied tells whether a word differs from the first element repeated, and whether any bit besides signs
// is set. It stops at the first word that settles both.
func varied(b []byte, first, noSign uint64) (differs, nonzero bool) {
	var d, o uint64
	for i := 0; len(b) >= 8; b = b[8:] {
		w := binary.LittleEndian.Uint64(b)
		d |= w ^ first
		o |= w & noSign
		if i++; i&63 == 0 && d != 0 && o != 0 {
			break
		}
	}
	return d != 0, o != 0
}

// notPositive tells whether any lane of a scale is negative or zero, by the sign bit
// and by the carry that every non-zero magnitude makes.
func notPositive(b []byte, l lanes) bool {
	magnitude := ^l.top
	all, signs := l.top, uint64(0)
	for ; len(b) >= 8; b = b[8:] {
		w := binary.LittleEndian.Uint64(b)
		all &= w&magnitude + magnitude // top bit set iff magnitude is not zero
		signs |= w
	}
	return all&l.top != l.top || signs&l.top != 0
}

// The blocks of fp4 codes whose largest magnitude is a top code. Bits 0-2 of a nibble are the magnitude
// code: 5, 6, 7 are 3, 4 and 6.

// topsNVFP4 counts blocks of 16 codes (8 bytes) that hold a code 7, and those that are all zero. Nearly every
// block of a sound tensor takes the first branch.
func topsNVFP4(b []byte) (top, zero int) {
	const ones = 0x1111111111111111
	for ; len(b) >= 8; b = b[8:] {
		w := binary.LittleEndian.Uint64(b)
		if w&(w>>1)&(w>>2)&ones != 0 {
			top++
		} else if w&(7*ones) == 0 {
			zero++
		}
	}
	return top, zero
}

// topsMXFP4 counts blocks of 32 codes (16 bytes) that hold a code of at least 5, and those all zero.
func topsMXFP4(b []byte) (top, zero int) {
	const ones = 0x1111111111111111
	for ; len(b) >= 16; b = b[16:] {
		w0, w1 := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		if ((w0>>2)&(w0>>1|w0)|(w1>>2)&(w1>>1|w1))&ones != 0 {
			top++
		} else if (w0|w1)&(7*ones) == 0 {
			zero++
		}
	}
	return top, zero
}

// maxCode raises best to the largest 7-bit magnitude in b (e4m3 block scales): a word is looked at lane by
// lane only when one of its lanes exceeds best.
func maxCode(b []byte, best uint8) uint8 {
	const hi = 0x8080808080808080
	limit := every(1, uint64(best)+1)
	for ; len(b) >= 8; b = b[8:] {
		w := binary.LittleEndian.Uint64(b) &^ hi
		if ((w|hi)-limit)&hi == 0 {
			continue
		}
		for s := 0; s < 64; s += 8 {
			best = max(best, uint8(w>>s))
		}
		if best >= 0x7f {
			return best
		}
		limit = every(1, uint64(best)+1)
	}
	return best
}
