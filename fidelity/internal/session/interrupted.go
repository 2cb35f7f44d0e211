package session

import (
	"errors"
	"fmt"
	"time"

	"github.com/assay-suite/assay/fidelity/internal/recall"
	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/internal/suite"
)

// ErrInterrupted says that a run was ended from outside before its last question: its Done and its files hold what was
// measured until then.
var ErrInterrupted = errors.New("the run was interrupted")

// Continue is the line that goes on with a run.
func Continue(dir, command string) string { return "ASSAY_RESUME=" + dir + " " + command }

// interrupted writes the report of a run that was ended before its last question. Nothing is concluded from it; what
// the judgement would be of these answers alone stands in the report.
func (j Job) interrupted(d *Done, took time.Duration) error {
	asked := 0
	for _, o := range d.Observations {
		if o.Measured {
			asked++
		}
	}
	if j.Shard.Count > 0 {
		return j.interruptedShard(d, asked, took)
	}
	var err error
	if d.Judgement, err = recall.Judge(d.Plan, d.Observations, j.context(d)); err != nil {
		return err
	}
	so := report.Fact{Label: "so far", Text: d.Judgement.Verdict}
	d.Judgement.Code = suite.Inconclusive
	d.Judgement.Verdict = fmt.Sprintf("inconclusive  interrupted after %d of %d questions", asked, len(d.Plan.Cells))
	d.Report.Facts = append(d.Report.Facts, so)
	j.sayGoOn(d)
	if err := j.write(d, took); err != nil {
		return err
	}
	return ErrInterrupted
}

func (j Job) sayGoOn(d *Done) {
	if j.Dir != "" && j.Again != "" {
		line := Continue(j.Shown(j.Dir), j.Again)
		d.Report.Facts = append(d.Report.Facts, report.Fact{Label: "go on", Text: line, Verbatim: true})
		d.Judgement.Verdict += "; go on with " + line
	}
}

// interruptedShard is the same of a part of a run: half-written, to be continued and not to be merged.
func (j Job) interruptedShard(d *Done, asked int, took time.Duration) error {
	d.Judgement = recall.Judgement{Code: suite.Inconclusive, Verdict: fmt.Sprintf(
		"inconclusive  shard %s was interrupted after %d of %d questions", j.Shard, asked, len(d.Plan.Cells))}
	j.sayGoOn(d)
	if err := j.writeShard(d, took); err != nil {
		return err
	}
	return ErrInterrupted
}
