package gemm

import (
	"math"
	"math/rand/v2"

	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
)

// expectScaled is the expectation of a block-scaled product. Exact values are oracle.StoredLinear's, part by part.
//
// Contract fp32, u = 2^-24, over the K products p_k of an element with its multipliers included:
//
//	Det = γ_(K+8)(u) Σ|p_k| + (K+8) 2^-149 + ½ulp_bf16
//
// since a product passes through at most K-1 additions in any order, one rounding of its own and those of its two
// multipliers, their product and the global factors, wherever these enter. The martingale form replaces the first term
// by λu sqrt(Σ s_k² + 5 Σ p_k²) + 4u Σ_b |B_b| + 3u |y|: partial sums s_k, products and dequantised elements
// round with mean zero, the multipliers of a block are rounded once for all of its sum B_b.
//
// Contract fp8-hopper: in every run of at most 128 products under one multiplier the tensor core's bound of block FMAs
// in any order (numerics.Accumulator.AccBound), times the multiplier, then γ of the additions in fp32, of which a
// kernel that moves every block of 32 products has most. Truncation has no mean of zero, so there is no martingale
// form.
func expectScaled(parts func(bench.Problem) ([]exactPart, error)) func(bench.Case, bench.Problem) ([]bench.Expected,
	error) {
	return func(c bench.Case, p bench.Problem) ([]bench.Expected, error) {
		shape := p.Outputs["y"].Shape
		n := shape[len(shape)-1]
		e := bench.Expected{
			Name: "y", Shape: shape, Axes: []string{"row", "column"},
			Derivation: "fp32 sums of scaled products in any order, one rounding to bf16",
			Want:       make([]float64, size(shape)), Bound: make([]float64, size(shape)), Free: make([]bool, size(shape)),
			Scales: scalesOf(p),
		}
		if len(shape) == 3 {
			e.Axes = []string{"batch", "row", "column"}
		}
		if c.Contract.Name == "fp8-hopper" {
			e.Derivation = "tensor-core sums of 128 products at 13 bits, promoted to fp32, one rounding to bf16"
		} else {
			e.Martingale = make([]float64, size(shape))
		}
		for i := range e.Free {
			e.Free[i] = true
		}
		exact, err := parts(p)
		if err != nil {
			return nil, err
		}
		others := make([][]float64, members(c.Shape))
		for i := range others {
			others[i] = make([]float64, size(shape))
		}
		for at, part := range exact {
			y, err := oracle.StoredLinear(part.x.stored, part.w.stored, 1)
			if err != nil {
				return nil, err
			}
			for i, row := range part.at {
				for j := range n {
					if part.column != nil {
						y.Row(i)[j] *= part.column(j)
					}
					to := row*n + j
					e.Want[to], e.Free[to] = y.Row(i)[j], false
					det, mart := part.bound(c, i, j, y.Row(i)[j], size(shape))
					e.Bound[to] = det
					if e.Martingale != nil {
						e.Martingale[to] = mart
					}
				}
			}
			part.reorder(c, suite.Seed(slug("%s/%d", c.ID, at)), n, others)
		}
		if len(others) > 0 {
			e.Ensemble = others
		}
		return []bench.Expected{e}, nil
	}
}

// scalesOf names the factors that a kernel applies once.
func scalesOf(p bench.Problem) map[string]float64 {
	out := map[string]float64{}
	for _, name := range []string{"input_scale", "weight_scale_2"} {
		if o, ok := p.Operands[name]; ok {
			out[name] = o.Values[0]
		}
	}
	return out
}

// bound of element [i, j] with exact value y.
func (part exactPart) bound(c bench.Case, i, j int, y float64, all int) (det, mart float64) {
	k := part.x.stored.Cols
	if math.IsNaN(y) || math.IsInf(y, 0) {
		return 0, 0
	}
	p := make([]float64, k)
	run := min(part.x.width, part.w.width, 128)
	xc, wc := part.x.code[i*k:(i+1)*k], part.w.code[j*k:(j+1)*k]
	xm, wm := part.x.mult[i*k:(i+1)*k], part.w.mult[j*k:(j+1)*k]
	var sum, squares, blocks, runs, tensor float64
	for lo := 0; lo < k; lo += run {
		hi := min(lo+run, k)
		var block, sumBlock, total float64
		code := make([]float64, hi-lo)
		for t := lo; t < hi; t++ {
			code[t-lo] = xc[t] * wc[t]
			p[t] = code[t-lo] * xm[t] * wm[t]
			sum += math.Abs(p[t])
			squares += p[t] * p[t]
			block += p[t]
			runs += block * block
			sumBlock += math.Abs(code[t-lo])
			total += code[t-lo]
		}
		blocks += math.Abs(block)
		if c.Contract.Name == "fp8-hopper" {
			tensor += c.Contract.Acc.AccBound(code, sumBlock) * xm[lo] * wm[lo]
		}
	}
	u := numerics.UFP32
	if c.Contract.Name == "fp8-hopper" {
		acc := tensor + numerics.Gamma(up(k, min(run, 32))+8, u)*(sum+tensor)
		return acc + numerics.HalfULP(format.BF16, y, acc), 0
	}
	acc := numerics.Gamma(k+8, u)*sum + float64(k+8)*numerics.MinSubnormalFP32
	lambda := numerics.Lambda(all, bench.Alpha)
	chain := numerics.FP32Any().MartingaleBound(p, lambda)
	sharp := math.Max(chain, lambda*u*math.Sqrt(runs+squares)) + lambda*2*u*math.Sqrt(squares) + 4*u*blocks +
		3*u*math.Abs(y) + float64(k+8)*numerics.MinSubnormalFP32
	sharp = math.Min(sharp, acc)
	return acc + numerics.HalfULP(format.BF16, y, acc), sharp + numerics.HalfULP(format.BF16, y, sharp)
}

// reorder fills in what the contract's arithmetic gives with the products of every run in an order drawn from a seed.
func (part exactPart) reorder(c bench.Case, seed uint64, n int, members [][]float64) {
	k, m := part.x.stored.Cols, len(part.at)
	run := min(part.x.width, part.w.width, 128)
	acc := c.Contract.Acc
	if acc.Block == 0 {
		acc.Order = numerics.Sequential
	}
	for at, out := range members {
		rng := rand.New(rand.NewPCG(seed, uint64(at)))
		total := make([]float32, m*n)
		for lo := 0; lo < k; lo += run {
			order := rng.Perm(min(run, k-lo))
			for i := range m {
				x := permuted(part.x.code[i*k+lo:], order)
				for j := range n {
					sum := acc.Dot(x, permuted(part.w.code[j*k+lo:], order))
					s := part.x.mult[i*k+lo] * part.w.mult[j*k+lo]
					total[i*n+j] += float32(sum) * float32(s)
				}
			}
		}
		for i, row := range part.at {
			for j := range n {
				out[row*n+j] = format.BF16.Round(float64(total[i*n+j]))
			}
		}
	}
}

func permuted(v []float64, order []int) []float64 {
	out := make([]float64, len(order))
	for i, o := range order {
		out[i] = v[o]
	}
	return out
}
