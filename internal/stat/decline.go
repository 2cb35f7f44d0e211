package stat

import (
	"errors"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"
)

// Spot is some questions of one length with their needle in one place.
type Spot struct {
	Length   float64 // prompt tokens, above 0
	Distance float64 // of the needle from the end, as a share of the prompt, 0 to 1
	N, Wrong int
}

// Decline is how the recall of a sound model falls: the chance of a wrong answer is
//
//	1 - (1-Base) exp(-Rate (Length/8192)^Power (1-Far+Far·Distance))
//
// a constant, times a survival that falls smoothly with length, and with the distance of the needle as far as Far says.
// Power is at most 1.5, about a tripling of the loss by a doubling of the length, and Rate at most 1.2, a loss of 70 %
// at 8,192 tokens: a window, a cut or a seam is steeper, and what is lost wholly has not declined.
type Decline struct{ Base, Rate, Power, Far float64 }

// Wrong is the chance of a wrong answer.
func (d Decline) Wrong(length, distance float64) float64 {
	return 1 - (1-d.Base)*math.Exp(-d.Rate*math.Pow(length/8192, d.Power)*(1-d.Far+d.Far*distance))
}

// declines are the parameters that are tried: a grid, since the likelihood of few answers is flat and has edges.
func declines() []Decline {
	bases := []float64{0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.17, 0.23, 0.3, 0.4, 0.55, 0.75, 0.95}
	var out []Decline
	for _, base := range bases {
		out = append(out, Decline{Base: base})
		for rate := 0.02; rate < 1.3; rate *= 1.5 {
			for _, power := range []float64{0.35, 0.6, 1, 1.5} {
				for _, far := range []float64{0, 0.5, 1} {
					out = append(out, Decline{base, rate, power, far})
				}
			}
		}
	}
	return out
}

// fitter holds the logarithms of every decline at every spot.
type fitter struct {
	spots       []Spot
	tried       []Decline
	wrong, good [][]float64 // [decline][spot]
}

// FitDecline fits a Decline by maximum likelihood and says how likely a sound model with that decline is to differ from
// it as much as the answers do, or more: a parametric bootstrap of the deviance, refitted to each of draws samples,
// whose tail is that of the gamma law with their mean and variance. It fails without a spot, and on counts or places
// that make no sense.
//
// Source: B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap (1993) chapter 16.
func FitDecline(spots []Spot, draws int, seed uint64) (Decline, float64, error) {
	if len(spots) == 0 || draws < 20 {
		return Decline{}, 0, errors.New("decline: no spot, or fewer than 20 draws")
	}
	for _, s := range spots {
		if !(s.Length > 0) || !(s.Distance >= 0 && s.Distance <= 1) || s.N < 1 || s.Wrong < 0 || s.Wrong > s.N {
			return Decline{}, 0, errors.New("decline: a spot needs a length above 0, a distance from 0 to 1, and 0 to N wrong " +
				"answers of at least 1")
		}
	}
	f := fitter{spots: spots, tried: declines()}
	for _, d := range f.tried {
		var wrong, good []float64
		for _, s := range spots {
			p := math.Min(math.Max(d.Wrong(s.Length, s.Distance), 1e-3), 1-1e-3) // a stray answer excludes no model
			wrong, good = append(wrong, math.Log(p)), append(good, math.Log1p(-p))
		}
		f.wrong, f.good = append(f.wrong, wrong), append(f.good, good)
	}
	counts := make([]int, len(spots))
	for i, s := range spots {
		counts[i] = s.Wrong
	}
	best, deviance := f.fit(counts)
	r := rand.New(rand.NewPCG(seed, 0xdec11e))
	var sum, squares float64
	for range draws {
		for i, s := range spots {
			counts[i] = 0
			p := math.Exp(f.wrong[best][i])
			for range s.N {
				if r.Float64() < p {
					counts[i]++
				}
			}
		}
		_, d := f.fit(counts)
		sum, squares = sum+d, squares+d*d
	}
	mean := sum / float64(draws)
	spread := squares/float64(draws) - mean*mean
	if !(spread > 0) || !(mean > 0) {
		return f.tried[best], 1, nil // every sample fits exactly
	}
	g := distuv.Gamma{Alpha: mean * mean / spread, Beta: mean / spread}
	return f.tried[best], g.Survival(deviance), nil
}

// fit returns the likeliest decline and its deviance: twice the log-likelihood that it lacks against each spot's own
// rate.
func (f fitter) fit(wrong []int) (best int, deviance float64) {
	top := math.Inf(-1)
	for k := range f.tried {
		sum := 0.0
		for i, w := range wrong {
			sum += float64(w)*f.wrong[k][i] + float64(f.spots[i].N-w)*f.good[k][i]
		}
		if sum > top {
			top, best = sum, k
		}
	}
	own := 0.0
	for i, w := range wrong {
		n := float64(f.spots[i].N)
		if w > 0 {
			own += float64(w) * math.Log(float64(w)/n)
		}
		if n > float64(w) {
			own += (n - float64(w)) * math.Log1p(-float64(w)/n)
		}
	}
	return best, 2 * (own - top)
}
