package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// ExactPairs is the largest number of pairs whose sign patterns are all enumerated: 2^20 sums take milliseconds.
const ExactPairs = 20

// DefaultResamples is how many sign patterns are drawn above ExactPairs when none is asked for: the smallest p is 1e-5.
const DefaultResamples = 99_999

// Resampling says how sign patterns are drawn when there are too many to enumerate.
type Resampling struct {
	// Draws is the number of random patterns, 0 for DefaultResamples. The smallest p is 1/(Draws+1).
	Draws int
	// Seed makes the draw a pure function of its input.
	Seed uint64
}

// Permutation is the result of a paired permutation test.
type Permutation struct {
	// P is a valid p-value. Exact: the share of all 2^n sign patterns at least as extreme as the observed one.
	// Drawn: (Extreme+1)/(Patterns+1), which holds its level whatever Draws is.
	P float64
	// Exact says that every pattern was enumerated.
	Exact bool
	// Extreme of Patterns were at least as extreme as the observed one.
	Extreme, Patterns int
	// Bound is where the p of full enumeration lies: P itself when exact, else its 99 % Clopper-Pearson interval.
	Bound Interval
}

// PairedPermutation tests whether paired differences are symmetric about zero, by flipping their signs: under no change
// "before minus now" and "now minus before" are equally likely in every pair. Greater asks whether the mean difference
// is above zero, Less below, TwoSided either. Pairs must be independent of one another: repeats of one cell are not.
//
// Source: R. A. Fisher, The Design of Experiments (1935) section 21; the +1 of the drawn form as in B. Phipson and
// G. K. Smyth, Statistical Applications in Genetics and Molecular Biology 9 (2010) article 39.
//
// With no pair, or only zero differences, p is 1. It fails on a difference that is NaN or infinite, on a negative
// number of draws and on an unknown alternative.
func PairedPermutation(diff []float64, alt Alternative, how Resampling) (Permutation, error) {
	if alt != TwoSided && alt != Less && alt != Greater {
		return Permutation{}, fmt.Errorf("paired permutation test: alternative %v is unknown, want TwoSided, Less or Greater",
			alt)
	}
	if how.Draws < 0 {
		return Permutation{}, fmt.Errorf("paired permutation test: %d draws, want at least 1, or 0 for %d", how.Draws,
			DefaultResamples)
	}
	// Zero differences change no sum, so they only cost enumeration.
	d, size := make([]float64, 0, len(diff)), 0.0
	for i, v := range diff {
		if !finite(v) {
			return Permutation{}, fmt.Errorf("paired permutation test: difference %d is %v, want a number: leave unmeasured "+
				"pairs out", i, v)
		}
		if v != 0 {
			d, size = append(d, v), size+math.Abs(v)
		}
	}
	if !finite(size) {
		return Permutation{}, fmt.Errorf("paired permutation test: the differences sum to %v, want numbers of a sane size",
			size)
	}
	if len(d) == 0 {
		return Permutation{P: 1, Exact: true, Extreme: 1, Patterns: 1, Bound: Interval{1, 1}}, nil
	}
	// Scaled by their size every sum lies in [-1, 1]: no alternative order of summation is off by more than
	// n x 2^-53, so patterns within 1e-12 count as ties for fewer than 9,000 pairs. Counting a tie can only raise p.
	for i := range d {
		d[i] /= size
	}
	s := newSums(d)
	seen := extremity(s.total, alt) - 1e-12
	res := Permutation{}
	if len(d) <= ExactPairs {
		res.Exact, res.Patterns = true, 1<<len(d)
		for w := range uint64(1) << len(d) {
			if extremity(s.at([]uint64{w}), alt) >= seen {
				res.Extreme++
			}
		}
		res.P = float64(res.Extreme) / float64(res.Patterns)
		res.Bound = Interval{res.P, res.P}
		return res, nil
	}
	res.Patterns = how.Draws
	if how.Draws == 0 {
		res.Patterns = DefaultResamples
	}
	rng := rand.New(rand.NewPCG(how.Seed, uint64(len(d))))
	words := make([]uint64, (len(d)+63)/64)
	for range res.Patterns {
		for i := range words {
			words[i] = rng.Uint64()
		}
		if extremity(s.at(words), alt) >= seen {
			res.Extreme++
		}
	}
	res.P = float64(res.Extreme+1) / float64(res.Patterns+1)
	var err error
	res.Bound, err = ClopperPearson(res.Extreme, res.Patterns, 0.99)
	return res, err
}

func extremity(sum float64, alt Alternative) float64 {
	switch alt {
	case Greater:
		return sum
	case Less:
		return -sum
	case TwoSided:
	}
	return math.Abs(sum)
}

// sums holds, for each eight differences, the sum of every subset: a pattern then costs n/8 additions.
type sums struct {
	total float64
	table [][256]float64
}

func newSums(d []float64) *sums {
	s := &sums{table: make([][256]float64, (len(d)+7)/8)}
	for i, v := range d {
		s.total += v
		t, bit := &s.table[i/8], 1<<(i%8)
		for k := range bit {
			t[k|bit] = t[k] + v
		}
	}
	// Bits past the end of d: repeat what stands below them, so that random high bits do nothing.
	if used := len(d) % 8; used != 0 {
		t := &s.table[len(d)/8]
		for k := 1 << used; k < 256; k++ {
			t[k] = t[k&(1<<used-1)]
		}
	}
	return s
}

// at returns the sum when the differences whose bit is set keep their sign and the others lose it.
func (s *sums) at(words []uint64) float64 {
	kept := 0.0
	for i := range s.table {
		kept += s.table[i][words[i/8]>>(8*(i%8))&255]
	}
	return 2*kept - s.total
}
