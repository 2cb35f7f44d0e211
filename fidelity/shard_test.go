package fidelity_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/internal/recall"
	"github.com/assay-suite/assay/fidelity/internal/session"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/suite"
)

// shardJob is one shard of a smoke run on e, with its ledger in dir.
func shardJob(t *testing.T, c *endpoint.Client, dir string, s suite.Shard) session.Job {
	t.Helper()
	ledger, err := suite.OpenLedger(filepath.Join(dir, suite.LedgerFile))
	require.NoError(t, err)
	t.Cleanup(func() { _ = ledger.Close() })
	return session.Job{
		Title: "fleet", Client: c, Haystack: haystack(t), Budget: recall.Smoke, Parallel: parallel, Dir: dir,
		Rate: 8000, Out: t.Output(), Result: ledger.Append, Shard: s, Nonce: "fleet", Deterministic: true, Golden: readGolden,
	}
}

// shards runs all shards of a run, each with a client of its own, and returns the folder with their run folders.
func shards(t *testing.T, n int, client func() *endpoint.Client, keep func(recall.Cell) bool) string {
	t.Helper()
	parent := t.TempDir()
	for i := range n {
		dir := filepath.Join(parent, fmt.Sprint("run-", i))
		require.NoError(t, os.Mkdir(dir, 0o755))
		j := shardJob(t, client(), dir, suite.Shard{Index: i, Count: n})
		j.Keep = keep
		d, err := j.Run(t.Context())
		require.NoError(t, err)
		if d.Judgement.Code != suite.Inconclusive || !strings.HasPrefix(d.Judgement.Verdict, "not judged: shard") {
			t.Errorf("shard %d/%d: code %d, %q", i, n, d.Judgement.Code, d.Judgement.Verdict)
		}
	}
	return parent
}

// merged merges what a folder holds.
func merged(t *testing.T, parent string) (session.Done, error) {
	t.Helper()
	return mergedOf(t, parent, nil)
}

func mergedOf(t *testing.T, parent string, keep func(recall.Cell) bool) (session.Done, error) {
	t.Helper()
	parts, notes, err := suite.ReadParts("fidelity", filepath.Join(parent, "*"))
	if err != nil {
		return session.Done{}, err
	}
	return session.Job{Haystack: haystack(t), Golden: readGolden, Out: t.Output(), Keep: keep}.Merge(t.Context(), parts,
		notes)
}

// canonical is a result without times, order, connections and places on the disk.
func canonical(t *testing.T, obs []recall.Observation, verdict string) []string {
	t.Helper()
	out := []string{verdict}
	for _, o := range obs {
		positions, err := json.Marshal(o.Positions)
		require.NoError(t, err)
		out = append(out, fmt.Sprint(o.Cell.ID, o.Class, o.Hit, o.Measured, o.PromptSHA, o.Expected, o.Answer, o.Tokens,
			o.Finish, string(positions)))
	}
	slices.Sort(out)
	return out
}

// Any number of shards gives what one run gives, to the bit of every log-probability; the embedded engine is nano-v4
// and the golden the shipped one.
func TestShardsAreOneRun(t *testing.T) {
	client := func() *endpoint.Client { // of an engine that was just started, as the embedded one is
		c, err := endpoint.New(endpoint.Options{BaseURL: serve(t, load(t, "nano-v4"), "nano-v4"), MaxInFlight: 4})
		require.NoError(t, err)
		return c
	}
	counts, keep := []int{3}, func(c recall.Cell) bool { return c.Tokens <= 128 || c.Family == recall.Cache }
	if budget, _ := suite.Value("ASSAY_BUDGET"); budget == "full" {
		counts, keep = []int{1, 2, 3, 7, 64}, nil
	}
	j := shardJob(t, client(), t.TempDir(), suite.Shard{})
	j.Keep = keep
	one, err := j.Run(t.Context())
	require.NoError(t, err)
	want := canonical(t, one.Observations, one.Judgement.Verdict)
	for _, n := range counts {
		d, err := mergedOf(t, shards(t, n, client, keep), keep)
		require.NoError(t, err)
		if d.Judgement.Code != one.Judgement.Code {
			t.Errorf("%d shards: code %d, one run %d", n, d.Judgement.Code, one.Judgement.Code)
		}
		if diff := cmp.Diff(want, canonical(t, d.Observations, d.Judgement.Verdict)); diff != "" {
			t.Errorf("%d shards differ from one run (-one +merged):\n%s", n, diff)
		}
	}
}

