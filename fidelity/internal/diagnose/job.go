// Package diagnose is the job that says which part of an engine lost a text: survey, plan, probes, diagnosis, suspects,
// report.
//
// Claimed: what is printed follows from the evidence (fidelity/evidence) by the decision table (fidelity/diagnosis) and
// from the ledgers of the pillars (fidelity/suspects). Not claimed: a component; a class says what is seen from
// outside.
package diagnose

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/assay-suite/assay/fidelity/diagnosis"
	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/fidelity/internal/probe"
	"github.com/assay-suite/assay/fidelity/internal/totals"
	"github.com/assay-suite/assay/fidelity/suspects"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/needle"
	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/internal/suite"
)

// Job is one run as a user watches it.
type Job struct {
	Title    string
	Client   *endpoint.Client
	Fresh    func() (*endpoint.Client, error) // clients with a connection of their own
	Secret   string
	Haystack *needle.Haystack
	Budget   probe.Budget
	Parallel int
	Disrupt  bool
	Known    probe.Known
	Only     []string
	Nonce    string // empty: of the time
	Dir      string // run folder; empty: nothing is written
	Resume   string // folder of the run to go on with; empty: a new one
	Again    string // the command of this run, for the line that continues it

	Patches []suspects.Patch // nil: none are suspected
	Ledgers string           // folder of run folders, for suspects

	Shown  func(path string) string
	Out    io.Writer
	Live   io.Writer // progress; nil: none
	Style  report.Style
	Agree  func(question string) bool
	Result func(suite.Result) error
	Now    func() time.Time
}

// Done is what a job leaves.
type Done struct {
	Survey    endpoint.Survey
	Evidence  evidence.Set
	Diagnosis diagnosis.Report
	Totals    totals.Result
	Logprobs  string // what is wrong with the log-probabilities; empty: nothing, or there are none
	Suspects  []suspects.Status
	Report    report.Run
	stopped   string // why nothing is concluded; empty: the run came to its end
}

// ErrInterrupted says that a run was ended from outside before its last question: its Done and its files hold what was
// measured until then.
var ErrInterrupted = errors.New("the run was interrupted")

// ErrDeclined says that the user did not agree to the plan.
var ErrDeclined = errors.New("the plan was declined: nothing of it was sent")

// answersFile is the probes' ledger in a run folder.
const answersFile = "answers.jsonl"

// Run does everything up to the verdict. Its error says that there is none; an unreachable endpoint is an
// *endpoint.UnreachableError.
func (j Job) Run(ctx context.Context) (Done, error) {
	if j.Now == nil {
		j.Now = time.Now
	}
	if j.Shown == nil {
		j.Shown = func(p string) string { return p }
	}
	began := j.Now()
	if j.Nonce == "" {
		j.Nonce = fmt.Sprintf("run %x", began.UnixNano())
	}
	var d Done
	var err error
	if d.Survey, err = j.Client.Survey(ctx, j.Nonce); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return d, err
	}
	client := j.Client.WithModel(d.Survey.Model)
	var w watch
	runner, err := j.runner(client, d.Survey, w.see)
	if err != nil {
		return d, err
	}
	d.Report = j.head(d.Survey, runner.Plan(), began)
	if err := report.WriteHead(j.Out, d.Report, j.Style); err != nil {
		return d, err
	}
	if cost := runner.Plan().Cost(); j.Agree != nil &&
		!j.Agree(fmt.Sprintf("send up to %d requests with %d tokens to %s?", cost.Requests, cost.Tokens, j.Client.Host())) {
		return d, ErrDeclined
	}
	if j.Live != nil {
		w.bar = report.NewProgress(j.Live, report.ProgressOptions{
			Label: "probes",
			Total: runner.Plan().Cost().Requests,
			Style: j.Style,
			Now:   j.Now,
		})
	}
	d.Evidence, err = runner.Run(ctx)
	w.bar.Done()
	if err != nil && ctx.Err() == nil {
		return d, err
	}
	stopped := err != nil
	d.Diagnosis = diagnosis.Diagnose(d.Evidence)
	if d.Totals, err = totals.Judge(runner.Answers(), false); err != nil {
		return d, err
	}
	d.Logprobs = runner.Logprobs()
	if stopped {
		j.stop(&d, w.last)
	}
	if err := j.ledger(d); err != nil {
		return d, err
	}
	if d.Suspects, err = j.suspected(d); err != nil {
		return d, err
	}
	j.body(&d)
	d.Report.Elapsed = j.Now().Sub(began)
	if err := report.WriteBody(j.Out, d.Report, j.Style); err != nil {
		return d, err
	}
	if j.Dir != "" {
		if err := report.WriteAll(j.Dir, d.Report, report.Redact(j.Secret)); err != nil {
			return d, err
		}
	}
	if stopped {
		return d, ErrInterrupted
	}
	return d, nil
}

