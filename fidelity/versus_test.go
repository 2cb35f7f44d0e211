package fidelity_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/internal/recall"
	"github.com/assay-suite/assay/fidelity/internal/session"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/needle"
	"github.com/assay-suite/assay/internal/schema"
	"github.com/assay-suite/assay/internal/suite"
)

// farLost answers wrong where the prompt is long, one way or another a fault of the far path.
func farLost(q request) (int, string, string, string) {
	if needle.Units(q.prompt()) > 300 {
		return 200, "11111", "", "stop"
	}
	return 200, q.truth(), "", "stop"
}

func clientOf(t *testing.T, e *engine) *endpoint.Client {
	t.Helper()
	c, err := endpoint.New(endpoint.Options{
		BaseURL:   "http://engine.test",
		Transport: handler{e},
		Limits:    endpoint.Limits{MaxTries: 1},
	})
	require.NoError(t, err)
	return c
}

// Two servers, asked in turns with an A/A arm.
func TestCompareServers(t *testing.T) {
	againLost := func(q request) (int, string, string, string) {
		if strings.Contains(q.Salt, "-again") {
			return farLost(q)
		}
		return 200, q.truth(), "", "stop"
	}
	shed := func(q request) (int, string, string, string) {
		if strings.Contains(q.prompt(), "archive is") && needle.Units(q.prompt()) > 900 {
			return 429, "", "", ""
		}
		return 200, q.truth(), "", "stop"
	}
	for name, row := range map[string]struct {
		before, now *engine
		code        suite.Code
		words       []string
	}{
		"healthy": {
			&engine{version: "1"}, &engine{version: "1"}, suite.Pass, []string{
				"far held", "both fingerprints are the same", "the first server against itself: held",
			},
		},
		"another-build": {
			&engine{version: "1"}, &engine{version: "2"}, suite.Pass, []string{`version.version: "1", then "2"`},
		},
		"faulty": {
			&engine{version: "1"}, &engine{version: "2", answer: farLost}, suite.Regression, []string{
				"far regressed", "again    curl", "requests/now--",
			},
		},
		"better":         {&engine{answer: farLost}, &engine{}, suite.Pass, []string{"far held"}},
		"both-weak":      {&engine{answer: farLost}, &engine{answer: farLost}, suite.Pass, []string{"far held"}},
		"restless":       {&engine{answer: againLost}, &engine{}, suite.Inconclusive, []string{"against itself: regressed"}},
		"no-room":        {&engine{}, &engine{answer: shed}, suite.Inconclusive, []string{"cells unmeasured"}},
		"no-cache-proof": {&engine{noCached: true}, &engine{}, suite.Pass, []string{"not both servers report cached_tokens"}},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			var ledger []suite.Result
			v := session.Versus{
				Before: clientOf(t, row.before), Now: clientOf(t, row.now), Haystack: haystack(t), Budget: recall.Smoke,
				Parallel: 3,
				Dir:      t.TempDir(), Out: &out, Result: func(r suite.Result) error {
					ledger = append(ledger, r)
					return r.Validate()
				},
			}
			v.Style.Findings = 3
			c, err := v.Run(t.Context())
			require.NoError(t, err)
			if c.Code != row.code {
				t.Errorf("code %d %q, want %d", c.Code, c.Verdict, row.code)
			}
			for _, w := range row.words {
				if !strings.Contains(out.String(), w) {
					t.Errorf("the terminal does not say %q:\n%s", w, &out)
				}
			}
			for id, o := range c.Arms[session.ArmBefore] {
				if a, n := c.Arms[session.ArmAgain][id],
					c.Arms[session.ArmNow][id]; a.PromptSHA != o.PromptSHA || n.PromptSHA != o.PromptSHA {
					t.Errorf("%s was asked in other words: %s, %s, %s", id, o.PromptSHA, a.PromptSHA, n.PromptSHA)
				}
			}
			if want := 3*len(c.Arms[session.ArmNow]) + 2; len(ledger) != want {
				t.Errorf("%d lines in the ledger, want %d", len(ledger), want)
			}
		})
	}
}

