package diagnosis

import "math"

// beta is a Beta(a, b) distribution of the share of wrong answers, with its weight in a mixture.
type beta struct{ weight, a, b float64 }

// prior is a mixture of such.
type prior []beta

// Of an arm that a fault spares nearly all answers are right, unless the model is weak; of one that it hits nearly all
// are wrong, or a good share.
var (
	spared = prior{{0.85, 0.5, 30}, {0.15, 2, 8}}
	hit    = prior{{0.7, 40, 1}, {0.3, 6, 1}}
	partly = prior{{1, 1.5, 2}}
	// anyShare knows nothing of an arm but that most are right, or wrong, as a whole.
	anyShare = prior{{1, 0.5, 0.5}}
	// Of what a selection leaves out all is lost, but for what chance takes along.
	missed = prior{{0.5, 40, 1}, {0.5, 1.5, 2}}
)

// log is the logarithm of the chance of these very answers, the share integrated out (beta-binomial law, without the
// number of orders, which is the same for all).
func (p prior) log(wrong, right float64) float64 {
	terms := make([]float64, 0, 2)
	for _, b := range p {
		terms = append(terms, math.Log(b.weight)+lbeta(b.a+wrong, b.b+right)-lbeta(b.a, b.b))
	}
	return logSum(terms)
}

func lbeta(a, b float64) float64 { return lgamma(a) + lgamma(b) - lgamma(a+b) }

func lgamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}

// logSum is log of the sum of exp of the terms.
func logSum(terms []float64) float64 {
	most := math.Inf(-1)
	for _, t := range terms {
		most = math.Max(most, t)
	}
	if math.IsInf(most, -1) {
		return most
	}
	sum := 0.0
	for _, t := range terms {
		sum += math.Exp(t - most)
	}
	return most + math.Log(sum)
}

// logMean is log of the mean of exp of the terms: a uniform prior over a grid of parameters.
func logMean(terms []float64) float64 { return logSum(terms) - math.Log(float64(len(terms))) }

// The sorts of wrong answers that models tell apart.
const (
	denial = iota
	readable
	near
	foreign
	echo
	junk
	blank
	cut
	sorts
)

func sortOf(class string) int {
	switch class {
	case "denial":
		return denial
	case "near-miss":
		return near
	case "other-needle":
		return foreign
	case "filler-echo":
		return echo
	case "junk":
		return junk
	case "empty", "budget":
		return blank
	case "cut-off":
		return cut
	}
	return readable
}

// mix is a Dirichlet distribution over the sorts of wrong answers.
type mix [sorts]float64

var (
	anyMix   = mix{1, 1, 1, 0.5, 0.5, 0.5, 0.5, 0.5}
	lostMix  = mix{3, 2, 0.3, 0.3, 1.5, 0.2, 0.2, 0.1}
	blankMix = mix{0.1, 0.1, 0.1, 0.1, 0.1, 0.2, 8, 0.1}
	nearMix  = mix{0.3, 2, 5, 0.2, 0.2, 0.2, 0.1, 0.1}
	fadeMix  = mix{2, 1, 0.2, 0.2, 1, 1.5, 0.2, 0.5}
)

// log is the logarithm of the chance of the sorts of these wrong answers.
func (m mix) log(counts [sorts]float64) float64 {
	sum, n, out := 0.0, 0.0, 0.0
	for i, c := range counts {
		sum, n = sum+m[i], n+c
		if c > 0 {
			out += lgamma(m[i]+c) - lgamma(m[i])
		}
	}
	return out + lgamma(sum) - lgamma(sum+n)
}
