//go:build live

package diagnose_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/internal/diagnose"
	"github.com/assay-suite/assay/fidelity/internal/probe"
	"github.com/assay-suite/assay/fidelity/suspects"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/needle"
	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/internal/suite"
)

// gentle is how many requests are in flight at once, but for the ladder's arms.
const gentle = 4

// TestDiagnose is the job that `go tool mage diagnose` runs on the server of OPENAI_BASE_URL.
func TestDiagnose(t *testing.T) {
	isJob := suite.Job(t)
	suite.Unsharded("diagnose", "run it once a server")
	j, err := liveJob(t)
	if err != nil {
		suite.Usage(err)
	}
	d, err := j.Run(suite.Interruptible(t.Context()))
	switch {
	case errors.Is(err, suite.ErrInterrupted):
		suite.Verdict(suite.Inconclusive, "inconclusive: interrupted before the first probe")
	case err == nil, errors.Is(err, diagnose.ErrInterrupted):
		code, text := d.Code()
		suite.Verdict(code, text)
		if !isJob && code != suite.Pass {
			t.Fail()
		}
	case endpoint.IsUnreachable(err):
		suite.Verdict(suite.NotReachable, "unreachable: "+err.Error())
	case endpoint.IsUsage(err):
		suite.Verdict(suite.UsageError, "usage: "+err.Error())
	case errors.Is(err, diagnose.ErrDeclined):
		suite.Verdict(suite.Inconclusive, err.Error())
	default:
		suite.Verdict(suite.ToolError, "tool or engine error: "+err.Error())
	}
}

func liveJob(t *testing.T) (diagnose.Job, error) {
	t.Helper()
	base, err := suite.BaseURL("diagnose", "asks")
	if err != nil {
		return diagnose.Job{}, err
	}
	model := ""
	if m, set := suite.Value("ASSAY_MODEL"); set {
		model = m
	}
	fresh := func() (*endpoint.Client, error) {
		return endpoint.New(endpoint.Options{
			BaseURL: base, APIKey: value("OPENAI_API_KEY"), Model: model, OnWait: endpoint.ShowWaits(os.Stderr),
		})
	}
	c, err := fresh()
	if err != nil {
		return diagnose.Job{}, fmt.Errorf("OPENAI_BASE_URL: %w", err)
	}
	dir, err := suite.RunDir()
	require.NoError(t, err)
	text := value("ASSAY_HAYSTACK")
	if _, set := suite.Value("ASSAY_HAYSTACK"); !set {
		text = "opticks"
	}
	const units = 200_000
	h, err := needle.Open(text, 0, units)
	if err != nil {
		return diagnose.Job{}, err
	}
	j := diagnose.Job{
		Title: "diagnose  " + c.Host(), Client: c, Fresh: fresh, Secret: value("OPENAI_API_KEY"), Haystack: h,
		Budget:   probe.Budget(value("ASSAY_BUDGET")),
		Parallel: gentle, Disrupt: value("ASSAY_DISRUPT") == "1", Dir: dir, Resume: value("ASSAY_RESUME"),
		Ledgers: filepath.Dir(dir),
		Out:     os.Stdout, Live: os.Stderr, Style: report.StyleFor(os.Stdout), Agree: suite.Agree(), Result: suite.Record,
		Shown: suite.Shown, Again: "OPENAI_BASE_URL=" + c.Root() + " go tool mage diagnose",
	}
	if path, set := suite.Value("ASSAY_SUSPECTS"); set {
		if j.Patches, err = suspects.Load(path); err != nil {
			return j, err
		}
	}
	return j, nil
}

func value(name string) string {
	v, _ := suite.Value(name)
	return v
}
