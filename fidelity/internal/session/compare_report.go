package session

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/assay-suite/assay/fidelity/internal/recall"
	"github.com/assay-suite/assay/fidelity/internal/totals"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/internal/suite"
)

// differences lists what two runs' settings and servers differ in.
func differences(a, b Settings) []string {
	var out []string
	for _, d := range []struct{ what, was, now string }{
		{"model", a.Model, b.Model},
		{"context window", fmt.Sprint(a.Window), fmt.Sprint(b.Window)},
		{"haystack", a.Haystack, b.Haystack},
		{"budget", string(a.Budget), string(b.Budget)},
		{"assay's version", a.Suite, b.Suite},
		{"engine", a.Server.Kind + " " + a.Server.Version, b.Server.Kind + " " + b.Server.Version},
	} {
		if d.was != d.now {
			out = append(out, fmt.Sprintf("%s: %q, then %q", d.what, d.was, d.now))
		}
	}
	return append(out, a.Server.Differences(b.Server)...)
}

func (v Versus) head(out *Compared, p recall.Plan, before, now endpoint.Survey, began time.Time) {
	r := report.Run{
		Title: fmt.Sprintf("compare  before %s · now %s · %s", v.Before.Host(), v.Now.Host(), now.Model), Started: began,
		Identity: []report.Fact{
			{Label: "before", Text: v.Before.Host() + ", model " + before.Model},
			{Label: "now", Text: v.Now.Host() + ", model " + now.Model},
			{Label: "profile", Text: recall.Profile(v.Haystack.Name, v.Budget)},
			{Label: "haystack", Text: v.Haystack.Name + " sha256 " + v.Haystack.SHA256[:16]},
			{Label: "seeds", Text: "PCG by FNV-1a of seed and case ID"},
		},
	}
	for _, f := range before.Features {
		c := capability(f)
		for _, g := range now.Features {
			if g.Name == f.Name && capability(g).Value != c.Value {
				c.Value += " (now " + capability(g).Value + ")"
			}
		}
		r.Capabilities = append(r.Capabilities, c)
	}
	cost, took := p.Cost(), ""
	if s := out.seconds(p.Cells); s > 0 {
		took = "; about " + duration(s)
	}
	r.Plan = []string{
		fmt.Sprintf("%d cells of 3 arms: before, now, and before again; %s prompt tokens%s", len(p.Cells),
			thousands(3*cost.Tokens), took),
		fmt.Sprintf("up to %d more of each if the gate cannot decide on these", len(p.Whole(v.Budget).Cells)-len(p.Cells)),
	}
	out.Report = r
}

func (v Versus) question(p recall.Plan) string {
	c := p.Cost()
	return fmt.Sprintf("Send %d requests with %s prompt tokens to %s and %d with %s to %s?",
		2*c.Requests, thousands(2*c.Tokens), v.Before.Host(), c.Requests, thousands(c.Tokens), v.Now.Host())
}

// total judges how many answers of each server are wrong, whatever the other one does.
func (c *Compared) total() error {
	c.Totals = map[string]totals.Result{}
	for _, arm := range []string{ArmBefore, ArmNow} {
		var obs []recall.Observation
		for _, id := range slices.Sorted(maps.Keys(c.Arms[arm])) {
			obs = append(obs, c.Arms[arm][id])
		}
		r, err := totals.Judge(recall.Answers(obs, nil), true)
		if err != nil {
			return err
		}
		c.Totals[arm] = r
	}
	return nil
}

// conclude turns the gate's answer into code and verdict. A server that no comparison is needed to find at fault is no
// pass because the other one is as bad.
func (c *Compared) conclude() error {
	if err := c.total(); err != nil {
		return err
	}
	failed := map[string]int{}
	for arm, obs := range c.Arms {
		for _, o := range obs {
			if o.Class == "error" {
				failed[arm]++
			}
		}
	}
	var said []string
	for _, f := range c.Gate.Families {
		if f.Standing == c.Gate.Overall {
			said = append(said, f.Sentence)
		}
	}
	switch {
	case c.stopped:
		c.Code = suite.Inconclusive
		c.Verdict = fmt.Sprintf("inconclusive  interrupted after %d cells of the second server; a comparison cannot be "+
			"continued", len(c.Arms[ArmNow]))
	case failed[ArmBefore]+failed[ArmAgain]+failed[ArmNow] > 0:
		c.Code = suite.ToolError
		c.Verdict = fmt.Sprintf("engine error: %d requests failed on the first server and %d on the second",
			failed[ArmBefore]+failed[ArmAgain], failed[ArmNow])
	case c.Gate.Noisy:
		c.Code, c.Verdict = suite.Inconclusive, c.Gate.Sentence
	case c.Gate.Overall == recall.Regressed:
		c.Code, c.Verdict = suite.Regression, "REGRESSED  "+strings.Join(said, "; ")
	case c.Totals[ArmNow].Code != suite.Pass && c.Gate.Overall == recall.Held:
		c.Code, c.Verdict = c.Totals[ArmNow].Code, "no regression found, but on the second server: "+c.Totals[ArmNow].Text
		if c.Totals[ArmBefore].Code == c.Code {
			c.Verdict = "no regression found, but on both servers: " + c.Totals[ArmNow].Text
		}
	case c.Logprobs != "" && c.Gate.Overall == recall.Held:
		c.Code, c.Verdict = suite.Inconclusive, "inconclusive  "+c.Logprobs
	case c.Gate.Overall == recall.Held:
		c.Code, c.Verdict = suite.Pass, "no regression found  "+c.Gate.Sentence
	case c.Gate.Overall == recall.Absent:
		c.Code, c.Verdict = suite.Inconclusive, "inconclusive  "+c.Gate.Sentence
	default:
		c.Code, c.Verdict = suite.Inconclusive, "inconclusive  "+strings.Join(said, "; ")
	}
	return nil
}

