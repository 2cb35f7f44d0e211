package numerics

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/assay-suite/assay/numerics/format"
)

// Explain searches the accumulator that reproduces got bit for bit, over input format and rounding (rn, rna, rz),
// products per block, aligned fraction bits, result bits, their rounding, promotion and split size, and fp32 and bf16
// scalar chains (sequential, pairwise, blocked, fused or not). A split sum whose order is not fixed, and an fp32 kernel
// whose order is not in this list, is not explained; Inside then says whether the fp32 bound excludes it.
//
// Candidates are tried on single outputs, spread over the tensor, and dropped after more misses than Need admits; known
// hardware comes first, and an accumulator that reproduces everything ends the search. Then every parameter is varied
// alone, so that the answer says what the data cannot tell.
func Explain(got []float64, in GemmInputs) (Explanation, error) {
	c := Contract{Acc: FP32Any(), Out: in.Out}
	if err := c.checkGemm(in.X, in.W, in.M, in.N, in.K); err != nil {
		return Explanation{}, fmt.Errorf("explain: %w", err)
	}
	if len(got) != in.M*in.N || len(got) == 0 {
		return Explanation{}, fmt.Errorf("explain: the output has %d values, want %d x %d and at least one", len(got), in.M,
			in.N)
	}
	s := &search{got: got, in: in, stride: coprime(max(len(got)*618/1000, 1), len(got))}
	s.readings()
	s.run()
	e := Explanation{Best: s.best, K: in.K, Equal: s.equal, Of: len(got), Need: s.bestReading.need}
	if e.Explained() {
		e.Rivals, e.Untested = s.rivals()
		return e, nil
	}
	bound := s.contract(s.bestReading, FP32Any())
	b, err := bound.GemmBounds(in.X, in.W, in.M, in.N, in.K, 0.5)
	if err != nil {
		return Explanation{}, fmt.Errorf("explain: %w", err)
	}
	e.Inside = slices.Max(Rho(got, b.Center, b.Strict)) <= 1
	return e, nil
}

// search is one run of Explain.
type search struct {
	got    []float64
	in     GemmInputs
	stride int
	read   []*reading

	best        Contract
	bestReading *reading
	equal       int     // outputs that best reproduces
	reach       float64 // how far the best candidate that was dropped came
}

// reading is a hypothesis of how the operands are read, with the operands read that way.
type reading struct {
	format     format.Format
	rounding   format.Rounding
	need       float64
	rows, cols []operand
	off        float64 // Σ|got − exact| over probes
}

// readings keeps the distinct ways of reading whose exact result lies near the recorded one.
func (s *search) readings() {
	in := s.in
	all := []struct {
		f    format.Format
		r    []format.Rounding
		need float64
	}{
		{format.E4M3FN, []format.Rounding{format.RN}, 1},
		{format.E5M2, []format.Rounding{format.RN}, 1},
		{format.BF16, []format.Rounding{format.RN, format.RNA, format.RZ}, 0.999},
		{format.FP16, []format.Rounding{format.RN}, 0.999},
		{format.TF32, []format.Rounding{format.RN, format.RNA, format.RZ}, 0.99},
		{format.FP32, []format.Rounding{format.RN}, 1},
	}
	probes := min(len(s.got), 24)
	least := math.Inf(1)
	var seen [][2][]float64
	for _, h := range all {
		for _, r := range h.r {
			o := Operand{Format: h.f, Rounding: r}
			x, w := o.Read(in.X), o.Read(in.W)
			if (h.f.Width() <= 8 || h.f == format.FP16) && (!slices.Equal(x, in.X) || !slices.Equal(w, in.W)) {
				continue // fp8 and fp16 operands are stored as such
			}
			if slices.ContainsFunc(seen, func(p [2][]float64) bool { return slices.Equal(p[0], x) && slices.Equal(p[1], w) }) {
				continue // the narrowest format that reads alike stands for all
			}
			seen = append(seen, [2][]float64{x, w})
			rd := &reading{format: h.f, rounding: r, need: h.need}
			for t := range probes {
				i, j := s.at(t)
				rd.off += difference(s.got[i*in.N+j], dotExact(x[i*in.K:(i+1)*in.K], w[j*in.K:(j+1)*in.K]))
			}
			for i := range in.M {
				rd.rows = append(rd.rows, newOperand(x[i*in.K:(i+1)*in.K], minExponent(h.f)))
			}
			for j := range in.N {
				rd.cols = append(rd.cols, newOperand(w[j*in.K:(j+1)*in.K], minExponent(h.f)))
			}
			least = math.Min(least, rd.off)
			s.read = append(s.read, rd)
		}
	}
	// Nearer readings first, the narrower one where two are within a factor of two: there the output's rounding speaks.
	slices.SortStableFunc(s.read, func(a, b *reading) int {
		return cmp.Compare(math.Floor(math.Log2(a.off/least+1)/2), math.Floor(math.Log2(b.off/least+1)/2))
	})
	s.read = slices.DeleteFunc(s.read, func(r *reading) bool { return r.off > 5*least+1e-300 })
	s.bestReading = s.read[0]
	s.best = s.contract(s.read[0], FP32Any())
}

