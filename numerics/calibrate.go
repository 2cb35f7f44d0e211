package numerics

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/assay-suite/assay/numerics/format"
)

// DefaultRisk is the risk of a correct result being rejected by the calibrated gates of one trial where Trial.Risk is
// 0. Counting at risks where alarms can be counted is what supports it: see docs/power.md.
const DefaultRisk = 1e-6

// MinEnsemble is the least number of reorderings that the calibrated gates take; fewer, and they do not judge.
const MinEnsemble = 16

// Calibrated is one statistic of the candidate beside the same statistic of the emulated reorderings of its contract.
type Calibrated struct {
	Value  float64 // the candidate's
	Centre float64 // mean over the ensemble
	SD     float64 // standard deviation over the ensemble, or the floor where that is larger
	Low    float64 // accepted from Low
	High   float64 // to High
}

// Accepts reports whether the candidate lies inside the ensemble's limits.
func (c Calibrated) Accepts() bool { return c.Value >= c.Low && c.Value <= c.High }

// predict sets the limits within which one more draw from the ensemble's distribution lies with probability 1 − risk:
// Student's t for a new observation, mean ± t·sd·sqrt(1+1/m) over m members. floor is the least standard deviation
// believed.
func predict(value float64, members []float64, risk, floor float64) Calibrated {
	m := float64(len(members))
	var mean, sq float64
	for _, v := range members {
		mean += v / m
	}
	for _, v := range members {
		sq += (v - mean) * (v - mean)
	}
	sd := math.Max(math.Sqrt(sq/(m-1)), floor)
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: m - 1}.Quantile(1 - risk/2)
	half := t * sd * math.Sqrt(1+1/m)
	return Calibrated{Value: value, Centre: mean, SD: sd, Low: mean - half, High: mean + half}
}

// mostShare caps (e/s)² of one element. A correct result may have an element where all members happen to agree and it
// does not (a large term added before its cancellation in one order out of many); one element far off is the bound
// gate's business.
const mostShare = 64

// calibration is what the relative and bias gates measured; zero without an ensemble.
type calibration struct {
	relative          Calibrated // ln of the rms of (y − y*)/s, rejected above High only
	signed, magnified Calibrated // mean error in ulp of the output, as signed and with the sign of y*
	ratio             float64
	n                 int
}

// calibrate compares the candidate with the ensemble. All three statistics treat the candidate as one more member, so
// that under the contract, in an order like the ensemble's, it is exchangeable with the members.
//
// Relative: T_j = sqrt(mean_i (e_ij/s_ij)² + 1/n) with e = y − y* and s_ij the rms error at element i of the others;
// s is at least ulp/√12 and (e/s)² at most mostShare, so that elements which the output format holds exactly do not
// decide. Judged on ln T, whose standard deviation is taken as at least 1/sqrt(2n), the sampling law of an rms. A
// closed form κ·exp(z/√n) supposes independent, equal errors and false-alarms on outlier channels (measured: 12 to
// 27 %).
//
// Bias: the mean of e in ulp, once as signed and once towards the sign of y*, where truncation and scale errors show.
// Limits reach from the ensemble's limits to those around y* rounded to the output format, since a kernel less biased
// than its contract is not at fault. The standard deviation is at least that of the output's rounding, 1/sqrt(12 n),
// where the contract stores intermediates in a format of its own; else the output's rounding is the same function of
// nearly the same sum for candidate and members, differences are single flips, and it is at least that of one flip in
// the mean, sqrt(max(1, flips))/n.
func (t Trial) calibrate(c Contract) calibration {
	members := t.Ensemble
	if len(members) < MinEnsemble {
		return calibration{}
	}
	risk := t.Risk
	if risk == 0 {
		risk = DefaultRisk
	}
	units := t.units(c)
	use := t.finite()
	n := float64(len(use))
	if n == 0 {
		return calibration{}
	}
	pool := append([][]float64{t.Got}, members...)
	m := len(pool)
	sum := make([]float64, len(t.Got)) // Σ_j e_ij²
	for _, y := range pool {
		for _, i := range use {
			e := y[i] - t.Want[i]
			sum[i] += e * e
		}
	}
	ln, signed, magnified := make([]float64, m), make([]float64, m), make([]float64, m)
	rms := make([]float64, m)
	for j, y := range pool {
		var sq, plain float64
		for _, i := range use {
			e, u := y[i]-t.Want[i], units[i]
			s2 := math.Max((sum[i]-e*e)/float64(m-1), u*u/12)
			sq += math.Min(e*e/s2, mostShare)
			plain += e * e / (u * u)
			signed[j] += e / u / n
			magnified[j] += math.Copysign(e, e*t.Want[i]) / u / n
		}
		ln[j] = math.Log(sq/n+1/n) / 2
		rms[j] = plain
	}
	floor := t.biasFloor(c, units, use)
	out := calibration{n: len(use)}
	out.relative = predict(ln[0], ln[1:], risk, 1/math.Sqrt(2*n)) // one-sided at risk/2
	out.relative.Low = math.Inf(-1)
	var ideal, idealMagnified float64
	for _, i := range use {
		e := c.Output().RoundTo(t.Want[i], format.RN, format.Saturate) - t.Want[i]
		ideal += e / units[i] / n
		idealMagnified += math.Copysign(e, e*t.Want[i]) / units[i] / n
	}
	out.signed = reach(predict(signed[0], signed[1:], risk/4, floor), ideal)
	out.magnified = reach(predict(magnified[0], magnified[1:], risk/4, floor), idealMagnified)
	var others float64
	for _, r := range rms[1:] {
		others += r / float64(m-1)
	}
	out.ratio = ratio(math.Sqrt(rms[0]), math.Sqrt(others))
	return out
}