// facts are the lines below the head, in reading order.
func (c *Compared) facts() []report.Fact {
	var lines []string
	for _, f := range c.Gate.Families {
		if f.Standing != recall.Absent {
			lines = append(lines, f.Sentence)
		}
	}
	server := "both fingerprints are the same"
	if len(c.Differences) > 0 {
		server = serverText("before, and now", c.Differences)
	}
	out := []report.Fact{
		{Label: "answers", Text: c.Totals[ArmNow].Lines()},
		{Label: "before", Text: c.Totals[ArmBefore].Lines()},
		{Label: "gate", Text: strings.Join(lines, "\n")},
	}
	if len(c.Arms[ArmAgain]) > 0 {
		out = append(out, report.Fact{Label: "a/a", Text: "the first server against itself: " + c.Gate.Same[0].Sentence})
	}
	out = append(out, report.Fact{Label: "servers", Text: server})
	if c.Logprobs != "" {
		out = append(out, report.Fact{Label: "evidence", Text: c.Logprobs})
	}
	if len(c.Notes) > 0 {
		out = append(out, report.Fact{Label: "notes", Text: strings.Join(c.Notes, "\n")})
	}
	return out
}

// lost lists the gated cells that the first server answers and the second does not.
func (c *Compared) lost() []string {
	var ids []string
	for _, f := range c.Gate.Families {
		ids = append(ids, f.Lost...)
	}
	slices.Sort(ids)
	return ids
}

func (c *Compared) findings(redact func(string) string) []report.Finding {
	var out []report.Finding
	for _, id := range c.lost() {
		was, is := c.Arms[ArmBefore][id], c.Arms[ArmNow][id]
		f := report.Finding{
			Case: id, Class: is.Class, State: state(is), Claim: "what the first server answers the second MUST answer as well",
			Expected: is.Expected, Prompt: is.Prompt, Answer: is.Answer, Again: is.Curl,
			Got: fmt.Sprintf("%q, and before %q", recall.Clip(is.Answer, 80), recall.Clip(was.Answer, 80)),
		}
		if is.Err != nil {
			f.Got = redact(is.Err.Error())
		}
		for i, p := range is.Positions {
			m := report.Margin{Token: p.Token, Got: p.Margin}
			if i < len(was.Positions) {
				m.Golden = &was.Positions[i].Margin
			}
			f.Margins = append(f.Margins, m)
		}
		out = append(out, f)
	}
	return out
}

func (c *Compared) cases() []report.Case {
	lost := c.lost()
	var out []report.Case
	for _, s := range c.Order {
		o, ok := c.Arms[ArmNow][s.ID]
		if !ok {
			continue
		}
		r := report.Case{
			ID:      s.ID,
			Claim:   recall.Claim,
			Outcome: report.Pass,
			Seconds: o.Seconds,
			Type:    o.Class,
			Output:  o.Curl,
		}
		switch {
		case !o.Measured:
			r.Outcome, r.Message = report.NotMeasured, o.Class
		case slices.Contains(lost, s.ID) && c.Code == suite.Regression:
			r.Outcome, r.Message = report.Fail, fmt.Sprintf("want %s, got %q", o.Expected, recall.Clip(o.Answer, 80))
		}
		out = append(out, r)
	}
	return out
}

// finish prints, writes and records the verdict.
func (v Versus) finish(out *Compared, began time.Time) error {
	if err := out.conclude(); err != nil {
		return err
	}
	out.fill(v.Before.Redact)
	out.Report.Elapsed = time.Since(began)
	if v.Dir != "" {
		out.Report.Report = v.Shown(v.Dir) + "/report.html"
	}
	if err := report.WriteBody(v.Out, out.Report, v.Style); err != nil {
		return err
	}
	if v.Dir != "" {
		if err := report.WriteAll(v.Dir, out.Report, report.Redact(v.Secret)); err != nil {
			return err
		}
	}
	return out.record(v.Result)
}

func (c *Compared) fill(redact func(string) string) {
	r := &c.Report
	r.Facts, r.Findings, r.Cases = c.facts(), c.findings(redact), c.cases()
	r.Verdict = report.Verdict{Code: int(c.Code), Text: c.Verdict}
}

// record writes the gate's decision to the ledger.
func (c *Compared) record(result func(suite.Result) error) error {
	if result == nil {
		return nil
	}
	return result(suite.Result{
		Case:     "fidelity/gate/compare",
		Outcome:  recall.GateOutcome(c.Gate.Overall),
		Optional: true,
		Message:  c.Gate.Sentence,
	})
}