// The same on the fake engine, sound and with the far path lost, up to 64 shards: the verdict is the whole run's, found
// over all cells, although no shard judges.
func TestFleetOfShards(t *testing.T) {
	for name, row := range map[string]struct {
		reply func(q request) (int, string, string, string)
		code  suite.Code
	}{
		"sound":      {nil, suite.Pass},
		"one answer": {func(request) (int, string, string, string) { return 200, "11111", "", "stop" }, suite.Regression},
	} {
		t.Run(name, func(t *testing.T) {
			client := func() *endpoint.Client { return clientOf(t, &engine{answer: row.reply}) }
			one, err := shardJob(t, client(), t.TempDir(), suite.Shard{}).Run(t.Context())
			require.NoError(t, err)
			want := canonical(t, one.Observations, one.Judgement.Verdict)
			counts := map[suite.Code][]int{suite.Pass: {1, 2, 3, 7}, suite.Regression: {7}}[row.code]
			if budget, _ := suite.Value("ASSAY_BUDGET"); budget == "full" {
				counts = append(counts, 64)
			}
			for _, n := range counts {
				d, err := merged(t, shards(t, n, client, nil))
				require.NoError(t, err)
				if diff := cmp.Diff(want, canonical(t, d.Observations, d.Judgement.Verdict)); diff != "" ||
					d.Judgement.Code != one.Judgement.Code {
					t.Errorf("%d shards: code %d, one run %d (-one +merged):\n%s", n, d.Judgement.Code, one.Judgement.Code, diff)
				}
			}
			if row.code == suite.Regression && one.Judgement.Code != row.code {
				t.Errorf("the fault is not found by one run either: %s", one.Judgement.Verdict)
			}
		})
	}
}

// What is missing, half-written, there twice or of another run is named, with its folder and its shard.
func TestMergeNames(t *testing.T) {
	client := func() *endpoint.Client { return clientOf(t, &engine{}) }
	good := shards(t, 3, client, nil)
	edit := func(change func(text string) string) func(string) {
		return func(dir string) {
			name := filepath.Join(dir, "run-1", suite.LedgerFile)
			raw, err := os.ReadFile(name)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(name, []byte(change(string(raw))), 0o600))
		}
	}
	replace := func(was, is string) func(string) {
		return edit(func(s string) string { return strings.Replace(s, was, is, 1) })
	}
	for name, row := range map[string]struct {
		spoil func(dir string)
		code  suite.Code
		says  string
	}{
		"whole": {func(string) {}, suite.Pass, ""},
		"missing": {func(dir string) {
			require.NoError(t, os.RemoveAll(filepath.Join(dir, "run-1")))
		}, 3, "shard 1/3 is missing"},
		"half-written": {edit(func(s string) string {
			return s[:strings.LastIndex(strings.TrimRight(s, "\n"), "\n")-20]
		}), 3, "shard 1/3 is half-written in"},
		"twice": {func(dir string) {
			require.NoError(t, os.CopyFS(filepath.Join(dir, "copy"), os.DirFS(filepath.Join(dir, "run-1"))))
		}, 2, "shard 1/3 is there twice"},
		"a case is lost": {edit(func(s string) string {
			lines := strings.SplitAfter(s, "\n")
			return strings.Join(slices.Delete(lines, 2, 3), "")
		}), 3, "cases have no result, first fidelity/"},
		"a case is there twice": {edit(func(s string) string {
			lines := strings.SplitAfter(s, "\n")
			return strings.Join(slices.Insert(lines, 2, lines[2]), "")
		}), 2, "is there twice"},
		"another binary": {replace(`"binary":"`, `"binary":"00`), 2, "the test binary's sha256"},
		"another golden": {replace(`"golden":"`, `"golden":"00`), 2, "golden is"},
		"another budget": {replace(`"budget":"smoke","context`, `"budget":"full","context`), 2, "budget is"},
		"other seeds":    {replace(`"seeds":"PCG`, `"seeds":"MT19937`), 2, "seeds is"},
		"no ledger":      {func(dir string) { require.NoError(t, os.RemoveAll(dir)) }, 2, "matches nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "runs")
			require.NoError(t, os.CopyFS(dir, os.DirFS(good)))
			row.spoil(dir)
			_, err := merged(t, dir)
			if row.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, row.says)
			if code, text := suite.MergeVerdict(err); code != row.code || strings.ContainsRune(text, '\n') {
				t.Errorf("code %d with %q, want code %d and one line", code, text, row.code)
			}
		})
	}
}