// reach widens limits to those around an ideal result.
func reach(c Calibrated, ideal float64) Calibrated {
	half := (c.High - c.Low) / 2
	c.Low, c.High = math.Min(c.Low, ideal-half), math.Max(c.High, ideal+half)
	return c
}

// biasFloor is the least standard deviation of a mean error in ulp.
func (t Trial) biasFloor(c Contract, units []float64, use []int) float64 {
	n := float64(len(use))
	if c.Mid.Name != "" && c.Mid != c.Output() {
		return 1 / math.Sqrt(12*n)
	}
	var flips float64 // Σ of squared departures from the first member, in ulp², per member
	first := t.Ensemble[0]
	for _, y := range t.Ensemble[1:] {
		for _, i := range use {
			d := (y[i] - first[i]) / units[i]
			flips += d * d / float64(len(t.Ensemble)-1)
		}
	}
	return math.Sqrt(math.Max(1, flips/2)) / n
}

// finite lists the elements that are finite in the candidate, the reference and every member.
func (t Trial) finite() []int {
	var use []int
	for i, w := range t.Want {
		ok := class(w) == 0 && class(t.Got[i]) == 0
		for _, y := range t.Ensemble {
			ok = ok && class(y[i]) == 0
		}
		if ok {
			use = append(use, i)
		}
	}
	return use
}

// units is one ulp of the output format at |y*|, which counts as at least the rms of its row (the last axis) times
// 2^-8.
func (t Trial) units(c Contract) []float64 {
	out := make([]float64, len(t.Want))
	row := len(t.Want)
	if len(t.Shape) > 0 {
		row = max(t.Shape[len(t.Shape)-1], 1)
	}
	f := c.Output()
	for lo := 0; lo < len(out); lo += row {
		hi := min(lo+row, len(out))
		var sq float64
		n := 0
		for _, w := range t.Want[lo:hi] {
			if class(w) == 0 {
				sq += w * w
				n++
			}
		}
		least := math.Sqrt(sq/float64(max(n, 1))) / 256
		for i := lo; i < hi; i++ {
			out[i] = f.Ulp(math.Min(math.Max(math.Abs(t.Want[i]), least), f.Max()))
			if !(out[i] > 0) {
				out[i] = f.MinSubnormal()
			}
		}
	}
	return out
}

func (c calibration) relativeGate(_ Trial, k Contract) (Gate, string, []int) {
	if c.n == 0 || c.relative.Accepts() {
		return None, "", nil
	}
	return Relative, fmt.Sprintf("the rms error is %.3g times that of the emulated reorderings of contract %q; they "+
		"allow %.3g", math.Exp(c.relative.Value-c.relative.Centre), k.Name, math.Exp(c.relative.High-c.relative.Centre)), nil
}

func (c calibration) biasGate(_ Trial, k Contract) (Gate, string, []int) {
	for _, b := range []struct {
		Calibrated
		what string
	}{{c.signed, "mean signed error"}, {c.magnified, "mean error towards the sign of the result"}} {
		if c.n > 0 && !b.Accepts() {
			return Bias, fmt.Sprintf("the %s is %.3g ulp; the emulated reorderings of contract %q have %.3g and allow %.3g to "+
				"%.3g", b.what, b.Value, k.Name, b.Centre, b.Low, b.High), nil
		}
	}
	return None, "", nil
}
