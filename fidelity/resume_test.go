package fidelity_test

import (
	"errors"
	"flag"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/internal/recall"
	"github.com/assay-suite/assay/fidelity/internal/session"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/suite"
)

// The child process of TestResumeAfterAKill: the server that it asks, and its run folder.
var (
	childURL = flag.String("assay.test.url", "", "server that TestResumeChild asks")
	childDir = flag.String("assay.test.dir", "", "run folder of TestResumeChild")
)

// parallel is how many units the runs here have in flight.
const parallel = 3

// ledgerJob is a smoke run that keeps a ledger in its folder.
func ledgerJob(t *testing.T, url, dir string) session.Job {
	t.Helper()
	c, err := endpoint.New(endpoint.Options{BaseURL: url, Limits: endpoint.Limits{MaxTries: 1}})
	require.NoError(t, err)
	ledger, err := suite.OpenLedger(filepath.Join(dir, "results.jsonl"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = ledger.Close() })
	return session.Job{
		Title: "child", Client: c, Haystack: haystack(t), Budget: recall.Smoke, Parallel: parallel, Dir: dir,
		Out: t.Output(), Result: ledger.Append,
	}
}

// TestResumeChild is no test of its own: it is the process that TestResumeAfterAKill kills.
func TestResumeChild(t *testing.T) {
	if *childURL == "" {
		return
	}
	_, err := ledgerJob(t, *childURL, *childDir).Run(t.Context())
	t.Errorf("the child ended by itself, with %v", err)
}

// A run that was killed goes on where it was: nothing that has a line is asked again, nothing is left out, and what was
// in flight is asked whole.
func TestResumeAfterAKill(t *testing.T) {
	e := &engine{}
	var needles atomic.Int64
	kill, killed := make(chan struct{}), make(chan struct{})
	const before = 34 // survey and some cells
	e.before = func() {
		switch n := needles.Add(1); {
		case n == before:
			close(kill)
			<-killed
		case n > before:
			<-killed // nothing is answered from here on
		}
	}
	srv := httptest.NewServer(e)
	defer srv.Close()
	self, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestResumeChild$", "-assay.test.url="+srv.URL,
		"-assay.test.dir="+dir)
	require.NoError(t, cmd.Start())
	<-kill
	require.NoError(t, cmd.Process.Kill())
	if err := cmd.Wait(); err == nil {
		t.Fatal("the child was to be killed")
	}
	close(killed)
	srv.CloseClientConnections()

	past, err := session.ReadPast(dir)
	require.NoError(t, err)
	require.NotEmpty(t, past.Answers, "the child was killed before its first answer")
	raw, err := os.ReadFile(filepath.Join(dir, "results.jsonl"))
	require.NoError(t, err)
	// a line that was being written
	require.NoError(t, os.WriteFile(filepath.Join(dir, "results.jsonl"),
		append(raw, `{"schema":1,"case":"fidelity/rec`...), 0o600))
	e.mu.Lock()
	first := prompts(e.chats)
	e.before, e.chats = nil, nil
	e.mu.Unlock()

	next := t.TempDir()
	j := ledgerJob(t, srv.URL, next)
	j.Past, err = session.ReadPast(dir)
	require.NoError(t, err)
	d, err := j.Run(t.Context())
	require.NoError(t, err)
	e.mu.Lock()
	second := prompts(e.chats)
	e.mu.Unlock()

	lines := map[string]bool{}
	for _, a := range past.Answers {
		lines[a.Cell.ID] = true
	}
	twice := map[string]bool{}
	restored := 0
	for _, o := range d.Observations {
		cells := 1
		if o.Cell.Family == recall.Cache {
			cells = 2
		}
		if !o.Measured || !o.Hit || o.Prompt == "" {
			t.Errorf("%s is lost: %+v", o.Cell.ID, o)
		}
		whole := lines[o.Cell.ID] && (cells == 1 || lines[o.Cell.Prompt+"/cold"] && lines[o.Cell.Prompt+"/warm"])
		switch n := second[o.Prompt]; {
		case whole && n != 0:
			t.Errorf("%s has a line and was asked again %d times", o.Cell.ID, n)
		case !whole && n != cells:
			t.Errorf("%s was asked %d times after the kill, want %d", o.Cell.ID, n, cells)
		case whole:
			restored++
		case first[o.Prompt] > 0:
			twice[o.Cell.Prompt] = true
		}
	}
	if restored == 0 || restored != d.Restored || len(twice) > parallel {
		t.Errorf("%d answers restored (the job says %d), %d units asked in both runs; want some, and at most the %d in "+
			"flight", restored, d.Restored, len(twice), parallel)
	}
	again, err := session.ReadPast(next)
	require.NoError(t, err)
	if len(again.Answers) != len(d.Plan.Cells) {
		t.Errorf("the second run's folder holds %d answers of %d: it could not be continued in its turn", len(again.Answers),
			len(d.Plan.Cells))
	}
	if d.Judgement.Code != suite.Pass {
		t.Errorf("verdict %q", d.Judgement.Verdict)
	}
}

func prompts(chats []request) map[string]int {
	n := map[string]int{}
	for _, q := range chats {
		if len(q.Messages) > 0 {
			n[q.prompt()]++
		}
	}
	return n
}

// Another server, budget or text is another run.
func TestResumeRefusesOtherRuns(t *testing.T) {
	e := &engine{version: "1"}
	srv := httptest.NewServer(e)
	defer srv.Close()
	dir := t.TempDir()
	_, err := ledgerJob(t, srv.URL, dir).Run(t.Context())
	require.NoError(t, err)
	for name, row := range map[string]struct {
		change func(*session.Job)
		words  string // empty: goes on
	}{
		"same":           {func(*session.Job) {}, ""},
		"another-budget": {func(j *session.Job) { j.Budget = recall.Standard }, "its budget"},
		"another-text":   {func(j *session.Job) { h := *j.Haystack; h.Name = "other"; j.Haystack = &h }, "its haystack"},
		"another-build":  {func(*session.Job) { e.version = "2" }, `version.version: "1", then "2"`},
	} {
		t.Run(name, func(t *testing.T) {
			e.version = "1"
			j := ledgerJob(t, srv.URL, t.TempDir())
			j.Past, err = session.ReadPast(dir)
			require.NoError(t, err)
			row.change(&j)
			sent := len(e.chats)
			d, err := j.Run(t.Context())
			if row.words == "" {
				require.NoError(t, err)
				if d.Restored != len(d.Plan.Cells) {
					t.Errorf("%d of %d answers restored", d.Restored, len(d.Plan.Cells))
				}
				return
			}
			if !errors.Is(err, session.ErrOtherRun) || !strings.Contains(err.Error(), row.words) {
				t.Errorf("got %v, want ErrOtherRun with %q", err, row.words)
			}
			for _, q := range e.chats[sent:] {
				if strings.Contains(q.prompt(), "archive is") {
					t.Error("a question was sent to a server that is another one")
				}
			}
		})
	}
	if _, err := session.ReadPast(t.TempDir()); !errors.Is(err, session.ErrOtherRun) {
		t.Errorf("an empty folder: %v, want ErrOtherRun", err)
	}
}