// Run folders pair by prompts, and only by the same ones.
func TestCompareFolders(t *testing.T) {
	run := func(e *engine, change func(*session.Job)) string {
		srv := httptest.NewServer(e)
		defer srv.Close()
		dir := t.TempDir()
		j := ledgerJob(t, srv.URL, dir)
		change(&j)
		_, err := j.Run(t.Context())
		require.NoError(t, err)
		return dir
	}
	same := func(*session.Job) {}
	healthy, again, faulty := run(&engine{version: "1"}, same), run(&engine{version: "1"}, same), run(&engine{
		version: "2",
		answer:  farLost,
	}, same)
	blessed := run(&engine{version: "1"}, func(j *session.Job) { j.Repeats = 4 })
	other := run(&engine{}, func(j *session.Job) {
		h, err := needle.Open("generated", 1, 20_000)
		require.NoError(t, err)
		j.Haystack = h
	})
	for name, row := range map[string]struct {
		before, now string
		code        suite.Code
		words       string
	}{
		"healthy": {healthy, again, suite.Pass, "no A/A arm"},
		"faulty":  {healthy, faulty, suite.Regression, `version.version: "1", then "2"`},
		"better":  {faulty, healthy, suite.Pass, "far held"},
		"blessed": {blessed, faulty, suite.Regression, "the first server against itself: held"},
		"cut-off": {healthy, cutOff(t, faulty, 12), suite.Inconclusive, "cells to ask"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			c, err := session.Folders{Before: row.before, Now: row.now, Out: &out, Dir: t.TempDir()}.Run()
			require.NoError(t, err)
			if c.Code != row.code || !strings.Contains(out.String(), row.words) {
				t.Errorf("code %d %q, want %d and %q:\n%s", c.Code, c.Verdict, row.code, row.words, &out)
			}
		})
	}
	for name, pair := range map[string][2]string{"other-prompts": {healthy, other}, "no-run": {healthy, t.TempDir()}} {
		if _, err := (session.Folders{Before: pair[0], Now: pair[1], Out: &bytes.Buffer{}}).Run(); !errors.Is(err,
			session.ErrOtherRun) {
			t.Errorf("%s: got %v, want ErrOtherRun", name, err)
		}
	}
}

// The whole way of a user: bless a server, change it, ask again.
func TestJobAgainstItsGolden(t *testing.T) {
	e := &engine{version: "1"}
	j, _ := onFake(t, e)
	j.Repeats = 4
	d, err := j.Run(t.Context())
	require.NoError(t, err)
	cases, left, err := recall.Bless(d.Plan, d.Repeats, recall.Blessing{
		Reason: "first build",
		Server: d.Server,
		Source: "test",
	})
	require.NoError(t, err)
	raw, err := json.Marshal(cases)
	require.NoError(t, err)
	if left != "" || len(cases) < 90 {
		t.Errorf("%d cases, left out %q", len(cases), left)
	}
	for name, row := range map[string]struct {
		engine *engine
		code   suite.Code
		words  []string
	}{
		"unchanged": {&engine{version: "1"}, suite.Pass, []string{"far held: 0 lost", "near held"}},
		"another-build": {
			&engine{version: "2"}, suite.Pass, []string{"changed since the golden", `version.version: "1", then "2"`},
		},
		"no-log-probs": {
			&engine{version: "1", noLogprobs: true}, suite.Inconclusive, []string{"right answers without a margin"},
		},
		"another-server-without": {
			&engine{anonymous: true, noLogprobs: true}, suite.Pass, []string{"recall alone decides"},
		},
		"faulty": {
			&engine{version: "1", answer: farLost}, suite.Regression, []string{"far regressed: 10 lost", "again        curl"},
		},
		"a-few-lost": {
			&engine{version: "1", answer: someLost(4)}, suite.Regression, []string{"cells were asked besides the plan"},
		},
		"too-few-to-say": {&engine{version: "1", answer: someLost(24)}, suite.Pass, []string{"far held"}},
	} {
		t.Run(name, func(t *testing.T) {
			j, out := onFake(t, row.engine)
			j.EveryCurl = true
			var families []string
			j.Golden = func(family string) (*recall.Golden, error) {
				families = append(families, family)
				if family != "fidelity/scripted/opticks-smoke" {
					return nil, nil
				}
				var back map[string]any
				require.NoError(t, json.Unmarshal(raw, &back))
				return recall.ParseGolden(family, back)
			}
			d, err := j.Run(t.Context())
			require.NoError(t, err)
			if d.Judgement.Code != row.code {
				t.Errorf("code %d %q, want %d\n%s", d.Judgement.Code, d.Judgement.Verdict, row.code, out)
			}
			for _, w := range row.words {
				if !strings.Contains(out.String(), w) {
					t.Errorf("the terminal does not say %q:\n%s", w, out)
				}
			}
			if len(families) != 1 {
				t.Errorf("goldens looked for: %q", families)
			}
		})
	}
}

// someLost loses about one in n of the long prompts' needles, the same ones at every look.
func someLost(n uint32) func(request) (int, string, string, string) {
	return func(q request) (int, string, string, string) {
		var h uint32 = 2166136261
		for _, b := range []byte(q.truth()) {
			h = (h ^ uint32(b)) * 16777619
		}
		if h%n == 0 {
			return farLost(q)
		}
		return 200, q.truth(), "", "stop"
	}
}

// cutOff is a run folder whose run ended after some lines.
func cutOff(t *testing.T, folder string, lines int) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(folder, "results.jsonl"))
	require.NoError(t, err)
	published, err := schema.Published("ledger-1")
	require.NoError(t, err)
	require.NoError(t, published.CheckLines(raw))
	dir := t.TempDir()
	part := bytes.Join(bytes.SplitAfter(raw, []byte("\n"))[:lines], nil)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "results.jsonl"), part, 0o600))
	return dir
}
