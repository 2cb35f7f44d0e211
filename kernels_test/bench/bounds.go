package bench

import "github.com/assay-suite/assay/numerics"

// OutTerm is the rounding of a value within slack of y to the contract's output: half an ulp, of the next binade where
// the slack reaches it. 0 where the contract names no output format: the bound counts fp32's roundings already.
func OutTerm(c numerics.Contract, y, slack float64) float64 {
	if c.Out.Name == "" {
		return 0
	}
	return numerics.HalfULP(c.Output(), y, slack)
}
