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

	"github.com/assay-suite/assay/fidelity/internal/exact"
	"github.com/assay-suite/assay/fidelity/internal/recall"
	"github.com/assay-suite/assay/fidelity/internal/session"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/gate"
	"github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/internal/suite"
)

// gentle is how many requests a live run has in flight at once.
const gentle = 4

// TestLive is the main job on the server of OPENAI_BASE_URL; with -update (`go tool mage bless`) it records that
// server's golden instead of judging by it.
func TestLive(t *testing.T) {
	isJob := suite.Job(t)
	if golden.Updating() {
		mayBless()
	}
	j, err := liveJob(t)
	if err != nil {
		suite.Usage(err)
	}
	d, err := j.Run(suite.Interruptible(t.Context()))
	if err == nil && golden.Updating() {
		bless(t, j, d)
		return
	}
	conclude(t, d, err)
	if !isJob && (err != nil || d.Judgement.Code != suite.Pass) {
		t.Fail() // under plain go test the code is lost, and the run must not look green
	}
}

func liveJob(t *testing.T) (session.Job, error) {
	t.Helper()
	base, err := suite.BaseURL("live", "tests")
	if err != nil {
		return session.Job{}, err
	}
	key, _ := suite.Value("OPENAI_API_KEY")
	model, set := suite.Value("ASSAY_MODEL")
	if !set {
		model = ""
	}
	options := endpoint.Options{
		BaseURL: base, APIKey: key, Model: model, MaxInFlight: gentle, OnWait: endpoint.ShowWaits(os.Stderr),
	}
	c, err := endpoint.New(options)
	if err != nil {
		return session.Job{}, fmt.Errorf("OPENAI_BASE_URL: %w", err)
	}
	dir, err := suite.RunDir()
	require.NoError(t, err)
	j := session.Job{
		Title: "live  " + c.Host(), Client: c, Secret: key, Haystack: userHaystack(t), Budget: budgetOf(), Parallel: gentle,
		Golden: readGolden, Again: "OPENAI_BASE_URL=" + c.Root() + " go tool mage live",
		Record: "OPENAI_BASE_URL=" + c.Root() + " go tool mage bless -reason=\"what this build is\"",
		Dir:    dir, Shown: suite.Shown, Result: suite.Record,
		Out: os.Stdout, Live: os.Stderr, Style: report.StyleFor(os.Stdout), Agree: suite.Agree(),
	}
	j.EveryCurl, j.Shard = true, suite.JobShard()
	j.Past, j.Restarts = past(j.Shard)
	if j.Shard.Count > 0 {
		j.Again = "ASSAY_SHARD=" + j.Shard.String() + " " + j.Again
	}
	if golden.Updating() {
		suite.Unsharded("bless", "run it on one machine")
		j.Repeats, j.Record = gate.Repeats, "" // it is being recorded
	}
	format, _ := suite.Value("ASSAY_FORMAT")
	err = exact.Attach(&j, options, format)
	return j, err
}

// reason is why a golden is made.
var reason = flag.String("assay.reason", "", "why a golden is made or changed, for `go tool mage bless`")

// inCI reports whether this is CI, as the golden wrapper does.
func inCI() bool {
	ci, set := os.LookupEnv("CI")
	return set && ci != "" && ci != "false" && ci != "0"
}

// mayBless refuses what would be refused at the end, before anything is sent.
func mayBless() {
	switch {
	case strings.TrimSpace(*reason) == "":
		suite.Usage(errors.New("no golden is made: a golden needs a reason, go tool mage bless -reason=\"why it is made or " +
			"changed\""))
	case inCI():
		suite.Usage(errors.New("no golden is made: this is CI, where a red gate would bless itself; make it by hand and " +
			"commit it"))
	}
}

// bless records the last repeat of a run as the golden of its model and profile.
func bless(t *testing.T, j session.Job, d session.Done) {
	t.Helper()
	if len(d.Judgement.Errors) > 0 || d.Judgement.Cache.Standing == recall.Regressed {
		suite.Verdict(suite.Regression, "not recorded: "+d.Judgement.Verdict)
		return
	}
	if r := d.Judgement.Totals; r.Code == suite.Regression {
		suite.Verdict(r.Code, "not recorded: "+r.Text)
		return
	}
	id, err := j.Client.Identify(t.Context())
	if err != nil {
		suite.Verdict(suite.NotReachable, "not recorded: "+err.Error())
		return
	}
	if diff := d.Server.Differences(recall.ServerOf(id)); len(diff) > 0 {
		suite.Verdict(suite.Inconclusive, "not recorded: the server changed while it was asked: "+strings.Join(diff, "; "))
		return
	}
	cases, left, err := recall.Bless(d.Plan, d.Repeats, recall.Blessing{
		Reason: *reason,
		CI:     inCI(),
		Server: d.Server,
		Source: "repeats on the server itself",
	})
	if err != nil {
		suite.Verdict(suite.Inconclusive, "not recorded: "+err.Error())
		return
	}
	prov := golden.Provenance{
		Generator: "go tool mage bless", Seed: "needle: PCG by FNV-1a of seed 0 and case ID",
		Source: "answers of a live server; haystack " + j.Haystack.Name + " " + j.Haystack.SHA256[:16],
		Model:  "served as " + d.Flight.Model, Profile: recall.Profile(j.Haystack.Name, j.Budget),
	}
	caution := ""
	if left != "" {
		caution = "; " + left
	}
	if d.Judgement.Controls.Standing != recall.Held {
		prov.Notes = "recorded although the internal controls said: " + d.Judgement.Controls.Text
		caution += "; caution: " + d.Judgement.Controls.Text
	}
	name, err := golden.Record(t, recall.GoldenFamily(d.Flight.Model, j.Haystack.Name, j.Budget), golden.Doc{
		Provenance: prov,
		Cases:      cases,
	})
	if err != nil {
		suite.Verdict(suite.UsageError, "not recorded: "+err.Error())
		return
	}
	suite.Verdict(suite.Pass, fmt.Sprintf("golden recorded: %s%s", suite.Shown(name), caution))
}
