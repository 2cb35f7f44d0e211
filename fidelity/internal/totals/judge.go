package totals

import (
	"fmt"
	"strings"

	"github.com/assay-suite/assay/internal/stat"
	"github.com/assay-suite/assay/internal/suite"
)

const (
	surely    = 1e-4 // below: a fault, where more than tolerated are wrong
	perhaps   = 0.01 // below, with at least few wrong answers: inconclusive
	few       = 3
	tolerated = 0.05 // wrong answers of a sound model to short questions, at most
	doubted   = 0.02 // above: inconclusive
	level     = 0.95 // of exact lower bounds
	draws     = 100  // samples of FitDecline
)

// Result is the judgement of the totals.
type Result struct {
	All   Count
	Forms []Count
	Code  suite.Code // Pass, Regression or Inconclusive
	Text  string     // why, for the verdict line; empty for a pass
	Says  []string   // what was found and what was looked for, for the report
	// Declines: questions asked alone are lost with length, and a smooth decline explains that. No fault and no pass.
	Declines bool
}

// Judge judges answers. Known says that a golden or another server tells what this model can do:
// how recall depends on length is then no reason to doubt.
func Judge(answers []Answer, known bool) (Result, error) {
	var r Result
	r.All, r.Forms = counts(answers)
	if r.All.Asked == 0 {
		r.raise(suite.Inconclusive, "no answer was measured")
		return r, nil
	}
	for _, step := range []func([]Answer, *Result) error{short, contrasts} {
		if err := step(answers, &r); err != nil {
			return r, err
		}
	}
	if !known {
		if err := r.decline(answers); err != nil {
			return r, err
		}
	}
	if err := r.patterns(answers); err != nil {
		return r, err
	}
	return r, r.remains(answers, known)
}

// raise makes the result worse; the first reason of the worst code stands in the verdict.
func (r *Result) raise(code suite.Code, text string) {
	r.Says = append(r.Says, text)
	if code == suite.Regression && r.Code != suite.Regression || r.Code == suite.Pass {
		r.Code, r.Text = code, text
		if code == suite.Regression {
			r.Text = "fault: unexplained losses: " + text
		}
	}
}

// worded is the length in tokens from which a short question holds a text to be read, and not only what everybody
// knows: a server that reads wrongly may know that all the same.
const worded = 100

// short judges short questions that are asked alone: a sound model answers them. Those that hold a text are judged by
// themselves as well, at half the level each.
func short(answers []Answer, r *Result) error {
	var all, texts Count
	for _, a := range answers {
		if a.Form == Short {
			all.add(a)
			if a.Tokens >= worded {
				texts.add(a)
			}
		}
	}
	if all.Asked == 0 {
		r.Says = append(r.Says, "no short question was asked alone: the share that this model misses is not known")
		return nil
	}
	for _, g := range []struct {
		c    Count
		what string
	}{{all, "short questions"}, {texts, "short questions about a text"}} {
		if g.c.Asked == 0 {
			continue
		}
		low, err := stat.LowerBound(g.c.Wrong, g.c.Asked, level)
		if err != nil {
			return err
		}
		sure, err := stat.LowerBound(g.c.Wrong, g.c.Asked, (1+level)/2)
		if err != nil {
			return err
		}
		text := fmt.Sprintf("%d of %d %s asked alone are wrong, at least %.1f %% of such questions (95 %%)", g.c.Wrong,
			g.c.Asked, g.what, 100*low)
		switch {
		case g.c == all && low > tolerated, sure > tolerated:
			r.raise(suite.Regression, text)
			return nil
		case g.c == all && low > doubted:
			r.raise(suite.Inconclusive, text)
		}
	}
	return nil
}

