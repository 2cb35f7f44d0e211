package exact

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
)

// Part is what computed a digit.
type Part string

// The parts: the first digit comes out of the prompt's pass, the others out of passes of one token.
const (
	Prefill Part = "prefill"
	Decode  Part = "decode"
)

// Standing is what a row or the whole comes to.
type Standing string

// The standings.
const (
	Held     Standing = "held"
	Rejected Standing = "rejected"
	Unjudged Standing = "not judged"
)

// Row is the judgement of one phase and part.
type Row struct {
	Phase    Phase
	Part     Part
	Digits   int // that were judged
	Of       int // that could be: of cells that fit the context window and are a reference under the format
	RMS      float64
	Mean     float64                         // of the shifts of the margins, nats
	Expected struct{ RMS, Mean, SD float64 } // of the emulated engines: mean of their rms and means, spread of the latter
	Lists    float64                         // rms over lists, nats; NaN: not judged
	Verdict  numerics.Verdict
	Standing Standing
	Why      string // where it is not held
}

const (
	// risk is that of a sound engine being rejected by one calibrated gate of one row; a run has six rows of three gates,
	// whose noises are nearly the same, so that about 5e-5 of sound runs are rejected if shifts are Gaussian.
	risk = 1e-5
	// enough is the share of the possible digits that a row needs.
	enough = 0.9
	// leastMargin is the true margin below which a digit is no reference where values are quantised to fp8 or fp4, in
	// nats: their noise turns such answers.
	leastMargin = 2
)

// quantised reports whether a format rounds to fp8 or fp4.
func quantised(name string) bool { return name != "fp32" && name != "bf16" }

// judgeRow compares what was seen of one phase and part with the exact values, under a format.
func judgeRow(r Reference, seen []Seen, phase Phase, part Part, name string) Row {
	row := Row{Phase: phase, Part: part, Lists: math.NaN(), Standing: Unjudged}
	var use []int // indices into r.Digits
	var got, want []float64
	var lists, listed float64
	for _, s := range seen {
		if s.Phase != phase || !phaseProven(s) {
			continue
		}
		for j := range digits {
			i := s.Cell*digits + j
			if (j == 0) != (part == Prefill) || quantised(name) && r.Digits[i].Margin() < leastMargin {
				continue
			}
			row.Of++
			if math.IsNaN(s.Margins[j]) {
				continue
			}
			use = append(use, i)
			got, want = append(got, s.Margins[j]), append(want, r.Digits[i].Margin())
			if !math.IsNaN(s.Lists[j]) {
				lists += s.Lists[j]
				listed++
			}
		}
	}
	row.Digits = len(use)
	if row.Of == 0 {
		row.Why = "no answer of this phase"
		return row
	}
	for k := range use {
		row.RMS += (got[k] - want[k]) * (got[k] - want[k]) / float64(len(use))
		row.Mean += (got[k] - want[k]) / float64(len(use))
	}
	row.RMS = math.Sqrt(row.RMS)
	if float64(row.Digits) < enough*float64(row.Of) {
		row.Why = fmt.Sprintf("%d of %d digits could be compared: the others were not answered, or came after a wrong one",
			row.Digits, row.Of)
		if row.Digits < row.Of/2 || row.Digits < numerics.MinEnsemble {
			return row
		}
	}
	ensemble := outputs(r.Members[name], use, want)
	row.expect(ensemble, want)
	limit := bounds(ensemble, want)
	row.Verdict = numerics.Judge(numerics.Trial{
		Shape: []int{len(use)}, Axes: []string{"digit"}, Got: got, Want: want, Bound: limit,
		Ensemble: ensemble, Risk: risk,
	}, numerics.Contract{Name: name, Out: format.FP32})
	short := row.Why
	switch {
	case !row.Verdict.Accepted:
		row.Standing, row.Why = Rejected, row.Verdict.Reason
		if row.Verdict.Gate == numerics.Bound {
			row.Why = beyond(r, use, got, want, limit)
		}
	case short == "":
		row.Standing = Held
	}
	if listed >= enough*float64(row.Digits) && listed > 0 {
		row.Lists = math.Sqrt(lists / listed)
		if c := row.listed(r.Lists[name]); row.Standing == Held && row.Lists > c {
			row.Standing = Rejected
			row.Why = fmt.Sprintf("the log-probabilities of the lists are off by %.3g nats, emulated engines allow %.3g",
				row.Lists, c)
		}
	}
	return row
}

