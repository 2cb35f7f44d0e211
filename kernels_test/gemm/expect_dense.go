package gemm

import (
	"math"

	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
)

func operands(f format.Format) map[string]numerics.Operand {
	return map[string]numerics.Operand{"x": {Format: f, Rounding: format.RN}, "w": {Format: f, Rounding: format.RN}}
}

// anyOrder is an accumulator whose products come in an order that nobody promises.
func anyOrder(a numerics.Accumulator) numerics.Accumulator {
	a.Order = numerics.Unknown
	return a
}

// The contracts of the dense product. fp8-hopper promotes to fp32 every 128 products; tf32x3 splits operands into two
// TF32 numbers to nearest, leaves the product of the two small ones out and adds the others in fp32.
var (
	denseFP32  = numerics.Contract{Name: "fp32", Inputs: operands(format.FP32), Acc: numerics.FP32Any(), Out: format.FP32}
	denseThree = numerics.Contract{
		Name:   "tf32x3",
		Inputs: operands(format.TF32),
		Acc:    numerics.FP32Any(),
		Out:    format.FP32,
	}
	denseTF32 = numerics.Contract{
		Name:   "tf32-rn",
		Inputs: operands(format.TF32),
		Acc:    anyOrder(numerics.HopperTF32()),
		Out:    format.FP32,
	}
	denseTruncated = denseTF32.WithInputRounding(format.RZ) // raw fp32 words: the unit drops 13 bits
	denseBF16      = numerics.Contract{
		Name: "bf16", Inputs: operands(format.BF16), Acc: numerics.FP32Any(), Out: format.BF16,
	}
	denseHopper = numerics.Contract{
		Name:   "bf16-hopper",
		Inputs: operands(format.BF16),
		Acc:    anyOrder(numerics.HopperBF16()),
		Out:    format.BF16,
	}
	denseFP8  = numerics.Contract{Name: "fp8", Inputs: operands(format.E4M3FN), Acc: numerics.FP32Any(), Out: format.BF16}
	fp8Hopper = numerics.Contract{
		Name:   "fp8-hopper",
		Inputs: operands(format.E4M3FN),
		Acc:    anyOrder(numerics.HopperFP8(128)),
		Out:    format.BF16,
	}
	scaledFP32 = numerics.Contract{
		Name:   "fp32",
		Inputs: operands(format.E4M3FN),
		Acc:    numerics.FP32Any(),
		Out:    format.BF16,
	}
)

// expectDense: numerics.Contract.GemmBounds, and promoted for fp8-hopper. For tf32x3 the bound is that of the 3K
// products of the split operands, and the distance between their exact sum and the exact product, which is what the
// split and the product that is left out cost.
func expectDense(c bench.Case, p bench.Problem) ([]bench.Expected, error) {
	x, w := p.In("x"), p.In("w")
	m, n, k := x.Dim(0), w.Dim(0), x.Dim(1)
	e := bench.Expected{
		Name: "y", Shape: []int{m, n}, Axes: []string{"row", "column"},
		Derivation: "operands as the contract reads them, its accumulator in any order, one rounding to the output",
	}
	count, seed := members(c.Shape), suite.Seed(c.ID)
	if c.Contract.Name == "tf32x3" {
		return expectThree(c, e, x, w, count, seed)
	}
	b, err := c.Contract.GemmBounds(x.Data, w.Data, m, n, k, bench.Alpha)
	if err != nil {
		return nil, err
	}
	e.Want, e.Bound, e.Martingale = b.Want, b.Det, b.Martingale
	if c.Contract.Name == "fp8-hopper" {
		for i := range e.Bound {
			e.Bound[i] = promoted(c.Contract, x.Row(i/n), w.Row(i%n), e.Want[i])
		}
	}
	e.Gemm = &numerics.GemmInputs{X: x.Data, W: w.Data, M: m, N: n, K: k, Out: c.Contract.Output()}
	// its operands are rounded: what adds them more exactly is not nearer to y
	if count > 0 && c.Contract.Operand("x").Format.Name != format.TF32.Name {
		e.Ensemble, err = c.Contract.Ensemble(x.Data, w.Data, m, n, k, count, seed)
	}
	return []bench.Expected{repaired(e)}, err
}

// promoted bounds a sum whose runs of at most 128 consecutive products are added in the tensor core, in any order, and
// moved to fp32, as in expectScaled. GemmBounds does not know which products share a run, and is some thirty times
// wider.
func promoted(c numerics.Contract, x, w []float64, y float64) float64 {
	var sum, tensor float64
	for lo := 0; lo < len(x); lo += 128 {
		p := make([]float64, min(128, len(x)-lo))
		var part float64
		for i := range p {
			p[i] = x[lo+i] * w[lo+i]
			part += math.Abs(p[i])
		}
		sum += part
		tensor += c.Acc.AccBound(p, part)
	}
	acc := tensor + numerics.Gamma(up(len(x), 32)+8, numerics.UFP32)*(sum+tensor)
	return acc + numerics.HalfULP(c.Output(), y, acc)
}

// expectThree is expectDense for three TF32 products.
func expectThree(c bench.Case, e bench.Expected, x, w bench.Tensor, count int, seed uint64) ([]bench.Expected, error) {
	m, n, k := x.Dim(0), w.Dim(0), x.Dim(1)
	x3, w3 := threefold(x.Data, m, k, "lo", "hi", "hi"), threefold(w.Data, n, k, "hi", "lo", "hi")
	split, err := c.Contract.GemmBounds(x3, w3, m, n, 3*k, bench.Alpha)
	if err != nil {
		return nil, err
	}
	e.Want, e.Bound, e.Martingale = oracle.Linear(x.Mat(), w.Mat()).Data, split.Det, split.Martingale
	for i, want := range e.Want {
		left := math.Abs(split.Want[i] - want)
		e.Bound[i] += left
		e.Martingale[i] += left
	}
	if count > 0 {
		e.Ensemble, err = c.Contract.Ensemble(x3, w3, m, n, 3*k, count, seed)
	}
	return []bench.Expected{repaired(e)}, err
}

// repaired takes the bound from elements that are exactly NaN or infinite: only their class is judged.
func repaired(e bench.Expected) bench.Expected {
	for i, v := range e.Want {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			e.Bound[i] = 0
			if e.Martingale != nil {
				e.Martingale[i] = 0
			}
		}
	}
	return e
}

// threefold lays the large and small halves of rows side by side.
func threefold(v []float64, rows, k int, order ...string) []float64 {
	out := make([]float64, 0, 3*len(v))
	for r := range rows {
		for _, half := range order {
			for _, x := range v[r*k : (r+1)*k] {
				hi := format.TF32.Round(x)
				if half == "lo" {
					hi = format.TF32.Round(x - hi)
				}
				out = append(out, hi)
			}
		}
	}
	return out
}
