package recall

import (
	"fmt"
	"strings"

	"github.com/assay-suite/assay/fidelity/internal/totals"
	"github.com/assay-suite/assay/internal/stat"
	"github.com/assay-suite/assay/internal/suite"
)

// Judgement is what a run amounts to.
type Judgement struct {
	Hits, Of int // recall grid
	Interval stat.Interval
	Window   WindowVerdict
	Cache    CacheResult
	Golden   *Comparison // nil without a golden
	Controls Controls
	Totals   totals.Result
	Replicas Replicas
	Shape    Shape    // of the lost needles; without a text there is none
	Logprobs string   // why margins were not measured although the server gives log-probabilities; empty: they were
	Gaps     string   // how many questions were not measured, and why; empty: all were
	Canned   string   // what is wrong when nearly all questions get one and the same answer; empty: they do not
	Errors   []string // cells whose request failed
	Code     suite.Code
	Verdict  string // text of the verdict line
}

// Context is what judging knows beside the answers.
type Context struct {
	Budget        Budget
	Golden        *Golden // nil: none
	Deterministic bool    // the engine repeats itself to the bit, so that its noise is known without a golden
	Reported      bool    // it was seen to report cache hits
	NoLogprobs    bool    // it was seen to give no log-probabilities
	Replicas      Replicas
}

// Judge runs all gates over a run.
//
// A golden decides where there is one; the internal controls decide where there is none, and are printed
// either way. A cache that changes answers is a fault whatever the golden says.
func Judge(p Plan, obs []Observation, x Context) (Judgement, error) {
	j := Judgement{Replicas: x.Replicas}
	var err error
	obs, j.Logprobs = checked(obs)
	j.Hits, j.Of = Count(obs, func(o Observation) bool { return o.Cell.Family == Recall })
	if j.Of > 0 {
		if j.Interval, err = stat.Wilson(j.Hits, j.Of, 0.95); err != nil {
			return j, err
		}
	}
	for _, o := range obs {
		if o.Class == "error" {
			j.Errors = append(j.Errors, o.Cell.ID)
		}
	}
	if hits, n := coldHits(obs); n > 0 && 2*hits > n {
		x.Reported = false // what counts cold prompts as cached proves no hit
	}
	var noise *Noise
	switch {
	case x.Golden != nil && (x.Golden.Noise.Repeats > 1 || x.Deterministic):
		noise = &x.Golden.Noise
	case x.Deterministic:
		noise = &Noise{Source: "deterministic engine"}
	}
	j.Window = JudgeWindow(obs)
	j.Shape, _ = ShapeOf(obs, x.Golden)
	j.Gaps = gaps(obs)
	if text, n, of := constant(obs); n > 0 {
		j.Canned = fmt.Sprintf("%d of %d questions, each about another code, get the same answer %q: a mock server, a "+
			"canned answer, dead logits, or a model that never sees the prompt", n, of, Clip(text, 60))
	}
	if j.Cache, err = JudgeCache(obs, noise, x.Reported); err != nil {
		return j, err
	}
	if j.Controls, err = Control(obs, p.Lengths); err != nil {
		return j, err
	}
	if x.Golden != nil {
		c, err := Decide(p, obs, x)
		if err != nil {
			return j, err
		}
		j.Golden = &c
	}
	if j.Totals, err = totals.Judge(Answers(obs, x.Golden), x.Golden != nil); err != nil {
		return j, err
	}
	j.Code, j.Verdict = j.conclude()
	if j.Code == suite.Inconclusive && j.Gaps != "" {
		j.Verdict += "; " + j.Gaps
	}
	return j, nil
}

// Clip is the beginning of a text, n characters of it at most.
func Clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "..."
	}
	return s
}

