package numerics

import (
	"fmt"
	"math/rand/v2"

	"github.com/assay-suite/assay/numerics/format"
)

// Ensemble emulates count reorderings of out[m,n] = Σ_k x[m,k]·w[n,k] under the contract: the same accumulator over
// the products in an order drawn from the seed, one order for all outputs of a member, as a kernel has. Where the
// contract promises no order, members add in one chain, the order with the largest errors: a kernel that adds in splits
// or pairwise has smaller ones, which no gate holds against it. It returns count outputs [M,N]: what Trial.Ensemble
// takes.
func (c Contract) Ensemble(x, w []float64, m, n, k, count int, seed uint64) ([][]float64, error) {
	if err := c.checkGemm(x, w, m, n, k); err != nil {
		return nil, fmt.Errorf("reorderings of contract %q: %w", c.Name, err)
	}
	ox, ow := c.Operand("x"), c.Operand("w")
	rx, rw := ox.Read(x), ow.Read(w)
	px, pw := make([]float64, m*k), make([]float64, n*k)
	outs := make([][]float64, count)
	f := c.Output()
	for i := range outs {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		order := rng.Perm(k)
		gather(px, rx, order, m, k)
		gather(pw, rw, order, n, k)
		acc := c.Acc
		if acc.Order == Unknown && acc.Block == 0 {
			acc.Order = Sequential
		}
		outs[i] = acc.gemm(px, pw, m, n, k, ox.Format, ow.Format)
		for j, v := range outs[i] {
			outs[i][j] = f.RoundTo(v, format.RN, c.Saturation)
		}
	}
	return outs, nil
}

func gather(dst, src []float64, order []int, rows, k int) {
	for r := range rows {
		for i, o := range order {
			dst[r*k+i] = src[r*k+o]
		}
	}
}
