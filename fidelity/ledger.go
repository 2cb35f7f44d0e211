package fidelity

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/assay-suite/assay/internal/needle"
	"github.com/assay-suite/assay/internal/suite"
)

// ledger records one cell as it comes. A cell is an observation: a miss by itself is no failure of the
// run, the gates decide that, so that its outcome is a pass with its class in the message.
func (j Job) ledger(o Observation, repeat int, arm string) error {
	if j.Result == nil {
		return nil
	}
	hit := 0.0
	if o.Hit {
		hit = 1
	}
	r := suite.Result{
		Case:    o.Cell.ID,
		Outcome: suite.Passed,
		Seconds: o.Seconds,
		Message: o.Class,
		Numbers: suite.Numbers{"hit": hit},
	}
	if o.Tokens.Known {
		r.Numbers["prompt-tokens"] = float64(o.Tokens.N)
	}
	if o.Cached.Known {
		r.Numbers["cached-tokens"] = float64(o.Cached.N)
	}
	if m, ok := o.MinMargin(); ok {
		r.Numbers["min-margin-nats"] = m
	}
	switch {
	case o.Class == string(needle.Failed):
		r.Outcome = suite.Errored
	case !o.Measured:
		r.Outcome, r.Optional = suite.Unmeasured, true // the gates count what is missing
	}
	if o.Err != nil {
		r.Message += ": " + j.Client.Redact(o.Err.Error())
	}
	var err error
	if r.Detail, err = detailOf(o, repeat, arm, j.Client.Redact); err != nil {
		return fmt.Errorf("the answer to %q cannot be written: %w", o.Cell.ID, err)
	}
	return j.Result(r)
}

// ledgerSettings is the first line of a run: a run that is continued must have the same.
func (j Job) ledgerSettings(s Settings) error {
	if j.Result == nil {
		return nil
	}
	raw, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("the settings of the run cannot be written: %w", err)
	}
	return j.Result(suite.Result{Case: runID, Outcome: suite.Passed, Optional: true, Detail: raw})
}

// ledgerGates records what the gates made of the cells.
func (j Job) ledgerGates(jd Judgement) error {
	if j.Result == nil {
		return nil
	}
	var errs []error
	for _, g := range jd.gates() {
		errs = append(errs, j.Result(suite.Result{Case: g.id, Outcome: g.outcome, Optional: true, Message: g.text}))
	}
	return errors.Join(errs...)
}

type verdict struct {
	id, claim string
	outcome   suite.Outcome
	text      string
}

// gates lists the verdicts of a run as cases. The golden decides where there is one; the controls are then
// information and do not fail the run.
func (jd Judgement) gates() []verdict {
	out := []verdict{
		{
			"fidelity/gate/cache", "an answer from the cache MUST be the answer computed cold", gateOutcome(jd.Cache.Standing),
			jd.Cache.Text,
		},
	}
	decided := jd.Golden != nil && jd.Golden.Overall != Absent
	if jd.Golden != nil {
		out = append(out, verdict{
			"fidelity/gate/golden", "recall and margins MUST be those of the golden", gateOutcome(jd.Golden.Overall),
			jd.Golden.String() + "; " + jd.Golden.Gate.Sentence,
		})
	}
	controls := verdict{
		"fidelity/gate/controls", "recall MUST NOT depend on length or distance", gateOutcome(jd.Controls.Standing),
		jd.Controls.Text,
	}
	if decided {
		controls.outcome = suite.Skip
		controls.text = "the golden decides; for information: " + controls.text
	}
	return append(out, controls)
}

func gateOutcome(s Standing) suite.Outcome {
	switch s {
	case Held:
		return suite.Passed
	case Regressed:
		return suite.Failed
	case Absent:
		return suite.Skip
	}
	return suite.Unmeasured
}
