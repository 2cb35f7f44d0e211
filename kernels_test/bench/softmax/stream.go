// Package softmax is attention of one query over rows as kernels stream it: scores, exponentials relative to a running
// maximum that is updated tile by tile, and partial states that are merged (Milakov and Gimelshein 2018; in parts, as
// flash decoding does). The correct kernels of the suites and their faults are built of it; the oracle is not.
package softmax

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// State is attention over some rows: the largest score, the sum of exponentials relative to it and the weighted sum of
// values relative to it. Without rows Max is -Inf and the rest 0.
type State struct {
	Max, Sum float64
	Acc      []float64
}

// Empty is the state of no row.
func Empty(channels int) State { return State{Max: math.Inf(-1), Acc: make([]float64, channels)} }

// Stream is how a kernel goes about it, as steps. F is what it computes in; operands are carried in float64.
type Stream[F bench.Float] struct {
	Dot    func(q, k []float64) F
	Score  func(dot, scale F) F
	Exp    func(x F) F
	Weight func(p F) (sum, product F)      // an exponential as it enters the sum, and the product with values
	Add    func(acc []F, p F, v []float64) // acc += p v
	Tile   int                             // rows between two looks at the maximum; 0 is all of them
}

// New is a stream in two passes, from the first row to the last, each operation rounded once.
func New[F bench.Float](dot func(q, k []float64) F) Stream[F] {
	return Stream[F]{
		Dot:    dot,
		Score:  func(dot, scale F) F { return dot * scale },
		Exp:    Exp[F],
		Weight: func(p F) (sum, product F) { return p, p },
		Add: func(acc []F, p F, v []float64) {
			for c, x := range v {
				product := p * F(x) // assigned, which rounds it: nothing is fused
				acc[c] += product
			}
		},
	}
}

// FP32 is a stream in fp32.
func FP32() Stream[float32] { return New(bench.DotSequential[float64]) }

// FP64 is a stream in float64: more exact than any contract.
func FP64() Stream[float64] {
	return New(func(q, k []float64) float64 {
		var s float64
		for i, x := range q {
			s += float64(x * k[i])
		}
		return s
	})
}

// Exp is e^x.
func Exp[F bench.Float](x F) F { return F(math.Exp(float64(x))) }

// Exp2 is 2^x.
func Exp2[F bench.Float](x F) F { return F(math.Exp2(float64(x))) }

// ExpBy2 is e^x as 2^(x log2 e).
func ExpBy2[F bench.Float](x F) F { return Exp2(x * F(math.Log2E)) }

// RoundedWeights are weights that are rounded to bf16 before they meet the values; the sum keeps them.
func RoundedWeights(p float32) (sum, product float32) { return p, bench.AsBF16(p) }

// Scores are those of a query with n keys; a key of nil is a lane without row and scores -Inf.
func (s Stream[F]) Scores(q []float64, n int, key func(i int) []float64, scale F) []F {
	z := make([]F, n)
	for i := range z {
		z[i] = F(math.Inf(-1))
		if k := key(i); k != nil {
			z[i] = s.Score(s.Dot(q, k), scale)
		}
	}
	return z
}

// Over is attention over rows with scores z; a value of nil is a lane without row.
func (s Stream[F]) Over(z []F, channels int, value func(i int) []float64) State {
	none := F(math.Inf(-1))
	acc, sum, top := make([]F, channels), F(0), none
	tile := s.Tile
	if tile == 0 {
		tile = max(len(z), 1)
	}
	for from := 0; from < len(z); from += tile {
		to := min(from+tile, len(z))
		next := top
		for _, x := range z[from:to] {
			next = max(next, x)
		}
		if next == none {
			continue // nothing but lanes without row so far
		}
		if top > none && next > top {
			x := s.Exp(top - next)
			sum *= x
			for c := range acc {
				acc[c] *= x
			}
		}
		top = next
		for i := from; i < to; i++ {
			v := value(i)
			if v == nil {
				continue
			}
			p, weight := s.Weight(s.Exp(z[i] - top))
			sum += p
			s.Add(acc, weight, v)
		}
	}
	out := State{Max: float64(top), Sum: float64(sum), Acc: make([]float64, channels)}
	for c, v := range acc {
		out.Acc[c] = float64(v)
	}
	return out
}

// Merge is the state of two parts, by their maxima.
func (s Stream[F]) Merge(a, b State) State {
	if math.IsInf(a.Max, -1) {
		return b
	}
	top := math.Max(a.Max, b.Max)
	x, y := s.Exp(F(a.Max)-F(top)), s.Exp(F(b.Max)-F(top))
	add := func(a, b float64) float64 {
		p, q := F(a)*x, F(b)*y
		return float64(p + q)
	}
	out := State{Max: top, Sum: add(a.Sum, b.Sum), Acc: make([]float64, len(a.Acc))}
	for c := range out.Acc {
		out.Acc[c] = add(a.Acc[c], b.Acc[c])
	}
	return out
}

// Combine is the state of all parts at once, as a combine kernel makes it that sees normalised outputs and a
// log-sum-exp lse[i] for each part, -Inf for one without rows. Max is the largest of those.
func (s Stream[F]) Combine(parts []State, lse []F) State {
	top := F(math.Inf(-1))
	for _, l := range lse {
		top = F(math.Max(float64(top), float64(l)))
	}
	out := State{Max: float64(top), Acc: make([]float64, len(parts[0].Acc))}
	if math.IsInf(out.Max, -1) {
		return out
	}
	acc, sum := make([]F, len(out.Acc)), F(0)
	for i, p := range parts {
		w := s.Exp(lse[i] - top)
		sum += w
		if p.Sum == 0 {
			continue
		}
		w /= F(p.Sum)
		for c, v := range p.Acc {
			product := w * F(v)
			acc[c] += product
		}
	}
	out.Sum = float64(sum)
	for c, v := range acc {
		out.Acc[c] = float64(v)
	}
	return out
}
