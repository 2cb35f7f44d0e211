//go:build live

package fidelity_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/term"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity"
	"github.com/assay-suite/assay/internal/endpoint"
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
	refuseResume()
	j, err := liveJob(t)
	if err != nil {
		suite.Usage(err)
	}
	d, err := j.Run(t.Context())
	if err == nil && golden.Updating() {
		bless(t, d)
		return
	}
	conclude(t, d, err)
	if !isJob && (err != nil || d.Judgement.Code != suite.Pass) {
		t.Fail() // under plain go test the code is lost, and the run must not look green
	}
}

func liveJob(t *testing.T) (fidelity.Job, error) {
	t.Helper()
	base, err := baseURL()
	if err != nil {
		return fidelity.Job{}, err
	}
	key, _ := suite.Value("OPENAI_API_KEY")
	model, set := suite.Value("ASSAY_MODEL")
	if !set {
		model = ""
	}
	c, err := endpoint.New(endpoint.Options{BaseURL: base, APIKey: key, Model: model, MaxInFlight: gentle})
	if err != nil {
		return fidelity.Job{}, fmt.Errorf("OPENAI_BASE_URL: %w", err)
	}
	dir, err := suite.RunDir()
	require.NoError(t, err)
	j := fidelity.Job{
		Title: "live  " + c.Host(), Client: c, Secret: key, Haystack: userHaystack(t), Budget: budgetOf(), Parallel: gentle,
		Golden: readGolden, Record: "OPENAI_BASE_URL=" + c.Root() + " go tool mage bless",
		Dir: dir, Shown: shown, Result: suite.Record,
		Out: os.Stdout, Live: os.Stderr, Style: report.StyleFor(os.Stdout), Agree: agree(),
	}
	if golden.Updating() {
		j.Repeats, j.Record = 3, "" // it is being recorded
	}
	return j, nil
}

func baseURL() (string, error) {
	if v, set := suite.Value("OPENAI_BASE_URL"); set {
		return v, nil
	}
	if v, set := suite.Value("OPENAI_API_BASE"); set {
		fmt.Fprintln(os.Stderr, "notice: OPENAI_API_BASE is a legacy name, set OPENAI_BASE_URL")
		return v, nil
	}
	return "", errors.New("OPENAI_BASE_URL is not set: `live` tests your server and has no default. Try OPENAI_BASE_URL=http://127.0.0.1:30000 go tool mage live")
}

// agree asks once, on a terminal only: a script has nobody to ask and has said what it wants.
func agree() func(string) bool {
	if suite.Yes() || !term.IsTerminal(int(os.Stdin.Fd())) {
		return nil
	}
	return func(question string) bool {
		fmt.Printf("%s [y/N] ", question)
		line, err := bufio.NewReader(os.Stdin).ReadString('\n')
		answer := strings.ToLower(strings.TrimSpace(line))
		return err == nil && (answer == "y" || answer == "yes")
	}
}

// bless records the run as the golden of its model, with the noise between the repeats.
func bless(t *testing.T, d fidelity.Done) {
	t.Helper()
	if len(d.Judgement.Errors) > 0 || d.Judgement.Cache.Standing == fidelity.Regressed {
		suite.Verdict(suite.Regression, "not recorded: "+d.Judgement.Verdict)
		return
	}
	noise := fidelity.NoiseOf(d.Repeats, "repeats on the server itself")
	cases, err := fidelity.GoldenCases(d.Observations, noise)
	if err != nil {
		suite.Verdict(suite.Inconclusive, "not recorded: "+err.Error())
		return
	}
	h := userHaystack(t)
	prov := golden.Provenance{
		Generator: "go tool mage bless", Seed: "needle: PCG by FNV-1a of seed 0 and case ID",
		Source: "answers of a live server; haystack " + h.Name + " " + h.SHA256[:16],
		Model:  "served as " + d.Flight.Model, Profile: fidelity.Slug(h.Name),
	}
	caution := ""
	if d.Judgement.Controls.Standing != fidelity.Held {
		prov.Notes = "recorded although the internal controls said: " + d.Judgement.Controls.Text
		caution = "; caution: " + d.Judgement.Controls.Text
	}
	name, err := golden.Record(fidelity.GoldenFamily(d.Flight.Model, h.Name), golden.Doc{Provenance: prov, Cases: cases})
	if err != nil {
		suite.Verdict(suite.UsageError, "not recorded: "+err.Error())
		return
	}
	suite.Verdict(suite.Pass, fmt.Sprintf("golden recorded: %s, noise %.2g nat over %d repeats%s", shown(name), noise.Nats, noise.Repeats, caution))
}
