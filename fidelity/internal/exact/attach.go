package exact

import (
	"context"
	"fmt"
	"time"

	"github.com/assay-suite/assay/fidelity/internal/session"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/needle"
	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/internal/suite"
)

const (
	gateID = "fidelity/gate/exact"
	claim  = "margins and log-probabilities MUST be those of the exact model within what the number format changes"
)

func init() { suite.Register(suite.Case{ID: gateID, Claim: claim}) }

// Attach makes a job hold an endpoint that serves a nano model to the exact values, after recall and before anything
// is printed. Other endpoints are left alone: nothing more is sent to them. wide are the options of the job's client,
// of which a second one is made for sixteen requests at once; format is ASSAY_FORMAT, empty for none.
func Attach(j *session.Job, wide endpoint.Options, format string) error {
	wide.MaxInFlight = atOnce
	c, err := endpoint.New(wide)
	if err != nil {
		return err
	}
	text, err := needle.Opticks() // whatever the job hides needles in: the values are known in this text
	if err != nil {
		return err
	}
	j.After = func(ctx context.Context, d *session.Done) error {
		if !Hint(d.Flight) || j.Repeats > 1 {
			return nil
		}
		a := &Asker{
			Client: j.Client.WithModel(d.Flight.Model), Wide: c.WithModel(d.Flight.Model), Flight: d.Flight,
			Nonce: fmt.Sprintf("run %x", time.Now().UnixNano()),
		}
		if j.Live != nil {
			bar := report.NewProgress(j.Live, report.ProgressOptions{
				Label: "exact", Total: requests(d.Flight), Style: j.Style, Now: j.Now,
			})
			defer bar.Done()
			a.Saw = func() { bar.AddCost(1, 1) }
		}
		o, err := a.Run(ctx, text, format)
		if err != nil {
			return err
		}
		return o.into(*j, d)
	}
	return nil
}

// into puts the result beside that of recall. The worse of the two verdicts is the run's.
func (o Result) into(j session.Job, d *session.Done) error {
	d.Report.Facts = append(d.Report.Facts, o.Fact())
	if len(o.Rows) > 0 {
		d.Report.Tables = append(d.Report.Tables, o.Table())
	}
	jd := &d.Judgement
	switch {
	case o.Code == suite.Regression && jd.Code != suite.Regression && jd.Code != suite.ToolError:
		jd.Code, jd.Verdict = o.Code, o.Verdict
	case o.Code == suite.Inconclusive && o.Model != "" && jd.Code == suite.Pass:
		jd.Code, jd.Verdict = o.Code, o.Verdict
	default:
		jd.Verdict += "; " + o.Verdict
	}
	if j.Result == nil {
		return nil
	}
	outcome := map[suite.Code]suite.Outcome{
		suite.Pass: suite.Passed, suite.Regression: suite.Failed, suite.Inconclusive: suite.Unmeasured,
	}[o.Code]
	return j.Result(suite.Result{Case: gateID, Outcome: outcome, Optional: true, Message: o.Verdict})
}

// requests is about how many a recognised model is asked.
func requests(f endpoint.Preflight) int {
	model, _ := Named(f.Model)
	if model == "" {
		model = Models()[0]
	}
	r, err := Load(model)
	if err != nil {
		return 0
	}
	return recognising + 2*len(r.Cells) + 2*atOnce
}
