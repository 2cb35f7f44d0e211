package fidelity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/assay-suite/assay/fidelity/internal/exact"
	"github.com/assay-suite/assay/fidelity/internal/recall"
	"github.com/assay-suite/assay/fidelity/internal/session"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/needle"
	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/internal/suite"
)

// Config is what Test and Run ask, and where they look and write. BaseURL alone is enough.
type Config struct {
	BaseURL string // of an OpenAI-compatible server, with or without /v1
	APIKey  string // kept out of every file and message
	Model   string // empty: the first that the server lists
	// Format is the number format of a nano model that is served: fp32, bf16, mixed, fp8, mxfp4 or nvfp4. Its answers are
	// then compared with exact ones under that format; empty: it is fitted. Other models are not compared.
	Format string
	Budget string // smoke (some 60 requests), standard or full; empty: standard
	// Goldens is a folder of golden files, as goldens/ of assay's repository is. Where it has none of this model and
	// haystack the run is inconclusive, code 3. Empty: internal controls decide.
	Goldens string
	// Haystack is what needles are hidden in: opticks (where empty), tom-sawyer, generated, agent, or a text file's path.
	Haystack  string
	Artifacts string    // folder for report.html, junit.xml and all requests and answers; empty: nothing is written
	Log       io.Writer // what a run on a terminal shows; nil: nothing
}

// Result is what Run found.
type Result struct {
	// Code is what the run ends with: 0 no fault found, 1 regressed or a fault, 2 usage, 3 inconclusive or not measured,
	// 4 the endpoint is not reachable, 5 the engine failed requests or the run broke.
	Code    int
	Verdict string // one line that says why
	Model   string // as the server calls it
	Server  string // kind and version, as far as it tells
	Found   int    // needles of the recall grid
	Asked   int    // of how many that were measured
	// Low and High are the 95 % Wilson interval of Found/Asked, 0 and 0 where nothing was measured.
	Low, High  float64
	Cells      int      // questions that were planned or added by the gate
	Measured   int      // of those with an answer that counts
	Unmeasured []string // IDs of the others
	Failed     []string // IDs of those whose request failed
	LeftOut    []string // sentences: what the context window does not allow
	Golden     string   // the golden that decided; empty: there was none, internal controls decided
	Lost       []string // IDs of what the golden's run found and this one did not
	Gates      []Gate   // every decision
	Elapsed    time.Duration
}

// Gate is one decision of a run.
type Gate struct {
	ID, Claim string
	Outcome   Outcome
	Text      string // counts, p-values and intervals
}

// Outcome is how a gate ended.
type Outcome string

// The outcomes.
const (
	Passed     Outcome = "pass"
	Failed     Outcome = "fail"
	Skipped    Outcome = "skip" // another gate decides, and this one informs
	Unmeasured Outcome = "unmeasured"
)

// gentle is how many requests are in flight at once.
const gentle = 4

// Run asks the endpoint and judges its answers; it never exits the process. The error says that there is no judgement:
// usage (code 2), an endpoint that is not reachable (4), a run that broke (5). Result has code and verdict in any case.
// When ctx ends the run is inconclusive, code 3, and what was measured is in the result.
func Run(ctx context.Context, c Config) (Result, error) {
	j, err := c.job()
	if err != nil {
		return end(Result{}, suite.UsageError, "usage: ", err)
	}
	began := time.Now()
	d, err := j.Run(ctx)
	r := published(d)
	r.Elapsed = time.Since(began)
	switch {
	case err == nil:
		r.Code, r.Verdict = int(d.Judgement.Code), d.Judgement.Verdict
	case errors.Is(err, session.ErrInterrupted):
		r.Code, r.Verdict = int(suite.Inconclusive), d.Judgement.Verdict
		return r, nil
	case ctx.Err() != nil:
		r.Code, r.Verdict = int(suite.Inconclusive), "inconclusive  stopped before the first question"
		return r, nil //nolint:nilerr // the caller ended it
	case endpoint.IsUnreachable(err):
		return end(r, suite.NotReachable, "unreachable: ", err)
	case endpoint.IsUsage(err):
		return end(r, suite.UsageError, "usage: ", err)
	default:
		return end(r, suite.ToolError, "tool or engine error: ", err)
	}
	if c.Goldens != "" && r.Golden == "" && d.Judgement.Code == suite.Pass {
		r.Code = int(suite.Inconclusive)
		r.Verdict = fmt.Sprintf("inconclusive  %s has no golden %s.json: record one (package comment), or leave Goldens "+
			"empty to judge by internal controls",
			c.Goldens, recall.GoldenFamily(r.Model, j.Haystack.Name, j.Budget))
	}
	return r, nil
}

