package probe_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/fidelity/internal/probe"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/scripted"
)

// resumed are cheap probes, with units of one answer and of several.
var resumed = []string{evidence.Sanity, evidence.SelfNoise, evidence.Repeats, evidence.Warm}

// counting counts the chat requests of a client.
type counting struct {
	http.RoundTripper
	mu sync.Mutex
	n  int
}

func (c *counting) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Path == "/v1/chat/completions" {
		c.mu.Lock()
		c.n++
		c.mu.Unlock()
	}
	return c.RoundTripper.RoundTrip(r)
}

func ledgerRun(t testing.TB, path string) (evidence.Set, int) {
	t.Helper()
	s := serve(t, scripted.Options{Window: 4096})
	w := &counting{RoundTripper: s.engine.Transport()}
	c, err := endpoint.New(endpoint.Options{BaseURL: "http://engine.test", Model: "scripted", Transport: w})
	require.NoError(t, err)
	s.o.Client, s.o.Only, s.o.Ledger, s.o.Parallel = c, resumed, path, 3
	set := s.run(t, nil)
	for i := range set.Answers { // a resumed run numbers its requests anew
		set.Answers[i].Order = 0
	}
	return set, w.n
}

// A run that was killed anywhere MUST go on at the cases in flight: nothing that was answered is lost or asked again,
// and the evidence is that of a run in one piece.
func TestResume(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "answers.jsonl")
	want, all := ledgerRun(t, path)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := bytes.SplitAfter(bytes.TrimSuffix(whole, []byte("\n")), []byte("\n"))
	require.Len(t, lines, all+1, "a line for the run and one for each answer")

	steps := map[string]int{}
	for _, l := range lines[1:] {
		steps[caseOf(t, l)]++
	}
	for _, cut := range []int{
		len(lines[0]) + 3, len(whole) / 3, len(whole) / 2, len(whole)*4/5 + 1, len(whole) - 1, len(whole),
	} {
		require.NoError(t, os.WriteFile(path, whole[:cut], 0o644))
		done := 0
		have := map[string]int{}
		for _, l := range bytes.SplitAfter(whole[:bytes.LastIndexByte(whole[:cut], '\n')+1], []byte("\n"))[1:] {
			if len(l) > 0 {
				have[caseOf(t, l)]++
			}
		}
		for id, n := range have {
			if n == steps[id] {
				done += n
			}
		}
		got, asked := ledgerRun(t, path)
		assert.Equal(t, want, got, "cut at %d of %d bytes", cut, len(whole))
		assert.Equal(t, all-done, asked, "cut at %d: %d answers of whole cases were kept", cut, done)
		again, none := ledgerRun(t, path)
		assert.Equal(t, want, again)
		assert.Zero(t, none, "a run that is done asks nothing")
	}
}

func caseOf(t testing.TB, line []byte) string {
	t.Helper()
	var r probe.Record
	require.NoError(t, json.Unmarshal(line, &r))
	require.NotEmpty(t, r.Case)
	return r.Case
}

// A ledger of another run, or a file of something else, MUST be refused with a sentence.
func TestForeignLedger(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "answers.jsonl")
	s := serve(t, scripted.Options{Window: 4096})
	s.o.Only, s.o.Ledger = []string{evidence.Sanity}, path
	s.run(t, nil)
	for name, change := range map[string]func(o *probe.Options){
		"seed": func(o *probe.Options) { o.Seed = 9 }, "budget": func(o *probe.Options) { o.Budget = probe.Full },
		"text": func(o *probe.Options) { h := *o.Haystack; h.SHA256 = "other"; o.Haystack = &h },
	} {
		o := s.o
		change(&o)
		r, err := probe.New(o)
		require.NoError(t, err)
		_, err = r.Run(t.Context())
		assert.ErrorContains(t, err, "of another run", name)
	}
	for _, content := range []string{"hello\n", "{\"case\":\"sanity/q0\"}\n"} {
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
		r, err := probe.New(s.o)
		require.NoError(t, err)
		_, err = r.Run(t.Context())
		assert.ErrorContains(t, err, "not written by this program")
		left, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, content, string(left), "a refused file stays as it is")
	}
}
