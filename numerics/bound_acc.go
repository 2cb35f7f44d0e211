package numerics

import "math"

// AccBound is the certain bound of the accumulator's error on the exact products p in their order; sumAbs is Σ|p|.
//
// Scalar: γ_d(u)·Σ|p| with d the depth of the order (n for an unknown one), u = 2^-(r+1), or 2^-r for truncation;
// products that underflow in fp32 add n·2^-150.
//
// Block FMA, walked over the splits (for an unknown order see anyOrder):
//
//	Σ_blocks [ (b+1)·2^-f·M_blk + 2^-r·(|S_blk| + E) ]  +  u32·|acc| per promotion and per split
//
// with M_blk the smallest power of two above every term of the block, the incoming accumulator with its error E
// included (so it covers hardware that normalises products and hardware that does not), S_blk the exact partial sum, r
// the result bits; half of both for rounding to nearest.
func (a Accumulator) AccBound(p []float64, sumAbs float64) float64 {
	if a.Block == 0 {
		return Gamma(a.Depth(len(p)), roundoff(a.Result, a.Rounding))*sumAbs + float64(len(p))*MinSubnormalFP32/2
	}
	align, result := roundoff(a.Align, a.Rounding), roundoff(a.Result, a.Rounding)
	if a.Order == Unknown {
		return a.anyOrder(len(p), sumAbs, align, result)
	}
	size := a.SplitSize(len(p))
	var total, totalErr float64
	for lo := 0; lo < len(p); lo += size {
		s, e := a.chainBound(p[lo:min(lo+size, len(p))], align, result)
		total += s
		totalErr += e
		if lo > 0 {
			totalErr += UFP32 * (math.Abs(total) + totalErr)
		}
	}
	return totalErr
}

// anyOrder bounds block FMAs over products in an order that nobody promises: in every one of ⌈n/b⌉ blocks the
// terms, the accumulator and the partial sum lie within Σ|p| and the errors made before, and the pieces are added in
// fp32.
func (a Accumulator) anyOrder(n int, sumAbs, align, result float64) float64 {
	if sumAbs == 0 {
		return 0
	}
	blocks := (n + a.Block - 1) / a.Block
	size := a.SplitSize(n)
	pieces := (n + size - 1) / size
	if a.Promote > 0 {
		pieces = (n + a.Promote - 1) / a.Promote
	}
	var err float64
	for range blocks {
		m := math.Ldexp(1, exponent(sumAbs+err)+1)
		err += float64(a.Block+1)*align*m + result*(sumAbs+err)
	}
	for range pieces {
		err += UFP32 * (sumAbs + err)
	}
	return err
}

// chainBound walks one chain and returns its exact sum and the bound of its error.
func (a Accumulator) chainBound(p []float64, align, result float64) (sum, err float64) {
	var acc, accErr float64 // the running block accumulator
	since := 0
	for k := 0; k < len(p); k += a.Block {
		blk := p[k:min(k+a.Block, len(p))]
		top := math.Abs(acc) + accErr
		for _, v := range blk {
			top = math.Max(top, math.Abs(v))
			acc += v
		}
		if top > 0 {
			m := math.Ldexp(1, exponent(top)+1)
			accErr += float64(len(blk)+1) * align * m
			accErr += result * (math.Abs(acc) + accErr)
		}
		since += len(blk)
		if a.Promote > 0 && since >= a.Promote {
			sum += acc
			err += accErr
			err += UFP32 * (math.Abs(sum) + err)
			acc, accErr, since = 0, 0, 0
		}
	}
	sum += acc
	err += accErr
	if a.Promote > 0 && since > 0 {
		err += UFP32 * (math.Abs(sum) + err)
	}
	return sum, err
}

// MartingaleBound is λ·u·sqrt(Σ s_k² + Σ p_k²) over the exact partial sums s_k and products p_k of a scalar
// accumulator that rounds to nearest: each addition and product adds an error of mean zero of at most u times its
// result. For an unknown order the sums are taken in five orders, as given, reversed and three strided ones, and their
// maximum is widened by 1.5.
func (a Accumulator) MartingaleBound(p []float64, lambda float64) float64 {
	u := roundoff(a.Result, a.Rounding)
	var prod, worst float64
	for _, v := range p {
		prod += v * v
	}
	widen := 1.0
	if a.Order == Unknown || a.Order == Stochastic {
		widen = 1.5
		n := len(p)
		for _, stride := range []int{-1, n/7 | 1, n/3 | 1, n/31 | 1} {
			if n > 1 {
				worst = math.Max(worst, partialSquares(p, coprime(stride, n)))
			}
		}
	}
	worst = math.Max(worst, partialSquares(p, 1))
	return widen * lambda * u * math.Sqrt(worst+prod)
}

// coprime moves a stride up until walking by it meets each of n elements once.
func coprime(stride, n int) int {
	if stride < 0 {
		return n - 1
	}
	for gcd(stride, n) != 1 {
		stride++
	}
	return stride
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// partialSquares is Σ s_k² walking p by a stride coprime to its length.
func partialSquares(p []float64, stride int) float64 {
	var s, sq float64
	at := 0
	for range p {
		s += p[at]
		sq += s * s
		at += stride
		if at >= len(p) {
			at -= len(p)
		}
	}
	return sq
}
