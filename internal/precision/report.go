package precision

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/internal/suite"
)

// Ledger is the row of a checkpoint as a line of results.jsonl, the row itself in its detail. A broken contract is a
// fail.
func (r Row) Ledger(checkpoint string) (suite.Result, error) {
	detail, err := json.Marshal(r)
	if err != nil {
		return suite.Result{}, fmt.Errorf("precision: the row of %s on path %s is no JSON: %w", r.Tensor, r.Path, err)
	}
	out := suite.Result{
		Case:    r.Case(checkpoint),
		Outcome: suite.Passed,
		Message: r.Note,
		Numbers: r.Numbers,
		Detail:  detail,
	}
	if r.Broken() {
		out.Outcome, out.Message = suite.Failed, r.Tensor+" on path "+r.Path+": "+r.Verdict
	}
	return out, nil
}

// FromLedger collects the rows of a checkpoint in an earlier run for Options.Done. Other results are passed over; a row
// that appears twice is taken from its last line.
func FromLedger(results []suite.Result, checkpoint string) ([]Row, error) {
	last := map[string]int{}
	var rows []Row
	for _, res := range results {
		if !strings.HasPrefix(res.Case, casePrefix(checkpoint)) || len(res.Detail) == 0 {
			continue
		}
		var r Row
		if err := json.Unmarshal(res.Detail, &r); err != nil {
			return nil, fmt.Errorf("precision: the detail of %q is not a row: %w", res.Case, err)
		}
		id := r.Job + "\x00" + r.Tensor + "\x00" + r.Path
		if i, again := last[id]; again {
			rows[i] = r
			continue
		}
		last[id] = len(rows)
		rows = append(rows, r)
	}
	return rows, nil
}

// columns of the table, by the names in Row.Numbers; selections are shown at the smallest top-k that was asked.
var head = []string{"tensor", "path", "rel L2", "rho", "rho fp32", "effect", "verdict"}

// Table shows the worst n rows, all of them for n 0.
func (r Result) Table(n int) report.Table {
	t := report.Table{Title: "precision, worst first", Head: head, Terminal: n > 0}
	for i, row := range r.Rows {
		if n > 0 && i == n {
			t.Note = fmt.Sprintf("%d more rows in %s", len(r.Rows)-n, report.HTMLFile)
			break
		}
		verdict := "inside"
		switch {
		case row.Broken():
			verdict = "BROKEN"
		case math.IsNaN(number(row, "rho")):
			verdict = ""
		}
		t.Rows = append(t.Rows, []string{
			row.Tensor, row.Path, show(row, "rel-l2"), show(row, "rho"), show(row, "rho-fp32"), row.Effect(), verdict,
		})
	}
	return t
}

func number(r Row, name string) float64 {
	if v, ok := r.Numbers[name]; ok {
		return v
	}
	return math.NaN()
}

func show(r Row, name string) string {
	if v, ok := r.Numbers[name]; ok {
		return fmt.Sprintf("%.2g", v)
	}
	return ""
}

// Effect says in words what the path does downstream.
func (r Row) Effect() string {
	var out []string
	say := func(name, text string) {
		if v, ok := r.Numbers[name]; ok {
			out = append(out, fmt.Sprintf(text, v))
		}
	}
	switch r.Kind {
	case Mix:
		say("max-abs-comb", "comb moves %.2g after Sinkhorn")
		say("max-abs-post", "post %.2g")
		say("max-abs-pre", "pre %.2g")
	case Gate, Bias:
		if v, ok := r.Numbers["flips"]; ok {
			out = append(out, fmt.Sprintf("%.2g %% of tokens change experts", 100*v))
		}
		say("max-abs-weight", "a score moves %.2g")
	case Index, Keys:
		for _, k := range r.sizes() {
			out = append(out, fmt.Sprintf("top-%d: Jaccard %.3f, lost mass %.2g", k, r.Numbers[fmt.Sprintf("jaccard-%d", k)],
				r.Numbers[fmt.Sprintf("lost-mass-%d", k)]))
		}
		if v, ok := r.Numbers["needle-rank"]; ok {
			out = append(out, fmt.Sprintf("needle ranks %.0f for %.0f", v, r.Numbers["needle-rank-exact"]))
		}
	case Compounding:
		say("free-1", "%.2g after the first layer")
		say("free-last", "%.2g after the last")
		say("slope", "slope %.2f")
	case Base:
		say("worst-rel-l2", "worst tensor %.2g")
		say("median-rel-l2", "median %.2g")
		say("tensors", "of %.0f")
	}
	if len(out) == 0 {
		return r.Note
	}
	return strings.Join(out, ", ")
}

// sizes are the top-k that the row has selections of, ascending.
func (r Row) sizes() []int {
	var out []int
	for name := range r.Numbers {
		var k int
		if _, err := fmt.Sscanf(name, "jaccard-%d", &k); err == nil {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out
}

// Report is the result as a page: worst rows on the terminal, every row in the HTML, broken ones as findings.
func (r Result) Report(name string, started time.Time) report.Run {
	run := report.Run{
		Title: "precision of " + name, Started: started, Elapsed: time.Duration(r.Seconds * float64(time.Second)),
		Identity: []report.Fact{{Label: "checkpoint", Text: r.Fingerprint}, {Label: "states", Text: r.States}},
		Facts: []report.Fact{
			{
				Label: "read",
				Text: fmt.Sprintf("%.3g GB in %.1f s, %.3g GB/s with everything that was computed", float64(r.Bytes)/1e9,
					r.Seconds, r.GBps()),
			},
		},
		Tables: []report.Table{r.Table(20), r.Table(0)},
		Verdict: report.Verdict{
			Code: 0,
			Text: fmt.Sprintf("pass: %d rows, every path inside the contract that it declares", len(r.Rows)),
		},
	}
	for _, n := range r.Notes {
		run.Facts = append(run.Facts, report.Fact{Label: "note", Text: n})
	}
	for _, row := range r.Rows {
		c := report.Case{ID: row.Case(name), Claim: claim, Outcome: report.Pass}
		if row.Broken() {
			c.Outcome, c.Message = report.Fail, row.Verdict
			run.Findings = append(run.Findings, report.Finding{
				Case:     row.Case(name),
				Class:    "contract",
				Claim:    claim,
				Got:      row.Verdict,
				Expected: "rho at most 1",
			})
		}
		run.Cases = append(run.Cases, c)
	}
	if n := r.Broken(); n > 0 {
		run.Verdict = report.Verdict{
			Code: 1,
			Text: fmt.Sprintf("fault: %d of %d rows leave the contract that their path declares", n, len(r.Rows)),
		}
	}
	return run
}

// claim is the sentence that a broken row violates.
const claim = "A path MUST stay inside the bound of the contract that it declares."

// Emitter records the rows of a checkpoint in the ledger of the run of this process, for Options.Emit.
func Emitter(checkpoint string) func([]Row) error {
	return func(rows []Row) error {
		var errs []error
		for _, r := range rows {
			res, err := r.Ledger(checkpoint)
			if err == nil {
				err = suite.Record(res)
			}
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	}
}
