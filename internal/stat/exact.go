package stat

import (
	"fmt"
	"math"
)

// Alternative says which deviations count as evidence.
type Alternative int

const (
	// TwoSided counts every outcome that is at most as likely as the observed one.
	TwoSided Alternative = iota
	// Less counts outcomes whose first entry is at most the observed one.
	Less
	// Greater counts outcomes whose first entry is at least the observed one.
	Greater
)

// String returns "two-sided", "less" or "greater".
func (a Alternative) String() string {
	switch a {
	case TwoSided:
		return "two-sided"
	case Less:
		return "less"
	case Greater:
		return "greater"
	}
	return fmt.Sprintf("Alternative(%d)", int(a))
}

// tieSlack is the relative slack within which two probabilities count as equally likely. They come
// from sums of log-gammas of up to 1e6, whose rounding is about 1e6 x 2^-52 x a few; outcomes of a
// hypergeometric law that differ at all differ by far more at the sizes a grid has. R uses the same.
const tieSlack = 1e-7

// FisherExact tests whether two rates differ, given the table
//
//	          hit  miss
//	first      a    b
//	second     c    d
//
// by conditioning on all margins. Greater asks whether the first row hits more often (short recall
// against long recall), Less whether it hits less often. TwoSided sums the tables that are at most
// as likely as the observed one (R's convention, not twice the smaller tail).
//
// Source: R. A. Fisher, The Design of Experiments (1935) chapter 2. A table with an empty row or
// column says nothing: p is 1. It fails on a negative count and on an unknown alternative.
func FisherExact(a, b, c, d int, alt Alternative) (float64, error) {
	if a < 0 || b < 0 || c < 0 || d < 0 {
		return 0, fmt.Errorf("exact test of Fisher: table [%d %d; %d %d] has a negative count", a, b, c, d)
	}
	row, col, n := a+b, a+c, a+b+c+d
	lo, hi := max(0, col-(n-row)), min(row, col)
	return tail(lo, hi, a, alt, func(k int) float64 {
		return logChoose(row, k) + logChoose(n-row, col-k) - logChoose(n, col)
	})
}

// McNemar tests paired answers: lost pairs were right in the golden and are wrong now, won pairs
// the other way round; pairs that agree carry no information. Under no change each discordant
// pair is a fair coin. Greater asks whether more was lost than won (the golden gate), Less whether
// more was won. Five losses against no win are needed for p < 0.05, seven for p < 0.01.
//
// Source: Q. McNemar, Psychometrika 12 (1947) 153-157, in its exact binomial form. With no
// discordant pair p is 1. It fails on a negative count and on an unknown alternative.
func McNemar(lost, won int, alt Alternative) (float64, error) {
	if lost < 0 || won < 0 {
		return 0, fmt.Errorf("McNemar's test: %d lost and %d won pairs, want counts of at least 0", lost, won)
	}
	n := lost + won
	return tail(0, n, lost, alt, func(k int) float64 {
		return logChoose(n, k) - float64(n)*math.Ln2
	})
}

// LossesNeeded returns how many lost pairs, with none won, make McNemar's one-sided p smaller than
// alpha: the smallest k with 2^-k < alpha. It fails when alpha is not inside (0, 1).
func LossesNeeded(alpha float64) (int, error) {
	if !(alpha > 0 && alpha < 1) {
		return 0, fmt.Errorf("losses needed: alpha is %v, want a number between 0 and 1", alpha)
	}
	k := 1
	for math.Ldexp(1, -k) >= alpha {
		k++
	}
	return k, nil
}

// DetectableDrop returns the smallest drop of the recall rate that the paired gate sees with the
// given power when all n pairs were right before: the p at which a binomial of n pairs reaches
// LossesNeeded(alpha) with probability power. One line of every gate prints it. It returns 1 when
// n is too small to see anything, and fails when alpha or power is outside (0, 1) or n < 1.
func DetectableDrop(n int, alpha, power float64) (float64, error) {
	need, err := LossesNeeded(alpha)
	if err != nil {
		return 0, fmt.Errorf("detectable drop: %w", err)
	}
	if n < 1 || !(power > 0 && power < 1) {
		return 0, fmt.Errorf("detectable drop: n is %d and power %v, want at least one pair and a power between 0 and 1", n,
			power)
	}
	if n < need {
		return 1, nil
	}
	// P(X >= need | p) is the beta distribution function of p with parameters need, n-need+1, so
	// the drop is its quantile: the Clopper-Pearson lower bound of need hits at tail = power.
	return exactLower(need, n, power), nil
}

// tail sums exp(logp(k)) over the outcomes in lo..hi that count as evidence at the observed one.
func tail(lo, hi, observed int, alt Alternative, logp func(int) float64) (float64, error) {
	ref := logp(observed) + tieSlack
	sum := 0.0
	for k := lo; k <= hi; k++ {
		lp := logp(k)
		switch alt {
		case Less:
			if k > observed {
				continue
			}
		case Greater:
			if k < observed {
				continue
			}
		case TwoSided:
			if lp > ref {
				continue
			}
		default:
			return 0, fmt.Errorf("alternative %v is unknown, want TwoSided, Less or Greater", alt)
		}
		sum += math.Exp(lp)
	}
	return math.Min(1, sum), nil
}

func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}
