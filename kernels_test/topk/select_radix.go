package topk

import (
	"slices"

	"github.com/assay-suite/assay/numerics/format"
)

// byRadix finds the k-th key digit by digit, from the top, and then gathers: what is above it in any case, and of the
// keys that equal it as many as are missing, from the end that the tie rule names. digits are bits for each pass, 32 in
// all.
func byRadix(digits ...int) chooser {
	return func(r row) []int {
		keys := make([]uint32, r.n)
		for i := range keys {
			keys[i] = key(r.scores[i])
		}
		left, shift := r.k, 32
		var prefix, mask uint32
		for _, d := range digits {
			shift -= d
			count := make([]int, 1<<d)
			for _, v := range keys {
				if v&mask == prefix {
					count[v>>shift&(1<<d-1)]++
				}
			}
			bin := len(count) - 1
			for bin > 0 && count[bin] < left {
				left -= count[bin]
				bin--
			}
			prefix |= uint32(bin) << shift
			mask |= (1<<d - 1) << shift
		}
		return r.gather(func(i int) int {
			switch {
			case keys[i] > prefix:
				return 1
			case keys[i] == prefix:
				return 0
			}
			return -1
		}, left)
	}
}

// gather takes the keys of class 1 and, of those of class 0, as many as are missing, by the tie rule.
func (r row) gather(class func(i int) int, missing int) []int {
	out := make([]int, 0, r.k)
	var ties []int
	for i := range r.n {
		switch class(i) {
		case 1:
			out = append(out, i)
		case 0:
			ties = append(ties, i)
		}
	}
	if r.high {
		slices.Reverse(ties)
	}
	return append(out, ties[:min(missing, len(ties))]...)
}

// half is a score as the bits of an fp16 value, to nearest even, infinite beyond its range.
func half(v float32) uint16 {
	return uint16(format.FP16.Encode(float64(v), format.RN, format.Overflow))
}

// coarse is the first pass of a production selection: the top 8 bits of the order-preserving half-precision bits of a
// score, rounded to nearest. A bin is a quarter of a binade; scores beyond 65,504 share one, and so do both zeros.
func coarse(v float32) int {
	h := half(v)
	if h>>15 == 1 && v != 0 {
		return int(^h >> 8 & 0xff)
	}
	return int((h | 0x8000) >> 8) // -0 becomes +0, too
}

// coarsely bins by coarse: the keys above the bin of the k-th score, those inside, and how many of these are missing.
func (r row) coarsely() (above, inside []int, missing int) {
	bins := make([]int, r.n)
	var count [256]int
	for i, v := range r.scores[:r.n] {
		bins[i] = coarse(v)
		count[bins[i]]++
	}
	bin, missing := 255, r.k
	for bin > 0 && count[bin] < missing {
		missing -= count[bin]
		bin--
	}
	for i, b := range bins {
		switch {
		case b > bin:
			above = append(above, i)
		case b == bin:
			inside = append(inside, i)
		}
	}
	return above, inside, missing
}

// byHalfFirst keeps what is above the coarse bin of the k-th score, and chooses among the whole bin exactly.
func byHalfFirst(inner chooser) chooser {
	return func(r row) []int {
		above, inside, missing := r.coarsely()
		return append(above, r.among(inside, missing, inner)...)
	}
}

// among chooses k of some keys.
func (r row) among(of []int, k int, inner chooser) []int {
	if k >= len(of) {
		return of
	}
	sub := row{make([]float32, len(of)), len(of), k, r.high}
	for i, at := range of {
		sub.scores[i] = r.scores[at]
	}
	var out []int
	for _, i := range inner(sub) {
		out = append(out, of[i])
	}
	return out
}
