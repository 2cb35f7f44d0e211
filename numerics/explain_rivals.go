package numerics

import "github.com/assay-suite/assay/numerics/format"

// trialOf is an accumulator under a reading.
type trialOf struct {
	r *reading
	a Accumulator
}

// rivals varies every parameter of the best fit alone and returns those that reproduce as many outputs. At most three
// of each kind (how the sum is cut; everything else) are confirmed on all outputs; the others agree on a sample.
func (s *search) rivals() (confirmed []Contract, untested int) {
	const each, sample = 3, 64
	base, n := s.best.Acc, min(len(s.got), sample)
	own, _ := s.agree(s.bestReading, base, n)
	for _, kind := range [][]trialOf{s.otherCuts(base), s.otherParameters(base)} {
		found := 0
		for _, c := range kind {
			name := s.contract(c.r, c.a)
			if name.Name == s.best.Name || c.a.Validate() != nil {
				continue
			}
			if equal, tested := s.agree(c.r, c.a, n); tested < n || equal < own {
				continue
			}
			if found == each {
				untested++
				continue
			}
			if equal, tested := s.agree(c.r, c.a, len(s.got)); tested == len(s.got) && equal >= s.equal {
				confirmed = append(confirmed, name)
				found++
			}
		}
	}
	return confirmed, untested
}

func (s *search) otherCuts(base Accumulator) []trialOf {
	base.Promote, base.Splits = 0, nil
	var out []trialOf
	for _, a := range partitions(base, s.bestReading.format, s.in.K) {
		out = append(out, trialOf{s.bestReading, a})
	}
	return out
}

func (s *search) otherParameters(base Accumulator) []trialOf {
	var out []trialOf
	for _, r := range s.read {
		if r != s.bestReading && (r.format == s.bestReading.format || base.Block == 0) {
			out = append(out, trialOf{r, base})
		}
	}
	vary := func(f func(*Accumulator)) {
		a := base
		f(&a)
		out = append(out, trialOf{s.bestReading, a})
	}
	if base.Block == 0 {
		vary(func(a *Accumulator) { a.Fused = !a.Fused })
		vary(func(a *Accumulator) { a.Order = Pairwise })
		return out
	}
	for _, b := range []int{4, 8, 16, 32, 64, 128} {
		vary(func(a *Accumulator) { a.Block = b })
	}
	for _, d := range []int{-3, -2, -1, 1, 2} {
		vary(func(a *Accumulator) { a.Align += d; a.Result = min(a.Result, a.Align) })
		vary(func(a *Accumulator) { a.Result += d })
	}
	vary(func(a *Accumulator) { a.Rounding = format.RN })
	vary(func(a *Accumulator) { *a = Accumulator{Result: 23, Order: Sequential, Splits: a.Splits} })
	return out
}
