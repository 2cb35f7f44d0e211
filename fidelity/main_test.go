package fidelity_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/internal/recall"
	"github.com/assay-suite/assay/fidelity/internal/session"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/internal/needle"
	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/internal/suite"
)

func TestMain(m *testing.M) { suite.Main(m) }

// TestMainJob is what `go tool mage` runs: the whole plan on the embedded server, on the terminal. Under
// plain go test it is the smoke slice of the same job, against the same golden.
func TestMainJob(t *testing.T) {
	isJob := suite.Job(t)
	j := embeddedJob(t, embeddedModel(), recall.Smoke)
	j.Dir = runDir(t, isJob)
	if testing.Short() {
		j.Keep = func(c recall.Cell) bool { return c.Tokens <= 128 }
	}
	if isJob {
		j.Shard = suite.JobShard()
		j.Past, j.Restarts = past(j.Shard)
		if j.Shard.Count > 0 {
			j.Nonce = "embedded" // this process's engine has an empty cache, and shards must ask what one run asks
			j.Again = "ASSAY_SHARD=" + j.Shard.String() + " " + j.Again
		}
		j.Budget, j.Haystack = budgetOf(), userHaystack(t)
		j.Out, j.Live, j.Style = os.Stdout, os.Stderr, report.StyleFor(os.Stdout)
		j.Result = suite.Record
	}
	ctx := t.Context()
	if isJob {
		ctx = suite.Interruptible(ctx)
	}
	d, err := j.Run(ctx)
	if isJob {
		conclude(t, d, err)
		return
	}
	require.NoError(t, err)
	if d.Judgement.Code != suite.Pass || d.Judgement.Golden == nil || d.Judgement.Golden.Margins != recall.Held {
		t.Errorf("verdict %q (code %d) on the shipped model; golden %v", d.Judgement.Verdict, d.Judgement.Code,
			d.Judgement.Golden)
	}
}

// past is the run that a job is told to continue, nil for none. A shard may be told the folder of all its run folders
// instead, where a scheduler starts it again without knowing of the first start.
func past(shard suite.Shard) (p *session.Past, restarts string) {
	folder, set := suite.Value("ASSAY_RESUME")
	if !set {
		return nil, ""
	}
	if _, err := os.Stat(filepath.Join(folder, suite.LedgerFile)); err != nil && shard.Count > 0 {
		if info, err := os.Stat(folder); err == nil && info.IsDir() {
			return nil, folder
		}
		return nil, "" // nothing ran yet
	}
	p, err := session.ReadPast(folder)
	if err != nil {
		suite.Usage(fmt.Errorf("ASSAY_RESUME: %w", err))
	}
	return p, ""
}

// embeddedModel is the model of the main job, ASSAY_MODEL_EMBEDDED.
func embeddedModel() string {
	name, _ := suite.Value("ASSAY_MODEL_EMBEDDED")
	return name
}

// embeddedJob is the main job on a shipped model behind the real server, in this process.
func embeddedJob(t testing.TB, model string, b recall.Budget) session.Job {
	t.Helper()
	c, err := endpoint.New(endpoint.Options{BaseURL: serve(t, load(t, model), model), MaxInFlight: 4})
	require.NoError(t, err)
	return session.Job{
		Title:  "embedded " + model + " (fp32)",
		Hint:   "your own server: OPENAI_BASE_URL=http://host:port go tool mage live",
		Client: c, Haystack: haystack(t), Budget: b, Parallel: 2, Deterministic: true,
		Rate:     8000, // tokens a second, the floor that benchmarks of internal/nano hold
		CurlRoot: "http://127.0.0.1:8088",
		Golden:   readGolden, Again: "go tool mage", Record: "go test ./fidelity -run '^TestGolden$' -update",
		Shown: suite.Shown, Out: t.Output(),
	}
}

// conclude turns the end of a job into its verdict line and code.
func conclude(t *testing.T, d session.Done, err error) {
	t.Helper()
	switch {
	case err == nil:
		suite.Verdict(d.Judgement.Code, d.Judgement.Verdict)
	case endpoint.IsUnreachable(err):
		t.Log(err)
		suite.Verdict(suite.NotReachable, "unreachable: "+err.Error())
	case errors.Is(err, session.ErrOtherRun), endpoint.IsUsage(err):
		suite.Verdict(suite.UsageError, "usage: "+err.Error())
	case errors.Is(err, session.ErrInterrupted):
		suite.Verdict(suite.Inconclusive, d.Judgement.Verdict)
	case errors.Is(err, suite.ErrInterrupted):
		suite.Verdict(suite.Inconclusive, "inconclusive  interrupted before the first question")
	case errors.Is(err, session.ErrDeclined):
		suite.Verdict(suite.Inconclusive, err.Error())
	default:
		suite.Verdict(suite.ToolError, "tool or engine error: "+err.Error())
	}
}

func budgetOf() recall.Budget {
	b, _ := suite.Value("ASSAY_BUDGET")
	return recall.Budget(b)
}

func haystack(t testing.TB) *needle.Haystack {
	t.Helper()
	h, err := opticks()
	require.NoError(t, err)
	return h
}

var opticks = sync.OnceValues(needle.Opticks) // read only

// userHaystack is what a job hides needles in.
func userHaystack(t testing.TB) *needle.Haystack {
	t.Helper()
	name, set := suite.Value("ASSAY_HAYSTACK")
	if !set {
		return haystack(t)
	}
	const units = 200_000 // words and marks of a generated text: several of the longest prompts
	h, err := needle.Open(name, 0, units)
	if err != nil {
		suite.Usage(err)
	}
	return h
}

// runDir is the run's artifacts folder for a job, a temporary one for a test.
func runDir(t testing.TB, isJob bool) string {
	t.Helper()
	if !isJob {
		return t.TempDir()
	}
	dir, err := suite.RunDir()
	require.NoError(t, err)
	return dir
}

// readGolden returns nil where nothing is recorded.
func readGolden(family string) (*recall.Golden, error) {
	f, err := golden.Read(family)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return recall.ParseGolden(family, f.Cases)
}