// contrasts holds every other form against questions of the same task, length and depth that were asked alone.
func contrasts(answers []Answer, r *Result) error {
	var found []Count
	var ps []float64
	for _, c := range r.Forms {
		if c.Form == Short || c.Form == Long || c.Form == Tools || c.Form == Turns || c.Form == Other {
			continue
		}
		var first, second []Answer
		for _, a := range answers {
			switch {
			case a.Measured && a.Form == c.Form:
				first = append(first, a)
			case a.base():
				second = append(second, a)
			}
		}
		p, err := stat.StratifiedExact(tables(first, second))
		if err != nil {
			return err
		}
		harder, err := againstHarder(first, second)
		if err != nil {
			return err
		}
		p = min(1, 2*p, 2*harder)
		found, ps = append(found, c), append(ps, p)
	}
	adjusted, err := stat.Holm(ps)
	if err != nil {
		return err
	}
	for i, c := range found {
		text := fmt.Sprintf("%d of %d %s answers are wrong, more than of questions of their length and depth asked alone "+
			"(p %s)", c.Wrong, c.Asked, c.Form, pvalue(adjusted[i]))
		switch {
		case adjusted[i] < surely && c.Share() > tolerated:
			r.raise(suite.Regression, text)
		case adjusted[i] < perhaps && c.Wrong >= few:
			r.raise(suite.Inconclusive, text)
		}
	}
	return nil
}

// againstHarder holds needles against those of prompts at least as long, in the farther half of them, which a sound
// model finds no better: there are more of these than of equal ones.
func againstHarder(answers, base []Answer) (float64, error) {
	longest := 0
	var c, other Count
	for _, a := range answers {
		if a.Task == needles {
			longest = max(longest, a.Tokens)
			c.add(a)
		}
	}
	for _, a := range base {
		if a.Task == needles && a.Tokens >= longest*9/10 && a.Distance >= 0.5 {
			other.add(a)
		}
	}
	return stat.FisherExact(c.Wrong, c.Asked-c.Wrong, other.Wrong, other.Asked-other.Wrong, stat.Greater)
}

// decline asks whether questions asked alone are lost with length, and whether smoothly so.
func (r *Result) decline(answers []Answer) error {
	var base Count
	var one [2]Count // short, and the rest
	for _, a := range answers {
		if !a.base() {
			continue
		}
		base.add(a)
		i := 1
		if a.Tokens <= ShortTokens {
			i = 0
		}
		one[i].add(a)
	}
	if one[0].Asked == 0 || one[1].Asked == 0 || base.Wrong < few {
		return nil
	}
	longer, err := stat.FisherExact(one[1].Wrong, one[1].Asked-one[1].Wrong, one[0].Wrong, one[0].Asked-one[0].Wrong,
		stat.Greater)
	if err != nil {
		return err
	}
	if longer >= perhaps && base.Share() <= tolerated/2 {
		return nil
	}
	fit, p, err := stat.FitDecline(spots(answers), draws, 1)
	if err != nil {
		return err
	}
	counted := fmt.Sprintf("%d of %d long questions and %d of %d short ones asked alone are wrong", one[1].Wrong,
		one[1].Asked, one[0].Wrong, one[0].Asked)
	switch {
	case p < surely && base.Share() > tolerated:
		r.raise(suite.Regression, fmt.Sprintf("%s, in a pattern over length and depth that no smooth decline gives (p %s)",
			counted, pvalue(p)))
	case p < perhaps:
		r.raise(suite.Inconclusive, fmt.Sprintf("%s, in a pattern over length and depth that a smooth decline hardly gives "+
			"(p %s)", counted, pvalue(p)))
	case longer >= perhaps:
	default:
		r.Declines = true
		r.raise(suite.Inconclusive, fmt.Sprintf("recall declines with length; bless a golden of a sound build: %s; a smooth "+
			"decline to %.0f %% at 8192 tokens explains it", counted, 100*(1-fit.Wrong(8192, 0.5))))
	}
	return nil
}

// remains doubts a run with many wrong answers that nothing above speaks about: too little was asked to tell.
func (r *Result) remains(answers []Answer, known bool) error {
	var c Count
	for _, a := range answers {
		if a.judged() {
			c.add(a)
		}
	}
	if r.Code != suite.Pass || c.Asked == 0 {
		return nil
	}
	low, err := stat.LowerBound(c.Wrong, c.Asked, level)
	if err != nil || known || low <= tolerated {
		return err
	}
	r.raise(suite.Inconclusive, fmt.Sprintf("%d of %d answers are wrong, and too few short questions were asked alone to "+
		"tell a weak model from a fault", c.Wrong, c.Asked))
	return nil
}

func pvalue(p float64) string {
	if p < 1e-9 {
		return "< 1e-9"
	}
	return strings.Replace(fmt.Sprintf("= %.2g", p), "e-0", "e-", 1)
}
