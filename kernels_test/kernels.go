package kernels

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/internal/job"
)

// State is what became of a facet.
type State string

// The states, from good to bad.
const (
	Equivalent State = "equivalent" // every case accepted under a contract that its format stands for
	Looser     State = "looser"     // every case accepted, but only under a contract looser than its format
	Partial    State = "partial"    // nothing wrong in what was answered, and a part was not answered or not asked
	Fault      State = "fault"      // a case is rejected under every contract
)

// Result is what Run found.
type Result struct {
	// Code is what the run ends with: 0 every facet equivalent, 1 a fault, 2 usage, 3 partial, looser than its format or
	// nothing offered, 5 the run broke.
	Code       int
	Verdict    string   // one line that says why
	Candidate  string   // as it calls itself
	Facets     []Facet  // everything that was offered, in the order of the suites
	NotOffered []string // operators of the suites that the candidate does not offer: nothing is said of them
	Unknown    []string // operators that the candidate offers and no suite has: nothing is said of them
	Stderr     string   // of a Worker, its end
	Elapsed    time.Duration
}

// Facet is what was judged of one thing that a candidate offers.
type Facet struct {
	Name            string // "topk F32 -> I32, decode"
	Operator, Phase string
	State           State
	Contract        string   // the one that the cases were judged under
	Why             string   // how that contract was found
	Cases           int      // judged
	Failed          int      // of those
	Unsupported     int      // answered "unsupported" and not judged
	Rho             float64  // the largest |got - want| / bound; at most 1 for an accepted output
	Varies          bool     // a call that was run again gave other bits
	NotJudged       []string // sentences: what was not judged, and why
	Causes          []string // of a fault, likeliest first: "class (what is neutral where it passes)"
	Failures        []Failure
}

// Failure is a case that was rejected.
type Failure struct {
	Case    string // ID
	Message string // one sentence
	Text    string // what was claimed, what came out, where, the likely cause, and the command that judges it again
	Repro   string // folder with a script that reproduces it without assay; empty without Artifacts
}

// Run judges a candidate by every facet that it offers and never exits the process. The error says that there is no
// judgement: what was asked for makes no sense (code 2), the candidate cannot be judged or a file cannot be written
// (code 5). Result has code and verdict in any case. When ctx ends, what was judged until then is in the result, code 3
// or, with a fault among it, 1. ASSAY_BUDGET=full adds production sizes.
func Run(ctx context.Context, under bench.Candidate, opts ...Option) (Result, error) {
	var s settings
	for _, set := range opts {
		set(&s)
	}
	out, stderr, err := s.run(ctx, under)
	r := Result{
		Candidate: out.Hello.Name, NotOffered: out.Absent, Unknown: out.Unknown, Stderr: stderr, Elapsed: out.Elapsed,
	}
	for i, line := range job.Lines(out.Judged) {
		r.Facets = append(r.Facets, published(out.Judged[i], line))
	}
	if err != nil {
		code := suite.ToolError
		if _, usage := errors.AsType[job.UsageError](err); usage {
			code = suite.UsageError
		}
		r.Code, r.Verdict = int(code), code.String()+": "+err.Error()
		return r, err
	}
	v := s.verdict(out)
	r.Code, r.Verdict = v.Code, v.Text
	return r, nil
}

func (s *settings) run(ctx context.Context, under bench.Candidate) (out job.Outcome, stderr string, err error) {
	if under == nil {
		return out, "", job.UsageError{Err: errNoCandidate}
	}
	if err := s.narrowed(); err != nil {
		return out, "", job.UsageError{Err: err}
	}
	if w, ok := under.(*worker); ok {
		defer func() {
			said, closing := w.end()
			stderr, err = said, errors.Join(err, closing)
		}()
	}
	if out, err = job.Whole(ctx, under, s.job); err != nil || s.artifacts == "" {
		return out, "", err
	}
	page := out.Report()
	page.Verdict, page.Report = s.verdict(out), filepath.Join(s.artifacts, report.HTMLFile)
	return out, "", report.WriteAll(s.artifacts, page, nil)
}

// verdict is the run's, and partial where an operator that was asked for is not offered.
func (s *settings) verdict(out job.Outcome) report.Verdict {
	v := out.Verdict()
	if v.Code != int(suite.Pass) {
		return v
	}
	lacks := slices.DeleteFunc(slices.Clone(s.operators), func(op string) bool { return !slices.Contains(out.Absent, op) })
	if len(lacks) > 0 {
		return report.Verdict{
			Code: int(suite.Inconclusive),
			Text: fmt.Sprintf("partial: asked for and not offered: %s; %s", strings.Join(lacks, ", "), v.Text),
		}
	}
	return v
}

func published(j job.Judged, line job.Line) Facet {
	f := Facet{
		Name: line.Facet, Operator: line.Op, Phase: line.Phase, State: State(j.State), Contract: j.Contract, Why: j.Why,
		Cases: line.Cases - line.Skipped, Failed: line.Failed, Unsupported: line.Skipped, Rho: line.Rho,
		Varies: j.Nondeterministic(), NotJudged: j.NotSent,
	}
	for _, c := range j.Causes {
		f.Causes = append(f.Causes, fmt.Sprintf("%s (%s)", c.Class, c.Name))
	}
	for _, row := range j.Rows {
		if row.Outcome == suite.Failed {
			f.Failures = append(f.Failures, Failure{row.Case.ID, row.Message, row.Text, row.Repro})
		}
	}
	return f
}