func (j *Judgement) conclude() (suite.Code, string) {
	if len(j.Errors) > 0 {
		return suite.ToolError, fmt.Sprintf("engine error: %d requests failed, first %s", len(j.Errors), j.Errors[0])
	}
	if j.Canned != "" {
		return suite.Regression, "fault  " + j.Canned
	}
	if g := j.Golden; g != nil && g.Overall == Regressed {
		return suite.Regression, "REGRESSED  " + j.regression()
	}
	if j.Replicas.Standing == Regressed { // what the same question shows, no place in a context or cache can explain
		return suite.Regression, "fault  " + j.Replicas.Text
	}
	if j.Cache.Standing == Regressed {
		return suite.Regression, "fault  " + j.Cache.Text
	}
	judged := j.Golden != nil && j.Golden.Overall != Absent
	switch {
	case !judged && j.Controls.Standing == Regressed && !j.onlyDeclines():
		return suite.Regression, "fault  " + j.Controls.Text
	case j.Totals.Code == suite.Regression:
		return suite.Regression, j.Totals.Text
	}
	if g := j.Golden; judged {
		if g.Overall != Held || j.Cache.Standing == Inconclusive {
			return suite.Inconclusive, "inconclusive  " + j.inconclusive()
		}
		if j.Totals.Code != suite.Pass {
			return j.Totals.Code, "inconclusive  " + j.Totals.Text
		}
		if j.Logprobs != "" {
			return suite.Inconclusive, "inconclusive  " + j.Logprobs
		}
		if g.NoLogprobs {
			return suite.Pass, "no fault found by recall alone: the server gives no log-probabilities, so that a fault which " +
				"only moves margins is not seen"
		}
		return suite.Pass, "no fault found"
	}
	switch {
	case j.Totals.Code != suite.Pass && j.Totals.All.Asked > 0:
		return j.Totals.Code, "inconclusive  " + j.Totals.Text
	case j.Controls.Standing != Held:
		return suite.Inconclusive, "inconclusive  " + j.Controls.Text
	case j.Cache.Standing == Inconclusive:
		return suite.Inconclusive, "inconclusive  " + j.Cache.Text
	case j.Logprobs != "":
		return suite.Inconclusive, "inconclusive  " + j.Logprobs
	}
	return suite.Pass, "no fault found, no golden"
}

// onlyDeclines says that recall is lost with length or distance and that a smooth decline explains it: neither a fault
// nor a pass.
func (j *Judgement) onlyDeclines() bool {
	return j.Totals.Declines && j.Totals.Code == suite.Inconclusive && j.Controls.Where != "everywhere"
}

// regression puts lost recall first, as that is what a user feels.
func (j *Judgement) regression() string {
	g := j.Golden
	var parts []string
	for _, f := range g.Gate.Families {
		if f.Standing == Regressed {
			parts = append(parts, f.Sentence)
		}
	}
	if len(parts) == 0 && len(g.Lost) > 0 {
		parts = append(parts, fmt.Sprintf("recall: %d of %d lost", len(g.Lost)-len(g.Won), g.Hits))
	}
	if g.Exact && g.Margins == Regressed {
		parts = append(parts, fmt.Sprintf("margins moved in %d of %d cells, median %s nat (allowed %s)", len(g.Moved),
			len(g.Shifts), Nats(g.Median.Size()), Nats(g.Threshold)))
	}
	if len(g.Lost) == 0 {
		parts = append(parts, "no needle lost")
	}
	if j.Replicas.Standing == Regressed {
		parts = append(parts, j.Replicas.Text)
	}
	return strings.Join(parts, "; ")
}

func (j *Judgement) inconclusive() string {
	g := j.Golden
	if j.Cache.Standing == Inconclusive {
		return j.Cache.Text
	}
	exact := g.Exact && g.Margins == Inconclusive
	switch {
	case len(g.Missing)+len(g.Unpaired) > 0 && !exact:
		return fmt.Sprintf("%d cells unmeasured and %d without a golden of the same prompt", len(g.Missing), len(g.Unpaired))
	case exact:
		return fmt.Sprintf("margins moved in %d of %d cells only (largest %s nat at %s): a tie that fell the other way, or "+
			"a fault of few rows", len(g.Moved), len(g.Shifts), Nats(g.Moved[0].Size()), g.Moved[0].ID)
	}
	for _, f := range g.Gate.Families {
		if f.Standing == g.Overall {
			return f.Sentence
		}
	}
	return g.Gate.Sentence
}
