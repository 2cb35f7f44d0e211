package layers

import (
	"fmt"
	"math"
)

// Result is what one candidate did to a stack.
type Result struct {
	Local Curve     // both sides fed the exact state before each layer
	Free  Curve     // each side fed its own
	Gain  []float64 // of each layer on a probe in the exact stack: ||δ after|| / ||δ before||, all rows together
}

// Compare makes a Result of states recorded elsewhere, each list one state [rows, width] per depth: exact is the
// reference, local what the candidate makes of the exact state before each layer, free what it makes by itself, and
// probed the exact stack after a small change of its start. start and probedStart are the states before the first
// layer; where they are not known, nil gives the first layer a gain of 1.
func Compare(rows int, start, probedStart []float64, exact, local, free, probed [][]float64) (Result, error) {
	var r Result
	var err error
	if r.Local, err = CurveOf(local, exact, rows); err != nil {
		return r, fmt.Errorf("local error: %w", err)
	}
	if r.Free, err = CurveOf(free, exact, rows); err != nil {
		return r, fmt.Errorf("free-running error: %w", err)
	}
	if r.Gain, err = Gains(rows, start, probedStart, exact, probed); err != nil {
		return r, err
	}
	return r, nil
}

// Gains is how much each layer stretches the difference between two runs of one stack, base and probed, over all rows.
// The probe must be small enough for the stack to be linear in it and large against float64's rounding.
func Gains(rows int, start, probedStart []float64, base, probed [][]float64) ([]float64, error) {
	c, err := CurveOf(probed, base, rows)
	if err != nil {
		return nil, fmt.Errorf("probe: %w", err)
	}
	before := norm(c.Abs, 0)
	if start != nil || probedStart != nil {
		abs, _, err := rowNorms(probedStart, start, rows)
		if err != nil {
			return nil, fmt.Errorf("probe at the start: %w", err)
		}
		before = 0
		for _, v := range abs {
			before = math.Hypot(before, v)
		}
	}
	out := make([]float64, c.Depths())
	for l := range out {
		after := norm(c.Abs, l)
		if !positive(before) || after != after {
			return nil, fmt.Errorf("the probe's size is %v before layer %d and %v after it; a gain needs one that lives", before,
				l+1, after)
		}
		out[l], before = after/before, after
	}
	return out, nil
}

// MeanGain is the geometric mean gain per layer.
func (r Result) MeanGain() float64 {
	var sum float64
	for _, g := range r.Gain {
		sum += math.Log(g)
	}
	return math.Exp(sum / float64(len(r.Gain)))
}

// Coherence is, at the last depth, the free-running error over what the local errors would add up to if they were
// independent: sqrt(Σ_j (local_j · Π_{i>j} gain_i)²). 1 is independence, sqrt(depth) all errors in one direction,
// less than 1 errors that the stack damps more than it does the probe. NaN for an exact candidate.
func (r Result) Coherence() float64 {
	var independent float64
	for l := range r.Local.Depths() {
		independent = math.Hypot(independent*r.Gain[l], norm(r.Local.Abs, l))
	}
	return norm(r.Free.Abs, r.Free.Depths()-1) / independent
}