// at is the t-th probed output.
func (s *search) at(t int) (i, j int) {
	flat := t * s.stride % len(s.got)
	return flat / s.in.N, flat % s.in.N
}

func (s *search) contract(r *reading, a Accumulator) Contract {
	o := Operand{Format: r.format, Rounding: r.rounding}
	c := Contract{Inputs: map[string]Operand{"x": o, "w": o}, Acc: a, Out: s.in.Out}
	c.Name = describe(c, s.in.K)
	return c
}

// agree counts the outputs among the first n probed that a reproduces. It gives up, returning what it saw, after more
// misses than the reading's need admits, with one for luck.
func (s *search) agree(r *reading, a Accumulator, n int) (equal, tested int) {
	out := orFP32(s.in.Out)
	allowed := 1 - r.need
	misses := 0
	for t := range n {
		i, j := s.at(t)
		v := out.RoundTo(a.dot(r.rows[i], r.cols[j]), format.RN, format.Overflow)
		if BitEqual([]float64{v}, s.got[i*s.in.N+j:i*s.in.N+j+1]) == 0 {
			misses++
			luck := 0.0
			if allowed > 0 {
				luck = 1
			}
			if float64(misses) > luck+2*allowed*float64(t+1) {
				return t + 1 - misses, t + 1
			}
		}
	}
	return n - misses, n
}

// try tests a candidate and keeps it if it is the best so far. It reports whether it reproduces everything.
func (s *search) try(r *reading, a Accumulator) bool {
	n := len(s.got)
	equal, tested := s.agree(r, a, n)
	reach := float64(equal)
	switch {
	case tested == n && equal > s.equal, s.equal == 0 && tested < n && reach > s.reach:
		s.best, s.bestReading = s.contract(r, a), r
		if tested == n {
			s.equal = equal
		}
		s.reach = math.Max(s.reach, reach)
	}
	return tested == n && equal == n
}

// run walks the candidates until one reproduces everything; a best that was dropped early is counted out.
func (s *search) run() {
	for _, known := range []bool{true, false} {
		for _, r := range s.read {
			for _, a := range accumulators(r.format, known) {
				for _, cut := range partitions(a, r.format, s.in.K) {
					if s.try(r, cut) {
						return
					}
				}
			}
			if s.equal > 0 && float64(s.equal) >= r.need*float64(len(s.got)) {
				return
			}
		}
	}
	if s.equal > 0 {
		return
	}
	emulated := s.best.Acc
	for t := range s.got {
		i, j := s.at(t)
		v := orFP32(s.in.Out).RoundTo(emulated.dot(s.bestReading.rows[i], s.bestReading.cols[j]), format.RN, format.Overflow)
		s.equal += BitEqual([]float64{v}, s.got[i*s.in.N+j:i*s.in.N+j+1])
	}
}
