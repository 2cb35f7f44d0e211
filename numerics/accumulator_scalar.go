package numerics

import (
	"math"
	"math/rand/v2"

	"github.com/assay-suite/assay/numerics/format"
)

// scalar is a sum of rounded products with rounded additions in the accumulator's order.
func (a Accumulator) scalar(x, w []float64) float64 {
	switch a.Order {
	case Pairwise:
		return a.pairwise(x, w)
	case Blocked:
		size := max(a.Chunk, 1)
		var s float64
		for lo := 0; lo < len(x); lo += size {
			hi := min(lo+size, len(x))
			part := a.sequential(x[lo:hi], w[lo:hi])
			if lo == 0 {
				s = part
			} else {
				s = a.round(s + part)
			}
		}
		return s
	case Stochastic:
		px, pw := make([]float64, len(x)), make([]float64, len(x))
		for i, k := range rand.New(rand.NewPCG(a.Seed, uint64(len(x)))).Perm(len(x)) {
			px[i], pw[i] = x[k], w[k]
		}
		return a.sequential(px, pw)
	default:
		return a.sequential(x, w)
	}
}

// shuffledPieces adds the pieces of a split sum in an order drawn from the seed.
func (a Accumulator) shuffledPieces(x, w operand, n, size int) float64 {
	inner := a
	inner.Order = Sequential
	pieces := (n + size - 1) / size
	var total float32
	for i, p := range rand.New(rand.NewPCG(a.Seed, uint64(n))).Perm(pieces) {
		part := float32(inner.piece(x, w, p*size, min((p+1)*size, n)))
		if i == 0 {
			total = part
		} else {
			total += part
		}
	}
	return float64(total)
}

func (a Accumulator) round(v float64) float64 {
	return roundFraction(v, a.Result, a.Rounding)
}

func (a Accumulator) sequential(x, w []float64) float64 {
	if a.Result == 23 && a.Rounding == format.RN {
		var acc float32
		if a.Fused {
			for i, v := range x {
				acc = float32(math.FMA(v, w[i], float64(acc)))
			}
			return float64(acc)
		}
		for i, v := range x {
			acc += float32(float32(v) * float32(w[i]))
		}
		return float64(acc)
	}
	var acc float64
	if a.Fused {
		for i, v := range x {
			acc = a.round(math.FMA(v, w[i], acc))
		}
		return acc
	}
	for i, v := range x {
		acc = a.round(acc + a.product(v, w[i]))
	}
	return acc
}

// product is rounded before it is added. Factors of at most 26 bits make it exact in float64 first.
func (a Accumulator) product(x, w float64) float64 { return a.round(x * w) }

func (a Accumulator) pairwise(x, w []float64) float64 {
	switch len(x) {
	case 0:
		return 0
	case 1:
		return a.product(x[0], w[0])
	}
	h := (len(x) + 1) / 2
	return a.round(a.pairwise(x[:h], w[:h]) + a.pairwise(x[h:], w[h:]))
}
