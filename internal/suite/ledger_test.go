package suite

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/schema"
)

func TestLedgerRoundTrip(t *testing.T) {
	name := filepath.Join(t.TempDir(), "results.jsonl")
	want := []Result{
		{
			Case:    "a/b",
			Outcome: Passed,
			Seconds: 0.25,
			Numbers: Numbers{"margin-nats": 10.5, "gap": math.Inf(-1), "rho": math.NaN()},
		},
		{Case: "a/c", Outcome: Failed, Message: "two\nlines \u2028", Detail: json.RawMessage(`{"answer":"<b>"}`)},
		{Case: "a/d", Outcome: Unmeasured, Optional: true, Message: "gentle"},
	}
	l, err := OpenLedger(name)
	require.NoError(t, err)
	for _, r := range want {
		require.NoError(t, l.Append(r))
	}
	require.NoError(t, l.Close())
	for i := range want {
		want[i].Schema = Schema
	}
	got, err := ReadLedgerFile(name)
	require.NoError(t, err)
	// RawMessage is re-escaped on writing, so the detail is compared as a value.
	asValue := cmp.Transformer("value", func(m json.RawMessage) (v any) { _ = json.Unmarshal(m, &v); return v })
	if d := cmp.Diff(want, got, cmpopts.EquateNaNs(), asValue); d != "" {
		t.Errorf("ledger (-want +got):\n%s", d)
	}
	raw, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.Equal(t, 3, strings.Count(string(raw), "\n"), "one line a result")
	holdsSchema(t, raw)
}

func TestTornLastLine(t *testing.T) {
	good := `{"schema":1,"case":"a/b","outcome":"pass","seconds":1}` + "\n"
	for name, row := range map[string]struct {
		text string
		n    int
		err  string
	}{
		"empty":                  {"", 0, ""},
		"whole":                  {good + good, 2, ""},
		"no newline":             {good + `{"schema":1,"case":"a/c"`, 1, ""},
		"whole but no newline":   {good + strings.TrimSpace(good), 1, ""},
		"zeros after a crash":    {good + "\x00\x00\x00\n", 1, ""},
		"garbage in the middle":  {good + "{\n" + good, 1, "line 2"},
		"later schema":           {strings.Replace(good, `:1,"c`, `:2,"c`, 1), 0, "schema version 2"},
		"no schema":              {`{"case":"a/b","outcome":"pass"}` + "\n", 0, "schema version 0"},
		"unknown outcome":        {strings.Replace(good, "pass", "fine", 1), 0, `outcome "fine"`},
		"not an object":          {"[1]\n", 0, "line 1"},
		"unknown number":         {strings.Replace(good, `"seconds":1`, `"numbers":{"x":"big"}`, 1), 0, `"big"`},
		"added field is skipped": {strings.Replace(good, `"seconds":1`, `"seconds":1,"later":true`, 1), 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ReadLedger(strings.NewReader(row.text))
			assert.Len(t, got, row.n)
			if row.err == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, row.err)
			}
		})
	}
}

func TestContinuedLedgerCutsTheTornLine(t *testing.T) {
	name := filepath.Join(t.TempDir(), "results.jsonl")
	require.NoError(t, os.WriteFile(name,
		[]byte(`{"schema":1,"case":"a/b","outcome":"pass","seconds":1}`+"\n"+`{"schema":1,"ca`), 0o600))
	l, err := OpenLedger(name)
	require.NoError(t, err)
	require.NoError(t, l.Append(passing("a/c")))
	require.NoError(t, l.Close())
	got, err := ReadLedgerFile(name)
	require.NoError(t, err)
	require.Len(t, got, 2)
	assert.Equal(t, "a/c", got[1].Case)
}

func TestLedgerRefuses(t *testing.T) {
	l, err := OpenLedger(filepath.Join(t.TempDir(), "results.jsonl"))
	require.NoError(t, err)
	defer func() { assert.NoError(t, l.Close()) }()
	for name, row := range map[string]struct {
		r    Result
		want string
	}{
		"ID":                {Result{Case: "grid", Outcome: Passed}, "at least two segments"},
		"outcome":           {Result{Case: "a/b", Outcome: "ok"}, `outcome "ok"`},
		"silent failure":    {Result{Case: "a/b", Outcome: Failed}, "needs a message"},
		"detail not JSON":   {Result{Case: "a/b", Outcome: Passed, Detail: json.RawMessage("{")}, "not JSON"},
		"seconds not a num": {Result{Case: "a/b", Outcome: Passed, Seconds: math.NaN()}, "JSON"},
	} {
		t.Run(name, func(t *testing.T) { assert.ErrorContains(t, l.Append(row.r), row.want) })
	}
	_, err = OpenLedger(filepath.Join(t.TempDir(), "no", "folder"))
	require.ErrorContains(t, err, "cannot be opened")
}

func TestRunWritesWhatWasRecordedBeforeItsFolder(t *testing.T) {
	t.Setenv("ASSAY_ARTIFACTS", t.TempDir())
	var u Run
	require.NoError(t, u.Record(passing("a/early")))
	dir, err := u.Dir()
	require.NoError(t, err)
	again, err := u.Dir()
	require.NoError(t, err)
	assert.Equal(t, dir, again)
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() { assert.NoError(t, u.Record(passing("a/late"))) })
	}
	group.Wait()
	code, text := u.conclude(0, 21)
	assert.Equal(t, Pass, code)
	assert.Equal(t, "pass", text)
	got, err := ReadLedgerFile(filepath.Join(dir, "results.jsonl"))
	require.NoError(t, err)
	require.Len(t, got, 21)
	assert.Equal(t, "a/early", got[0].Case)
	for _, r := range got {
		assert.Equal(t, filepath.Base(dir), r.Run)
	}
}

func TestNewRunDir(t *testing.T) {
	parent := filepath.Join(t.TempDir(), "new")
	at := time.Date(2026, 11, 29, 13, 40, 11, 0, time.FixedZone("CET", 3600))
	for _, want := range []string{"2026-11-29T12-40-11Z", "2026-11-29T12-40-11Z-2", "2026-11-29T12-40-11Z-3"} {
		got, err := NewRunDir(parent, at)
		require.NoError(t, err)
		assert.Equal(t, want, filepath.Base(got))
	}
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := NewRunDir(file, at)
	require.ErrorContains(t, err, "ASSAY_ARTIFACTS")
}

// holdsSchema fails where a ledger is not what docs/schema publishes.
func holdsSchema(t *testing.T, ledger []byte) {
	t.Helper()
	s, err := schema.Published("ledger-1")
	require.NoError(t, err)
	assert.NoError(t, s.CheckLines(ledger))
}
