package numerics

import (
	"fmt"
	"math"

	"github.com/assay-suite/assay/numerics/format"
)

// causes guesses, from residuals and contract only: an emulation that reproduces the result names itself; a common factor, a
// truncation bias (where the contract does not truncate itself) and zeros show in the residuals.
func causes(t Trial, c Contract, v Verdict) []Cause {
	var out []Cause
	if v.Gate == Structure {
		return nil // the reason says it already
	}
	for _, f := range v.Explain {
		if f.Name != c.Name && f.BitEqual >= 0.99 {
			out = append(out, Cause{f.Name, fmt.Sprintf("its emulation gives %.1f %% of the outputs bit for bit", 100*f.BitEqual)})
		}
	}
	var gw, ww, gg float64
	var zeros, toward, n int
	for i, w := range t.Want {
		g := t.Got[i]
		if class(g) != 0 || class(w) != 0 {
			continue
		}
		n++
		gw += g * w
		ww += w * w
		gg += g * g
		if g == 0 && math.Abs(w) > t.Bound[i] {
			zeros++
		}
		if math.Abs(g) < math.Abs(w) {
			toward++
		}
	}
	if n == 0 || ww == 0 {
		return out
	}
	if zeros > 0 {
		out = append(out, Cause{"zeros", fmt.Sprintf("%d elements are exactly 0 where the exact value is beyond its bound", zeros)})
	}
	scale := gw / ww
	left := math.Sqrt(math.Max(gg-scale*gw, 0) / ww) // what one factor leaves unexplained
	if math.Abs(scale-1) > 4*left {
		out = append(out, Cause{"scale", fmt.Sprintf("one factor of %.5g explains the difference but %.2g of it", scale, left/math.Abs(scale-1))})
	}
	if share := float64(toward) / float64(n); n >= 32 && c.Acc.Rounding != format.RZ && math.Abs(share-0.5) > 3/math.Sqrt(float64(n)) && share > 0.5 {
		out = append(out, Cause{"truncation", fmt.Sprintf("%.0f %% of the outputs are smaller in magnitude than the exact value", 100*share)})
	}
	return out
}
