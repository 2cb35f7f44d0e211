package compressor

import (
	"math"
	"slices"
)

// exp32 and exp2Form are the exponential in fp32, the second as 2^(x log2 e).
func exp32(x float32) float32 { return float32(math.Exp(float64(x))) }

func exp2Form(x float32) float32 {
	return float32(math.Exp2(float64(x * float32(math.Log2E))))
}

// summing adds n fp32 terms in some order.
type summing func(n int, term func(i int) float32) float32

func sequential(n int, term func(i int) float32) float32 {
	var s float32
	for i := range n {
		s += term(i)
	}
	return s
}

func reversed(n int, term func(i int) float32) float32 {
	return sequential(n, func(i int) float32 { return term(n - 1 - i) })
}

func pairwise(n int, term func(i int) float32) float32 {
	switch n {
	case 0:
		return 0
	case 1:
		return term(0)
	}
	h := n / 2
	return pairwise(h, term) + pairwise(n-h, func(i int) float32 { return term(h + i) })
}

func lanes(k int) summing {
	return func(n int, term func(i int) float32) float32 {
		acc := make([]float32, k)
		for i := range n {
			acc[i%k] += term(i)
		}
		return pairwise(k, func(i int) float32 { return acc[i] })
	}
}

func blocked(size int) summing {
	return func(n int, term func(i int) float32) float32 {
		var s float32
		for from := 0; from < n; from += size {
			s += sequential(min(size, n-from), func(i int) float32 { return term(from + i) })
		}
		return s
	}
}

// normaliseLast is Σ e_j v_j / Σ e_j.
func normaliseLast(sum summing, exp func(float32) float32) pooler {
	return func(g, v []float32) float32 {
		e := weights(g, exp)
		return sum(len(g), func(j int) float32 { return float32(e[j] * v[j]) }) / sum(len(g), func(j int) float32 {
			return e[j]
		})
	}
}

// normaliseFirst is Σ (e_j / Σ e) v_j.
func normaliseFirst(sum summing, exp func(float32) float32) pooler {
	return func(g, v []float32) float32 {
		e := weights(g, exp)
		all := sum(len(g), func(j int) float32 { return e[j] })
		return sum(len(g), func(j int) float32 { return float32(float32(e[j]/all) * v[j]) })
	}
}

func weights(g []float32, exp func(float32) float32) []float32 {
	top := slices.Max(g)
	e := make([]float32, len(g))
	for j, x := range g {
		e[j] = exp(x - top)
	}
	return e
}

// fused multiplies and adds with one rounding.
func fused(g, v []float32) float32 {
	e := weights(g, exp32)
	var acc, all float32
	for j := range e {
		acc = float32(math.FMA(float64(e[j]), float64(v[j]), float64(acc)))
		all += e[j]
	}
	return acc / all
}

// online rescales at every new maximum.
func online(exp func(float32) float32) pooler {
	return func(g, v []float32) float32 {
		top := float32(math.Inf(-1))
		var acc, all float32
		for j, x := range g {
			if math.IsInf(float64(x), -1) {
				continue
			}
			if x > top {
				r := exp(top - x)
				acc, all, top = acc*r, all*r, x
			}
			e := exp(x - top)
			acc, all = float32(e*v[j])+acc, all+e
		}
		return acc / all
	}
}

// split pools contiguous parts and merges them.
func split(parts int) pooler {
	return func(g, v []float32) float32 {
		var tops, accs, alls []float32
		for i := range parts {
			from, to := i*len(g)/parts, (i+1)*len(g)/parts
			if from == to || math.IsInf(float64(slices.Max(g[from:to])), -1) {
				continue
			}
			e := weights(g[from:to], exp32)
			tops = append(tops, slices.Max(g[from:to]))
			alls = append(alls, sequential(len(e), func(j int) float32 { return e[j] }))
			accs = append(accs, sequential(len(e), func(j int) float32 { return float32(e[j] * v[from+j]) }))
		}
		r := weights(tops, exp32)
		return sequential(len(r), func(i int) float32 { return float32(r[i] * accs[i]) }) /
			sequential(len(r), func(i int) float32 {
				return float32(r[i] * alls[i])
			})
	}
}

// exact rounds only the result.
func exact(g, v []float32) float32 {
	top := float64(slices.Max(g))
	var acc, all float64
	for j := range g {
		e := math.Exp(float64(g[j]) - top)
		acc, all = acc+float64(e*float64(v[j])), all+e
	}
	return float32(acc / all)
}

// backwards reads the tokens from the last one.
func backwards(p pooler) pooler {
	return func(g, v []float32) float32 {
		g, v = slices.Clone(g), slices.Clone(v)
		slices.Reverse(g)
		slices.Reverse(v)
		return p(g, v)
	}
}
