package session

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/assay-suite/assay/fidelity/internal/recall"
	"github.com/assay-suite/assay/internal/needle"
	"github.com/assay-suite/assay/internal/suite"
)

// ledger records one cell as it comes. A cell is an observation: a lost needle is a fail of its own, and whether the
// run fails is the gates' to say.
func (j Job) ledger(o recall.Observation, repeat int, arm string) error {
	if j.Result == nil {
		return nil
	}
	hit := 0.0
	if o.Hit {
		hit = 1
	}
	r := suite.Result{
		Case: o.Cell.ID, Outcome: suite.Passed, Observation: true, Seconds: o.Seconds, Message: o.Class,
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
	case !o.Hit:
		r.Outcome, r.Message = suite.Failed, o.Class+": "+j.Client.Redact(wanted(o))
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
func (j Job) ledgerGates(jd recall.Judgement) error {
	if j.Result == nil {
		return nil
	}
	var errs []error
	for _, g := range jd.Gates() {
		errs = append(errs, j.Result(suite.Result{Case: g.ID, Outcome: g.Outcome, Optional: true, Message: g.Text}))
	}
	return errors.Join(errs...)
}
