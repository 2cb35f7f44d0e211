package numerics

import (
	"fmt"
	"math"
)

// Growth is the evidence of the compounding gate: the relative error after every layer of the candidate's free-running
// pass, and of at least MinEnsemble emulated passes under the same contract. All curves have one length and positive
// values.
type Growth struct {
	Errors   []float64
	Emulated [][]float64
}

// Slope is the exponent g of E_l ∝ l^g by least squares over ln l (l from 1) and ln E: about 0 for one bad layer, 1/2
// for unbiased errors that add up, 1 for a bias. 0 for fewer than two layers.
func Slope(errors []float64) float64 {
	var sx, sy, sxx, sxy float64
	n := float64(len(errors))
	for i, e := range errors {
		x, y := math.Log(float64(i+1)), math.Log(e)
		sx += x
		sy += y
		sxx += x * x
		sxy += x * y
	}
	if d := n*sxx - sx*sx; d > 0 {
		return (n*sxy - sx*sy) / d
	}
	return 0
}

// check compares every layer and the slope with the emulated passes, the risk shared evenly; only more error and faster
// growth than theirs is a fault.
func (g Growth) check(risk float64) (Gate, string, []int) {
	if len(g.Emulated) < MinEnsemble || len(g.Errors) == 0 {
		return Structure, fmt.Sprintf("compounding over %d layers comes with %d emulated passes, want at least %d",
			len(g.Errors), len(g.Emulated), MinEnsemble), nil
	}
	for i, e := range append([][]float64{g.Errors}, g.Emulated...) {
		for l, v := range e {
			if len(e) != len(g.Errors) || !(v > 0) || math.IsInf(v, 0) {
				return Structure, fmt.Sprintf("curve %d has %d layers and %v at layer %d, want %d positive numbers", i, len(e), v,
					l, len(g.Errors)), nil
			}
		}
	}
	each := 2 * risk / float64(len(g.Errors)+1) // one-sided
	members := make([]float64, len(g.Emulated))
	var bad []int
	worst := ""
	for l, e := range g.Errors {
		for i, c := range g.Emulated {
			members[i] = math.Log(c[l])
		}
		if c := predict(math.Log(e), members, each, 0.01); c.Value > c.High {
			if bad == nil {
				worst = fmt.Sprintf("after layer %d the error is %.3g, %.3g times the emulated contract's; it allows %.3g times", l,
					e, math.Exp(c.Value-c.Centre), math.Exp(c.High-c.Centre))
			}
			bad = append(bad, l)
		}
	}
	if bad != nil {
		return Compounding, worst, bad
	}
	for i, c := range g.Emulated {
		members[i] = Slope(c)
	}
	if c := predict(Slope(g.Errors), members, each, 0.01); c.Value > c.High {
		return Compounding, fmt.Sprintf("the error grows with depth to the power %.3g; the emulated contract's with %.3g, "+
			"and it allows %.3g", c.Value, c.Centre, c.High), nil
	}
	return None, "", nil
}
