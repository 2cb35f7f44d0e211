package layers

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Band is the mean and standard deviation of one number over the reorderings of a contract.
type Band struct {
	Mean float64 `json:"mean"`
	SD   float64 `json:"sd"`
}

// Reference is how the errors of one contract grow over its own reorderings: the logarithms of the local and the
// free-running relative error (Curve.RMS) by depth, and the mean slope of the free-running one.
type Reference struct {
	Members int    `json:"members"`
	Local   []Band `json:"local"`
	Free    []Band `json:"free"`
	Slope   Band   `json:"slope"`
}

// MinMembers is how many reorderings a reference takes at least: fewer do not tell the spread.
const MinMembers = 16

// minSD keeps reorderings that agree by luck from becoming a demand for equal bits: a reference stored to three digits
// is itself off by up to 0.5 %.
const minSD = 0.005

// Calibrate makes the reference of at least MinMembers emulated reorderings of one contract on one stack.
func Calibrate(members []Result) (Reference, error) {
	if len(members) < MinMembers {
		return Reference{}, fmt.Errorf("%d reorderings do not calibrate a gate; emulate at least %d", len(members),
			MinMembers)
	}
	ref := Reference{Members: len(members)}
	depths := members[0].Free.Depths()
	local, free, slope := make([][]float64, depths), make([][]float64, depths), []float64{}
	for i, m := range members {
		if m.Free.Depths() != depths || m.Local.Depths() != depths {
			return Reference{}, fmt.Errorf("reordering %d has %d layers, the first has %d", i, m.Free.Depths(), depths)
		}
		law, err := m.Free.Law(0.5)
		if err != nil {
			return Reference{}, fmt.Errorf("reordering %d: %w", i, err)
		}
		slope = append(slope, law.Slope)
		a, b := m.Local.RMS(), m.Free.RMS()
		for l := range depths {
			if !positive(a[l]) || !positive(b[l]) {
				return Reference{}, fmt.Errorf("reordering %d is exact at depth %d, or not finite; such a contract needs no gate "+
					"but equality", i, l+1)
			}
			local[l], free[l] = append(local[l], math.Log(a[l])), append(free[l], math.Log(b[l]))
		}
	}
	ref.Slope = band(slope)
	for l := range depths {
		ref.Local, ref.Free = append(ref.Local, band(local[l])), append(ref.Free, band(free[l]))
	}
	return ref, nil
}

func band(v []float64) Band {
	var mean, squares float64
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		squares += (x - mean) * (x - mean)
	}
	return Band{mean, math.Sqrt(squares / float64(len(v)-1))}
}

// Finding is one number of a candidate beyond what the contract's reorderings explain.
type Finding struct {
	What       string // "local", "free" or "slope"
	Depth      int    // 0 for the slope
	Got, Limit float64
}

// String is the finding as a sentence.
func (f Finding) String() string {
	if f.What == "slope" {
		return fmt.Sprintf("the error grows as depth^%.2f, the contract's at most as depth^%.2f", f.Got, f.Limit)
	}
	return fmt.Sprintf("the %s error after layer %d is %.2g, the contract's at most %.2g", f.What, f.Depth, f.Got, f.Limit)
}

// Check compares a candidate with the reference of the contract that it declares and returns what is worse: each local
// and free-running error, and the slope, against mean + t·sd·sqrt(1 + 1/members), the prediction limit of one more
// normal draw, with t Student's quantile at risk shared among all tests (Bonferroni). One-sided: a better order, such
// as pairwise summation against a sequential reference, is no fault. For that reason a steeper slope counts only where
// the error at the last depth is above the reference's mean as well. An error that is not finite is always a finding.
func (ref Reference) Check(got Result, risk float64) ([]Finding, error) {
	depths := len(ref.Free)
	if len(ref.Local) != depths || depths == 0 || got.Free.Depths() != depths || got.Local.Depths() != depths {
		return nil, fmt.Errorf("the reference has %d and %d depths, the candidate %d and %d: compare equal stacks",
			len(ref.Local), depths, got.Local.Depths(), got.Free.Depths())
	}
	if !(risk > 0 && risk < 1) || ref.Members < 2 {
		return nil, fmt.Errorf("a gate at risk %v from %d reorderings: want a risk between 0 and 1, and at least 2", risk,
			ref.Members)
	}
	t := distuv.StudentsT{Sigma: 1, Nu: float64(ref.Members - 1)}.Quantile(1 - risk/float64(2*depths+1))
	t *= math.Sqrt(1 + 1/float64(ref.Members))
	var out []Finding
	test := func(what string, bands []Band, values []float64) {
		for l, v := range values {
			limit := math.Exp(bands[l].Mean + t*math.Max(bands[l].SD, minSD))
			if !(v <= limit) {
				out = append(out, Finding{what, l + 1, v, limit})
			}
		}
	}
	free := got.Free.RMS()
	test("local", ref.Local, got.Local.RMS())
	test("free", ref.Free, free)
	last := free[depths-1]
	if !(last > math.Exp(ref.Free[depths-1].Mean)) {
		return out, nil
	}
	law, err := got.Free.Law(0.5)
	if err != nil {
		return out, fmt.Errorf("the candidate's growth has no slope: %w", err)
	}
	if limit := ref.Slope.Mean + t*math.Max(ref.Slope.SD, minSD); law.Slope > limit {
		out = append(out, Finding{"slope", 0, law.Slope, limit})
	}
	return out, nil
}
