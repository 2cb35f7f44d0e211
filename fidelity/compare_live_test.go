//go:build live

package fidelity_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/internal/session"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/internal/suite"
)

// The two sides of `go tool mage compare`: URLs or run folders.
var (
	compareBefore = flag.String("assay.before", "", "URL or run folder that is compared against")
	compareNow    = flag.String("assay.now", "", "URL or run folder that is compared")
)

// TestCompare compares two servers or two run folders.
func TestCompare(t *testing.T) {
	isJob := suite.Job(t)
	suite.Unsharded("compare", "run it on one machine")
	before, now := *compareBefore, *compareNow
	if before == "" || now == "" {
		suite.Usage(fmt.Errorf("compare needs two URLs or two run folders and got %q and %q: go tool mage compare "+
			"http://host:30000 http://host:30001", before, now))
	}
	if isURL(before) != isURL(now) {
		suite.Usage(fmt.Errorf("compare needs two URLs or two run folders and got one of each, %q and %q: `go tool mage "+
			"live` makes the run folder of a URL", before, now))
	}
	if v, set := suite.Value("ASSAY_RESUME"); set {
		suite.Usage(fmt.Errorf("ASSAY_RESUME=%q: a comparison cannot be continued, unset it", v))
	}
	var c session.Compared
	var err error
	if isURL(before) {
		c, err = versus(t, before, now).Run(suite.Interruptible(t.Context()))
	} else {
		for _, folder := range []string{before, now} {
			if _, err := session.ReadPast(folder); err != nil {
				suite.Usage(err)
			}
		}
		dir, derr := suite.RunDir()
		require.NoError(t, derr)
		c, err = session.Folders{
			Before: before, Now: now, Dir: dir, Shown: suite.Shown, Out: os.Stdout, Style: report.StyleFor(os.Stdout),
			Result: suite.Record,
		}.Run()
	}
	if err == nil || errors.Is(err, session.ErrInterrupted) && c.Verdict != "" {
		suite.Verdict(c.Code, c.Verdict)
	} else {
		conclude(t, session.Done{}, err)
	}
	if !isJob && (err != nil || c.Code != suite.Pass) {
		t.Fail()
	}
}

func isURL(s string) bool { return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://") }

func versus(t *testing.T, before, now string) session.Versus {
	t.Helper()
	key, _ := suite.Value("OPENAI_API_KEY")
	model, set := suite.Value("ASSAY_MODEL")
	if !set {
		model = ""
	}
	client := func(url string) *endpoint.Client {
		c, err := endpoint.New(endpoint.Options{
			BaseURL: url, APIKey: key, Model: model, MaxInFlight: gentle, OnWait: endpoint.ShowWaits(os.Stderr),
		})
		if err != nil {
			suite.Usage(err)
		}
		return c
	}
	v := session.Versus{
		Before: client(before), Now: client(now), Secret: key, Haystack: userHaystack(t), Budget: budgetOf(),
		Parallel: gentle,
		Shown:    suite.Shown, Out: os.Stdout, Live: os.Stderr, Style: report.StyleFor(os.Stdout), Agree: suite.Agree(),
		Result: suite.Record,
	}
	dir, err := suite.RunDir()
	require.NoError(t, err)
	v.Dir = dir
	return v
}
