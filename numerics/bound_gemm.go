package numerics

import (
	"fmt"
	"math"

	"github.com/assay-suite/assay/numerics/format"
)

// GemmBounds holds, for every element of a GEMM [M,N] under a contract, the exact value on the stored operands and how
// far the contract lets a result lie from it.
type GemmBounds struct {
	Want       []float64 // float64, compensated, on the operands as stored
	Det        []float64 // certain bound: |y − Want| > Det proves a breach of the contract
	Martingale []float64 // bound at the stated risk; nil where the accumulator truncates
	Alpha      float64   // that risk, over all elements together

	Center []float64 // exact on the operands as the contract reads them
	Strict []float64 // certain bound around Center, for a kernel that reads its operands exactly as declared

	Input  []float64 // the operands' share of Det: |Center − Want|
	Acc    []float64 // the accumulator's share
	SumAbs []float64 // Σ|x̂ŵ|
}

// GemmBounds derives the bounds. Per element
//
//	Det = |Σ x̂ŵ − Σ xw| + B_acc + ½ulp_out(|Σ x̂ŵ| + B_acc)
//
// Input: how a stored operand is read is declared (rn, rna, rz), so its effect is a known number, not a worst case
// u_in·Σ|xw| (InputApriori has that one). Det reaches from the contract's result to the exact one, so a kernel more
// exact than it declares is inside; Strict = B_acc + ½ulp_out around Center admits only kernels that read as declared.
//
// Output: half an ulp of the output format in the binade that the bound can reach; 0 where the accumulator's result is
// already a value of the output format.
//
// Accumulation: see AccBound and MartingaleBound. alpha is the risk of the martingale form over all M·N elements.
func (c Contract) GemmBounds(x, w []float64, m, n, k int, alpha float64) (GemmBounds, error) {
	if err := c.checkGemm(x, w, m, n, k); err != nil {
		return GemmBounds{}, fmt.Errorf("bounds of contract %q: %w", c.Name, err)
	}
	if !(alpha > 0 && alpha < 1) {
		return GemmBounds{}, fmt.Errorf("bounds of contract %q: the risk alpha is %v, want a number between 0 and 1", c.Name,
			alpha)
	}
	size := m * n
	b := GemmBounds{
		Alpha: alpha, Want: make([]float64, size), Det: make([]float64, size), Input: make([]float64, size),
		Acc: make([]float64, size), SumAbs: make([]float64, size), Center: make([]float64, size),
		Strict: make([]float64, size),
	}
	mart := c.Acc.Rounding != format.RZ && c.Acc.Block == 0
	if mart {
		b.Martingale = make([]float64, size)
	}
	rx, rw := c.Operand("x").Read(x), c.Operand("w").Read(w)
	stored := sameSlice(rx, x) && sameSlice(rw, w) // operands that are read as stored
	lambda := Lambda(size, alpha)
	p := make([]float64, k)
	for i := range m {
		for j := range n {
			at := i*n + j
			xi, wj := x[i*k:(i+1)*k], w[j*k:(j+1)*k]
			b.Want[at] = dotExact(xi, wj)
			xr, wr := rx[i*k:(i+1)*k], rw[j*k:(j+1)*k]
			for t := range p {
				p[t] = xr[t] * wr[t]
				b.SumAbs[at] += math.Abs(p[t])
			}
			center := b.Want[at]
			if !stored {
				center = sumExact(p)
			}
			b.Input[at] = math.Abs(center - b.Want[at])
			b.Acc[at] = c.Acc.AccBound(p, b.SumAbs[at])
			b.Center[at] = center
			b.Strict[at] = b.Acc[at] + c.outputTerm(center, b.Acc[at])
			b.Det[at] = b.Input[at] + b.Strict[at]
			if mart {
				a := math.Min(c.Acc.MartingaleBound(p, lambda), b.Acc[at])
				b.Martingale[at] = b.Input[at] + a + c.outputTerm(center, a)
			}
		}
	}
	return b, nil
}

// sameSlice reports whether two slices are one, as Operand.Read returns its argument where nothing changes.
func sameSlice(a, b []float64) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

func (c Contract) outputTerm(y, slack float64) float64 {
	out := c.Output()
	if out.ManBits >= 23 && out.ExpBits >= 8 {
		return 0
	}
	return HalfULP(out, y, slack)
}

// InputApriori is the worst case of reading operands when their rounding is not declared: Σ|xw|·(u_x + u_w +
// u_x·u_w), with u doubled for truncation. sumAbs is Σ|xw| over the stored operands.
func (c Contract) InputApriori(sumAbs float64) float64 {
	ux := roundoff(c.Operand("x").Format.ManBits, c.Operand("x").Rounding)
	uw := roundoff(c.Operand("w").Format.ManBits, c.Operand("w").Rounding)
	return sumAbs * (ux + uw + ux*uw)
}

// dotExact is Σ x·w with a compensated sum. The products are exact for factors of at most 53 bits together (bf16 or
// TF32 times fp32); fp32 times fp32 fits too.
func dotExact(x, w []float64) float64 {
	var s, comp float64
	for i, v := range x {
		s, comp = neumaier(s, comp, v*w[i])
	}
	return s + comp
}

func sumExact(p []float64) float64 {
	var s, comp float64
	for _, v := range p {
		s, comp = neumaier(s, comp, v)
	}
	return s + comp
}

// neumaier adds v to s and its lost low part to comp (Neumaier 1974).
func neumaier(s, comp, v float64) (float64, float64) {
	t := s + v
	if math.Abs(s) >= math.Abs(v) {
		comp += (s - t) + v
	} else {
		comp += (v - t) + s
	}
	return t, comp
}