// A shard that dies and is started again, without being told of its folder, asks what it had not asked and nothing
// else; the half-written folder beside it is named and left out.
func TestRestartedShard(t *testing.T) {
	half := suite.Shard{Index: 1, Count: 2}
	client := func() *endpoint.Client { return clientOf(t, &engine{}) }
	parent := shards(t, 2, client, nil)
	whole, err := merged(t, parent)
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(filepath.Join(parent, "run-1")))
	dead := filepath.Join(parent, "run-1-dead")
	require.NoError(t, os.Mkdir(dead, 0o755))
	s := shardJob(t, client(), dead, half)
	ctx, stop := context.WithCancel(t.Context())
	record, lines := s.Result, 0
	s.Result = func(r suite.Result) error {
		if lines++; lines > 12 {
			stop()
			return nil // a process that is gone writes nothing
		}
		return record(r)
	}
	if _, err := s.Run(ctx); !errors.Is(err, session.ErrInterrupted) {
		t.Fatalf("the shard ended with %v", err)
	}
	again := filepath.Join(parent, "run-1-again")
	require.NoError(t, os.Mkdir(again, 0o755))
	s = shardJob(t, client(), again, half)
	s.Restarts = parent
	d, err := s.Run(t.Context())
	require.NoError(t, err)
	if d.Restored == 0 || d.Restored >= len(d.Plan.Cells) {
		t.Errorf("%d of %d answers were taken over", d.Restored, len(d.Plan.Cells))
	}
	m, err := merged(t, parent)
	require.NoError(t, err)
	if diff := cmp.Diff(canonical(t, whole.Observations, whole.Judgement.Verdict),
		canonical(t, m.Observations, m.Judgement.Verdict)); diff != "" {
		t.Error(diff)
	}
	parts, notes, err := suite.ReadParts("fidelity", filepath.Join(parent, "*"))
	require.NoError(t, err)
	left := filepath.Join(parent, "run-merged") // what a merge leaves among the shards is in no other merge's way
	require.NoError(t, os.Mkdir(left, 0o755))
	l, err := suite.OpenLedger(filepath.Join(left, suite.LedgerFile))
	require.NoError(t, err)
	_, err = session.Job{Haystack: haystack(t), Golden: readGolden, Out: t.Output(), Result: l.Append}.Merge(t.Context(),
		parts, notes)
	require.NoError(t, err)
	require.NoError(t, l.Close())
	_, notes, err = suite.ReadParts("fidelity", filepath.Join(parent, "*"))
	require.NoError(t, err)
	if len(notes) != 1 || !strings.Contains(notes[0], "run-1-dead is half-written and not used") {
		t.Errorf("notes %q", notes)
	}
}