func end(r Result, code suite.Code, kind string, err error) (Result, error) {
	r.Code, r.Verdict = int(code), kind+err.Error()
	return r, err
}

// job checks the configuration and makes the run of it.
func (c Config) job() (session.Job, error) {
	budgets := []recall.Budget{recall.Smoke, recall.Standard, recall.Full}
	budget := cmp.Or(recall.Budget(c.Budget), recall.Standard)
	if !slices.Contains(budgets, budget) {
		return session.Job{}, fmt.Errorf("the budget %q is unknown: use %q", c.Budget, budgets)
	}
	if c.Format != "" && !slices.Contains(exact.Formats(), c.Format) {
		return session.Job{}, fmt.Errorf("the format %q is unknown: use one of %q", c.Format, exact.Formats())
	}
	if c.BaseURL == "" {
		return session.Job{}, errors.New("Config.BaseURL is empty: set it to the server's address, http://host:port/v1")
	}
	options := endpoint.Options{BaseURL: c.BaseURL, APIKey: c.APIKey, Model: c.Model, MaxInFlight: gentle}
	client, err := endpoint.New(options)
	if err != nil {
		return session.Job{}, err
	}
	const units = 200_000 // words and marks of a generated text: several of the longest prompts
	hay, err := needle.Open(cmp.Or(c.Haystack, "opticks"), 0, units)
	if err != nil {
		return session.Job{}, err
	}
	out, style := c.Log, report.Style{}
	switch f := out.(type) {
	case nil:
		out = io.Discard
	case *os.File:
		style = report.StyleFor(f)
	}
	j := session.Job{
		Title: "live  " + client.Host(), Client: client, Secret: c.APIKey, Haystack: hay, Budget: budget, Parallel: gentle,
		Dir: c.Artifacts, Out: out, Style: style, EveryCurl: c.Artifacts != "",
	}
	if c.Goldens != "" {
		if info, err := os.Stat(c.Goldens); err != nil || !info.IsDir() {
			return j, fmt.Errorf("Config.Goldens=%q is not a folder: make it, or leave it empty to judge by internal controls",
				c.Goldens)
		}
		j.Golden = func(family string) (*recall.Golden, error) { return readGolden(c.Goldens, family) }
	}
	err = exact.Attach(&j, options, c.Format)
	return j, err
}

func published(d session.Done) Result {
	jd := d.Judgement
	r := Result{
		Model: d.Flight.Model, Found: jd.Hits, Asked: jd.Of, Low: jd.Interval.Lo, High: jd.Interval.Hi,
		Cells: len(d.Plan.Cells) + d.Added, Failed: jd.Errors, LeftOut: d.Plan.LeftOut,
	}
	if r.Server = d.Server.Kind; d.Server.Version != "" {
		r.Server += " " + d.Server.Version
	}
	for _, o := range d.Observations {
		if o.Measured {
			r.Measured++
		} else {
			r.Unmeasured = append(r.Unmeasured, o.Cell.ID)
		}
	}
	if d.Golden != nil {
		r.Golden = d.Golden.Family
	}
	if jd.Golden != nil {
		r.Lost = jd.Golden.Lost
	}
	if jd.Verdict != "" {
		for _, g := range jd.Gates() {
			r.Gates = append(r.Gates, Gate{g.ID, g.Claim, Outcome(g.Outcome), g.Text})
		}
	}
	return r
}
