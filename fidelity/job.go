package fidelity

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/needle"
	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/internal/suite"
)

// Job is one run as a user watches it.
type Job struct {
	Title, Hint   string
	Client        *endpoint.Client
	Secret        string // API key, to keep it out of every file
	Haystack      *needle.Haystack
	Budget        Budget
	Parallel      int
	Deterministic bool                                 // the engine repeats itself to the bit
	Rate          float64                              // prompt tokens a second, for the time in the plan; 0: measured by the pre-flight
	Repeats       int                                  // of the whole plan, for a golden's noise; 0 means 1
	CurlRoot      string                               // where the stored requests can be sent once the run is over; empty: the same server
	Keep          func(Cell) bool                      // nil: the whole plan
	Golden        func(family string) (*Golden, error) // nil golden: there is none
	Record        string                               // the command that records one
	Dir           string                               // run folder; empty: nothing is written
	Shown         func(path string) string             // how the user reads a path; nil: as it is
	Out           io.Writer                            // terminal
	Live          io.Writer                            // progress; nil: none
	Style         report.Style
	Agree         func(question string) bool // asked before anything of the plan is sent; nil: go on
	Result        func(suite.Result) error   // ledger; nil: none
	Now           func() time.Time
}

// Done is what a job leaves.
type Done struct {
	Flight       endpoint.Preflight
	Plan         Plan
	Observations []Observation
	Repeats      [][]Observation // all runs, the first included
	Judgement    Judgement
	Report       report.Run
}

// ErrDeclined says that the user did not agree to the plan.
var ErrDeclined = errors.New("the plan was declined: nothing of it was sent")

// Run does everything up to the verdict: pre-flight, plan, questions, judging, terminal, files. Its error says
// that there is no judgement; an unreachable endpoint is an *endpoint.UnreachableError.
func (j Job) Run(ctx context.Context) (Done, error) {
	now := j.Now
	if now == nil {
		now = time.Now
	}
	if j.Shown == nil {
		j.Shown = func(p string) string { return p }
	}
	began := now()
	nonce := fmt.Sprintf("run %x", began.UnixNano())
	var d Done
	var err error
	if d.Flight, err = j.Client.Preflight(ctx, nonce); err != nil {
		return d, err
	}
	flightTook := now().Sub(began)
	if d.Plan, err = NewPlan(j.Budget, d.Flight.Window.N); err != nil {
		return d, err
	}
	if j.Keep != nil {
		d.Plan = d.Plan.Only(j.Keep)
	}
	d.Report = j.head(d, began, flightTook)
	if err := report.WriteHead(j.Out, d.Report, j.Style); err != nil {
		return d, err
	}
	if j.Agree != nil && !j.Agree(j.question(d)) {
		return d, ErrDeclined
	}
	golden, err := j.golden(d.Flight.Model)
	if err != nil {
		return d, err
	}
	if err := j.ask(ctx, &d, nonce); err != nil {
		return d, err
	}
	d.Judgement, err = Judge(d.Plan, d.Observations, golden, j.Deterministic, d.Flight.State("cached-tokens") == endpoint.Supported)
	if err != nil {
		return d, err
	}
	j.body(&d, golden)
	d.Report.Elapsed = now().Sub(began)
	if err := report.WriteBody(j.Out, d.Report, j.Style); err != nil {
		return d, err
	}
	if j.Dir != "" {
		if err := report.WriteAll(j.Dir, d.Report, report.Redact(j.Secret)); err != nil {
			return d, err
		}
	}
	return d, j.ledgerGates(d.Judgement)
}

func (j Job) golden(model string) (*Golden, error) {
	if j.Golden == nil {
		return nil, nil
	}
	return j.Golden(j.family(model))
}

func (j Job) family(model string) string { return GoldenFamily(model, j.Haystack.Name) }

// ask sends the plan, once or several times, with progress; observations reach the ledger as they come.
func (j Job) ask(ctx context.Context, d *Done, nonce string) error {
	repeats := max(1, j.Repeats)
	cost := float64(d.Plan.Cost().Tokens)
	var bar *report.Progress
	if j.Live != nil {
		bar = report.NewProgress(j.Live, report.ProgressOptions{
			Label: "recall", Total: len(d.Plan.Cells) * repeats, Cost: cost * float64(repeats), Style: j.Style, Now: j.Now,
		})
	}
	defer bar.Done()
	for r := range repeats {
		var failed error
		a := &Asker{
			Client: j.Client.WithModel(d.Flight.Model), Flight: d.Flight, Haystack: j.Haystack,
			RunNonce: fmt.Sprintf("%s-%d", nonce, r), Parallel: j.Parallel, CurlRoot: j.CurlRoot,
			Saw: func(o Observation) {
				bar.AddCost(1, float64(o.Cell.Cost.Tokens))
				if r == 0 {
					failed = errors.Join(failed, j.ledger(o))
				}
			},
		}
		if j.Dir != "" && r == 0 {
			a.Store = filepath.Join(j.Dir, "requests")
			a.Shown = j.Shown(a.Store)
		}
		if err := a.Prepare(ctx); err != nil {
			return err
		}
		obs, err := a.Run(ctx, d.Plan)
		if err = errors.Join(err, failed); err != nil {
			return err
		}
		if r == 0 {
			d.Observations = obs
		}
		d.Repeats = append(d.Repeats, obs)
	}
	return nil
}

func (j Job) question(d Done) string {
	c := d.Plan.Cost()
	return fmt.Sprintf("Send %d requests with %s prompt tokens to %s, model %s, at most %d at once?",
		c.Requests*max(1, j.Repeats), thousands(c.Tokens*max(1, j.Repeats)), j.Client.Host(), d.Flight.Model, max(1, j.Parallel))
}

// ledger records one cell as it comes. A cell is an observation: a miss by itself is no failure of the
// run, the gates decide that, so that its outcome is a pass with its class in the message.
func (j Job) ledger(o Observation) error {
	if j.Result == nil {
		return nil
	}
	hit := 0.0
	if o.Hit {
		hit = 1
	}
	r := suite.Result{Case: o.Cell.ID, Outcome: suite.Passed, Seconds: o.Seconds, Message: o.Class, Numbers: suite.Numbers{"hit": hit}}
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
		r.Outcome = suite.Unmeasured
	}
	if o.Err != nil {
		r.Message += ": " + j.Client.Redact(o.Err.Error())
	}
	return j.Result(r)
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

type gate struct {
	id, claim string
	outcome   suite.Outcome
	text      string
}

// gates lists the verdicts of a run as cases. The golden decides where there is one; the controls are then
// information and do not fail the run.
func (jd Judgement) gates() []gate {
	outcome := func(s Standing) suite.Outcome {
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
	out := []gate{{"fidelity/gate/cache", "an answer from the cache MUST be the answer computed cold", outcome(jd.Cache.Standing), jd.Cache.Text}}
	decided := jd.Golden != nil && jd.Golden.Overall != Absent
	if jd.Golden != nil {
		out = append(out, gate{"fidelity/gate/golden", "recall and margins MUST be those of the golden", outcome(jd.Golden.Overall), jd.Golden.String()})
	}
	controls := gate{"fidelity/gate/controls", "recall MUST NOT depend on length or distance", outcome(jd.Controls.Standing), jd.Controls.Text}
	if decided {
		controls.outcome = suite.Skip
		controls.text = "the golden decides; for information: " + controls.text
	}
	return append(out, controls)
}
