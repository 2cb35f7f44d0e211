package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/assay-suite/assay/fidelity/internal/recall"
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
	Budget        recall.Budget
	Parallel      int
	Deterministic bool // the engine repeats itself to the bit
	// prompt tokens a second, for the time in the plan; 0: measured by the pre-flight
	Rate    float64
	Repeats int // above 1: a blessing, the plan with its reserve so many times
	// where the stored requests can be sent once the run is over; empty: the same server
	CurlRoot  string
	Keep      func(recall.Cell) bool                      // nil: the whole plan
	Golden    func(family string) (*recall.Golden, error) // nil golden: there is none
	Record    string                                      // the command that records one
	Again     string                                      // the command of this run, for the line that continues it
	Past      *Past                                       // run to continue; nil: a new one
	Shard     suite.Shard                                 // Count 0: the whole run
	Restarts  string                                      // run folders: a shard goes on with its own unfinished one
	Nonce     string                                      // of salts and cache prompts; empty: the time
	EveryCurl bool                                        // print the line that asks again for every failing cell
	Dir       string                                      // run folder; empty: nothing is written
	Shown     func(path string) string                    // how the user reads a path; nil: as it is
	Out       io.Writer                                   // terminal
	Live      io.Writer                                   // progress; nil: none
	Style     report.Style
	Agree     func(question string) bool // asked before anything of the plan is sent; nil: go on
	Result    func(suite.Result) error   // ledger; nil: none
	Now       func() time.Time
	// After runs when recall is judged, before anything of it is printed: where probes are asked and their diagnosis is
	// put into d.Report.Facts. Its error ends the run without a judgement. Nil: nothing.
	After func(ctx context.Context, d *Done) error

	taken map[string]recall.Observation // by cell, of a merge; nil: no merge
}

// Done is what a job leaves.
type Done struct {
	Flight       endpoint.Preflight
	Server       recall.Server // fingerprint
	Plan         recall.Plan
	Golden       *recall.Golden // nil: none
	Observations []recall.Observation
	Repeats      [][]recall.Observation // all runs, the first included
	Restored     int                    // answers of the run that was continued
	Added        int                    // cells that the gate wanted besides the plan's
	Judgement    recall.Judgement
	Report       report.Run

	replicas      recall.Replicas
	replicasAsked bool
	pace          recall.Pace
	measured      bool // pace, by questions
}

// ErrDeclined says that the user did not agree to the plan.
var ErrDeclined = errors.New("the plan was declined: nothing of it was sent")

// Run does everything up to the verdict: survey, plan, questions, judging, terminal, files. Its error says
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
	nonce := cmp.Or(j.Nonce, fmt.Sprintf("run %x", began.UnixNano()))
	var d Done
	questions := 0
	if j.Rate == 0 {
		questions = recall.PaceQuestions(j.Parallel)
	}
	bar := beginFlight(j.Live, j.Style, j.Client.Host(), 1, questions)
	defer bar.Done()
	survey, err := j.Client.Watched(func() { bar.Add(1) }).Survey(ctx, nonce)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return d, err
	}
	d.Flight, d.Server = survey.Preflight, recall.ServerOf(survey.Identity)
	flightTook := now().Sub(began)
	if d.Plan, err = recall.NewPlan(j.Budget, d.Flight.Window.N); err != nil {
		return d, err
	}
	if j.Repeats > 1 {
		d.Plan = d.Plan.Whole(j.Budget)
	}
	if j.Keep != nil {
		d.Plan = d.Plan.Only(j.Keep)
	}
	if d.Golden, err = j.golden(d.Flight.Model); err != nil {
		return d, err
	}
	whole := d.Plan
	if j.Shard.Count > 0 {
		d.Plan = j.partOf(d)
	}
	if j.Past, err = j.restarted(d); err != nil {
		return d, err
	}
	if j.Past != nil {
		if err := j.Past.fits(j.settings(d)); err != nil {
			return d, err
		}
	}
	if err := j.measure(ctx, &d, nonce, flightTook, bar); err != nil {
		return d, err
	}
	bar.Done()
	d.Report = j.head(d, began)
	if err := report.WriteHead(j.Out, d.Report, j.Style); err != nil {
		return d, err
	}
	if j.Agree != nil && !j.Agree(j.question(d)) {
		return d, ErrDeclined
	}
	if err := j.ledgerSettings(j.settings(d)); err != nil {
		return d, err
	}
	if err := j.beginShard(d); err != nil {
		return d, err
	}
	if err := j.ask(ctx, &d, whole, nonce); err != nil {
		if ctx.Err() == nil {
			return d, err
		}
		return d, j.interrupted(&d, now().Sub(began))
	}
	if j.Shard.Count > 0 {
		return d, j.endShard(&d, len(fixedPlan(whole, j.Budget, d.Golden).Cells), now().Sub(began))
	}
	if j.After != nil {
		if err := j.After(ctx, &d); err != nil {
			return d, err
		}
	}
	if err := j.write(&d, now().Sub(began)); err != nil {
		return d, err
	}
	return d, j.ledgerGates(d.Judgement)
}

// write prints the run's body and leaves its files.
func (j Job) write(d *Done, took time.Duration) error {
	j.body(d)
	d.Report.Elapsed = took
	if err := report.WriteBody(j.Out, d.Report, j.Style); err != nil || j.Dir == "" {
		return err
	}
	return report.WriteAll(j.Dir, d.Report, report.Redact(j.Secret))
}

// golden looks for a golden of the run's profile.
func (j Job) golden(model string) (*recall.Golden, error) {
	if j.Golden == nil {
		return nil, nil
	}
	for _, family := range recall.GoldenFamilies(model, j.Haystack.Name, j.Budget) {
		if g, err := j.Golden(family); g != nil || err != nil {
			return g, err
		}
	}
	return nil, nil
}

func (j Job) settings(d Done) Settings {
	return Settings{
		Model: d.Flight.Model, Haystack: j.Haystack.Name + " " + j.Haystack.SHA256, Budget: j.Budget,
		Window: d.Flight.Window.N,
		Suite:  recall.Version(), Server: d.Server,
	}
}

func (j Job) question(d Done) string {
	c := d.Plan.Cost()
	return fmt.Sprintf("Send %d requests with %s prompt tokens to %s, model %s, at most %d at once?",
		c.Requests*max(1, j.Repeats), thousands(c.Tokens*max(1, j.Repeats)), j.Client.Host(), d.Flight.Model,
		max(1, j.Parallel))
}
