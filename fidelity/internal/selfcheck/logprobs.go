// Package selfcheck holds evidence against itself before anything is concluded from it: log-probabilities that cannot
// be those of the answer's tokens measure no margin, and that is a finding of its own.
package selfcheck

import (
	"fmt"
	"math"

	"github.com/assay-suite/assay/internal/endpoint"
)

// slack is what rounding may add: servers round log-probabilities to three digits or more.
const slack = 2e-3

// Logprobs counts what the log-probabilities of greedy answers break. Clipped values (minus infinity, -100, -9999) and
// missing ones are left out.
type Logprobs struct {
	Tokens   int     `json:"tokens"`             // with a value
	Lists    int     `json:"lists,omitempty"`    // of at least two alternatives
	Positive int     `json:"positive,omitempty"` // values above 0
	AboveOne int     `json:"above-one,omitempty"`
	Over     int     `json:"over,omitempty"`     // lists whose probabilities sum to more than 1
	OverTen  int     `json:"over-ten,omitempty"` // of these, those that do as base-10 logarithms too
	Stray    int     `json:"stray,omitempty"`    // lists whose best entry is not the chosen token with its value
	Least    float64 `json:"least"`              // value of a chosen token
	Most     float64 `json:"most"`
	Sum      float64 `json:"sum,omitempty"` // largest sum of a list's probabilities
}

// Of counts one greedy answer.
func Of(tokens []endpoint.Token) Logprobs {
	var c Logprobs
	for _, t := range tokens {
		if !usable(t.Logprob) {
			continue
		}
		if c.Tokens == 0 {
			c.Least, c.Most = t.Logprob, t.Logprob
		}
		c.Tokens++
		c.Least, c.Most = min(c.Least, t.Logprob), max(c.Most, t.Logprob)
		if t.Logprob > slack {
			c.Positive++
		}
		if t.Logprob > 1+slack {
			c.AboveOne++
		}
		if len(t.Top) < 2 {
			continue
		}
		c.Lists++
		natural, ten, best, own := 0.0, 0.0, math.Inf(-1), math.NaN()
		for _, a := range t.Top {
			natural, ten = natural+math.Exp(a.Logprob), ten+math.Pow(10, a.Logprob)
			best = max(best, a.Logprob)
			if a.Token == t.Text && (math.IsNaN(own) || math.Abs(a.Logprob-t.Logprob) < math.Abs(own-t.Logprob)) {
				own = a.Logprob
			}
		}
		c.Sum = max(c.Sum, natural)
		if natural > 1+slack*float64(len(t.Top)) {
			c.Over++
			if ten > 1+slack*float64(len(t.Top)) {
				c.OverTen++
			}
		}
		if !(math.Abs(own-t.Logprob) <= slack) || best > t.Logprob+slack {
			c.Stray++
		}
	}
	return c
}

func usable(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) && v > -99 }

// Plus adds the counts of other answers.
func (c Logprobs) Plus(d Logprobs) Logprobs {
	switch {
	case d.Tokens == 0:
		return c
	case c.Tokens == 0:
		return d
	}
	return Logprobs{
		c.Tokens + d.Tokens, c.Lists + d.Lists, c.Positive + d.Positive, c.AboveOne + d.AboveOne, c.Over + d.Over,
		c.OverTen + d.OverTen, c.Stray + d.Stray, min(c.Least, d.Least), max(c.Most, d.Most), max(c.Sum, d.Sum),
	}
}

// Finding says what is wrong with log-probabilities, as "log-probabilities are ...: margins unmeasured"; it is empty
// where nothing is. One position in ten may break a rule: a tie in a low precision, or a token of the stop string.
func (c Logprobs) Finding() string {
	const enough = 8 // values that are all equal by no chance
	often := func(n, of int) bool { return n >= 3 && 10*n > of }
	what := ""
	switch {
	case c.Tokens >= enough && c.Most-c.Least == 0:
		what = fmt.Sprintf("all equal (%.4g at each of %d tokens)", c.Least, c.Tokens)
	case often(c.Positive, c.Tokens) && c.AboveOne == 0 && c.Least >= 0:
		what = fmt.Sprintf("probabilities, not logs (%.4g to %.4g)", c.Least, c.Most)
	case often(c.Positive, c.Tokens):
		what = fmt.Sprintf("positive at %d of %d tokens, up to %.4g", c.Positive, c.Tokens, c.Most)
	case often(c.Over, c.Lists) && c.OverTen == 0:
		what = fmt.Sprintf("logarithms to base 10: as natural ones the listed probabilities sum to up to %.4g", c.Sum)
	case often(c.Over, c.Lists):
		what = fmt.Sprintf("too large: the listed probabilities of one position sum to up to %.4g", c.Sum)
	case often(c.Stray, c.Lists):
		what = fmt.Sprintf("not those of the answer: at %d of %d positions the chosen token is not the best of its list, or "+
			"has another value there", c.Stray, c.Lists)
	}
	if what == "" {
		return ""
	}
	return "log-probabilities are " + what + ": margins unmeasured"
}
