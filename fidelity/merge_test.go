package fidelity_test

import (
	"os"
	"testing"

	"github.com/assay-suite/assay/fidelity/internal/session"
	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/internal/suite"
)

// TestMerge is what `go tool mage merge` runs on the shards of a main or live job; without -assay.merge it does
// nothing.
func TestMerge(t *testing.T) {
	if suite.Merging() == "" {
		return
	}
	suite.Job(t)
	parts, notes, err := suite.ReadParts("fidelity", suite.Merging())
	if err != nil {
		suite.Verdict(suite.MergeVerdict(err))
		return
	}
	key, _ := suite.Value("OPENAI_API_KEY")
	j := session.Job{
		Secret: key, Haystack: userHaystack(t), Golden: readGolden, Dir: runDir(t, true), Shown: suite.Shown,
		Result: suite.Record, Out: os.Stdout, Style: report.StyleFor(os.Stdout), EveryCurl: true,
	}
	d, err := j.Merge(suite.Interruptible(t.Context()), parts, notes)
	if err != nil {
		suite.Verdict(suite.MergeVerdict(err))
		return
	}
	suite.Verdict(d.Judgement.Code, d.Judgement.Verdict)
}