// phaseProven reports whether an answer belongs to its phase as far as the server says: a cold one took nothing from a
// cache, a warm one something. Where the server does not say, it is taken for what was asked.
func phaseProven(s Seen) bool {
	if s.Err != nil {
		return s.Phase != Warm // not answered: counted as possible, and missing
	}
	switch {
	case !s.Cached.Known:
		return true
	case s.Phase == Warm:
		return s.Cached.N > 0
	}
	return s.Cached.N == 0
}

// outputs are those of the emulated engines at some digits.
func outputs(shifts [][]float64, use []int, want []float64) [][]float64 {
	out := make([][]float64, len(shifts))
	for m, all := range shifts {
		out[m] = make([]float64, len(use))
		for k, i := range use {
			out[m][k] = want[k] + all[i]
		}
	}
	return out
}

func (r *Row) expect(ensemble [][]float64, want []float64) {
	var means []float64
	for _, y := range ensemble {
		var sq, mean float64
		for k, v := range y {
			sq += (v - want[k]) * (v - want[k]) / float64(len(want))
			mean += (v - want[k]) / float64(len(want))
		}
		r.Expected.RMS += math.Sqrt(sq) / float64(len(ensemble))
		r.Expected.Mean += mean / float64(len(ensemble))
		means = append(means, mean)
	}
	for _, m := range means {
		r.Expected.SD += (m - r.Expected.Mean) * (m - r.Expected.Mean) / float64(len(means)-1)
	}
	r.Expected.SD = math.Sqrt(r.Expected.SD)
}

// bounds are limits of single digits: Student's t for one more engine, the risk shared by all digits, around zero; the
// spread of a digit is at least that of all of them.
func bounds(ensemble [][]float64, want []float64) []float64 {
	n, m := len(want), float64(len(ensemble))
	own, all := make([]float64, n), 0.0
	for _, y := range ensemble {
		for k, v := range y {
			own[k] += (v - want[k]) * (v - want[k]) / m
		}
	}
	for _, v := range own {
		all += v / float64(n)
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: m - 1}.Quantile(1 - risk/float64(2*n))
	for k, v := range own {
		own[k] = t * math.Sqrt(math.Max(v, all)*(1+1/m))
	}
	return own
}

// beyond says which digits are off by more than their limits.
func beyond(r Reference, use []int, got, want, limit []float64) string {
	n, worst := 0, 0
	lengths := map[int]bool{}
	for k := range use {
		over := math.Abs(got[k]-want[k]) / limit[k]
		if over > 1 {
			n++
			lengths[r.Cells[use[k]/digits].Length] = true
		}
		if over > math.Abs(got[worst]-want[worst])/limit[worst] {
			worst = k
		}
	}
	all := slices.Sorted(maps.Keys(lengths))
	return fmt.Sprintf("%d of %d digits are off by more than their limit, in %d prompts of %d to %d tokens; most: digit "+
		"%d of %s, margin %.4g nats for %.4g, limit %.2g", n, len(use), len(all), all[0], all[len(all)-1],
		use[worst]%digits+1, r.Cells[use[worst]/digits].ID, got[worst], want[worst], limit[worst])
}

// listed is the largest rms of lists that the emulated engines allow: Student's t on its logarithm.
func (r *Row) listed(all [][2]float64) float64 {
	part := 0
	if r.Part == Decode {
		part = 1
	}
	var logs []float64
	for _, m := range all {
		logs = append(logs, math.Log(m[part]))
	}
	_, high := limits(logs, risk, 1/math.Sqrt(2*float64(r.Digits)))
	return math.Exp(high)
}

// limits are within what one more value of a Gaussian law lies with probability 1 - risk: mean ± t·sd·sqrt(1+1/m),
// the standard deviation at least floor.
func limits(x []float64, risk, floor float64) (low, high float64) {
	m := float64(len(x))
	var mean, sq float64
	for _, v := range x {
		mean += v / m
	}
	for _, v := range x {
		sq += (v - mean) * (v - mean) / (m - 1)
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: m - 1}.Quantile(1 - risk/2)
	half := t * math.Max(math.Sqrt(sq), floor) * math.Sqrt(1+1/m)
	return mean - half, mean + half
}