// stop makes a run that was ended from outside inconclusive, whatever its answers say so far, with the line that goes
// on with it.
func (j Job) stop(d *Done, requests int) {
	d.stopped = fmt.Sprintf("interrupted after %d requests", requests)
	folder := cmp.Or(j.Resume, j.Dir)
	if folder == "" || j.Again == "" {
		return
	}
	line := "ASSAY_RESUME=" + j.Shown(folder) + " " + j.Again
	d.stopped += "; go on with " + line
	d.Report.Facts = append(d.Report.Facts, report.Fact{Label: "go on", Text: line, Verbatim: true})
}

func (j Job) runner(client *endpoint.Client, s endpoint.Survey, see func(probe.Progress)) (*probe.Runner, error) {
	o := probe.Options{
		Client: client, Survey: s, Fresh: j.Fresh, Haystack: j.Haystack, Budget: j.Budget, Nonce: j.Nonce,
		Parallel: max(j.Parallel, 1),
		Disrupt:  j.Disrupt, Known: j.Known, Only: j.Only, Progress: see,
	}
	switch {
	case j.Resume != "":
		o.Ledger = filepath.Join(j.Resume, answersFile)
	case j.Dir != "":
		o.Ledger = filepath.Join(j.Dir, answersFile)
	}
	if j.Dir != "" {
		folder := filepath.Join(j.Dir, "requests")
		o.Keep = func(name string, x endpoint.Exchange) error {
			_, err := x.Save(folder, name)
			return err
		}
	}
	return probe.New(o)
}

// watch moves a progress bar by what a runner has sent; without a bar it does nothing.
type watch struct {
	bar  *report.Progress
	last int
}

func (w *watch) see(p probe.Progress) {
	w.bar.Add(max(p.Requests-w.last, 0))
	w.last = max(w.last, p.Requests)
}

// suspected joins the patches with the ledgers and with this run's findings, which are newer than any ledger.
func (j Job) suspected(d Done) ([]suspects.Status, error) {
	if len(j.Patches) == 0 {
		return nil, nil
	}
	e, err := suspects.Gather(j.Ledgers)
	if err != nil {
		return nil, err
	}
	e.Classes, e.Clean = nil, d.clean()
	for _, f := range d.Diagnosis.Findings {
		if !f.Note {
			e.Classes = append(e.Classes, suspects.Class{Class: f.Class, Confidence: string(f.Confidence.Grade)})
		}
	}
	return suspects.Join(j.Patches, e), nil
}

// ledger keeps the diagnosis where suspects finds it again.
func (j Job) ledger(d Done) error {
	if j.Result == nil {
		return nil
	}
	type class struct {
		Class      string `json:"class"`
		Confidence string `json:"confidence"`
	}
	detail := struct {
		Diagnosis []class `json:"diagnosis"`
		Clean     bool    `json:"clean"`
	}{Clean: d.clean()}
	for _, f := range d.Diagnosis.Findings {
		if !f.Note {
			detail.Diagnosis = append(detail.Diagnosis, class{f.Class, string(f.Confidence.Grade)})
		}
	}
	raw, err := json.Marshal(detail)
	if err != nil {
		return fmt.Errorf("the diagnosis cannot be recorded: %w", err)
	}
	res := suite.Result{Case: "fidelity/diagnosis", Outcome: suite.Passed, Detail: raw}
	switch code, text := d.Code(); code {
	case suite.Regression:
		res.Outcome, res.Message = suite.Failed, text
	case suite.Inconclusive:
		res.Outcome, res.Message = suite.Unmeasured, text
	default:
	}
	return j.Result(res)
}
