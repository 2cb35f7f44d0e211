package numerics

import (
	"fmt"
	"strings"
)

// Gate names a stage of Judge, in the order in which they decide.
type Gate string

// The gates.
const (
	None        Gate = ""            // accepted: nothing was violated
	Structure   Gate = "structure"   // shape, class map of NaN and Inf, unwritten elements, poison, reruns
	Bound       Gate = "bound"       // |got − want| beyond the a-priori bound
	Relative    Gate = "relative"    // rms error against that of emulated reorderings of the contract
	Bias        Gate = "bias"        // mean error in ulp against theirs
	Selecting   Gate = "selection"   // top-k sets that no admissible rounding of the scores gives
	Compounding Gate = "compounding" // error over layers against that of emulated passes
)

// Verdict is what Judge returns. The first failing gate decides.
type Verdict struct {
	Accepted bool
	Gate     Gate
	Reason   string   // one sentence: what was violated
	Where    Location // first offending index and the pattern of all of them

	Rho           Quantiles // |got−want|/bound, the certain bound
	RhoMartingale Quantiles // the same for the martingale bound; zeros if there is none
	Ratio         float64   // rms error over the emulated contract's; 0 without an emulation

	Relative          Calibrated // ln of the scaled rms error; zero without an ensemble
	Signed, Magnified Calibrated // mean error in ulp, as signed and towards the sign of the result

	Cause   []Cause // likely first
	Explain []Fit   // emulations, best first
	Judged  int     // elements compared with a bound
}

// Location is where a gate failed.
type Location struct {
	Index   int    // flat index of the first offending element; -1 if none
	Coord   []int  // the same by axis
	Count   int    // offending elements
	Pattern string // in words: "row 3", "every element", "every 16th col", "scattered"
}

// Cause is a guess at what went wrong, from residuals and contract only.
type Cause struct {
	Name, Why string
}

// Fit is how well one emulation explains the result.
type Fit struct {
	Name     string
	BitEqual float64 // share of elements that are equal bit for bit
	RelL2    float64 // ||got − emulated|| / ||emulated||
}

// String is the verdict in a line or two, for terminals and failure texts.
func (v Verdict) String() string {
	var b strings.Builder
	if v.Accepted {
		fmt.Fprintf(&b, "accepted: %d elements, rho median %.2g, p99 %.2g, max %.2g", v.Judged, v.Rho.Median, v.Rho.P99,
			v.Rho.Max)
	} else {
		fmt.Fprintf(&b, "rejected by the %s gate: %s", v.Gate, v.Reason)
		if v.Where.Count > 0 {
			fmt.Fprintf(&b, "; first at %v, %d in all, pattern: %s", v.Where.Coord, v.Where.Count, v.Where.Pattern)
		}
	}
	if v.RhoMartingale.Max > 0 {
		fmt.Fprintf(&b, "; martingale rho max %.2g", v.RhoMartingale.Max)
	}
	if len(v.Cause) > 0 {
		fmt.Fprintf(&b, "\nlikely cause: %s (%s)", v.Cause[0].Name, v.Cause[0].Why)
	}
	for _, f := range v.Explain {
		fmt.Fprintf(&b, "\nemulated %s: %.1f %% bit-equal, relative L2 %.2g", f.Name, 100*f.BitEqual, f.RelL2)
	}
	return b.String()
}
