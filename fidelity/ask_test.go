package fidelity_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/internal/recall"
	"github.com/assay-suite/assay/fidelity/internal/session"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/internal/suite"
)

const canary = "sk-canary-7f3a9c5b"

// onFake is the whole job on a scripted engine.
func onFake(t *testing.T, e http.Handler) (session.Job, *bytes.Buffer) {
	t.Helper()
	c, err := endpoint.New(endpoint.Options{
		BaseURL:   "http://engine.test/v1",
		APIKey:    canary,
		Transport: handler{e},
		Limits:    endpoint.Limits{MaxTries: 1},
	})
	require.NoError(t, err)
	var out bytes.Buffer
	return session.Job{
		Title: "scripted", Client: c, Secret: canary, Haystack: haystack(t), Budget: recall.Smoke, Parallel: 3,
		Out: &out, Style: report.Style{Findings: 3}, Dir: t.TempDir(), Record: "go tool mage bless",
	}, &out
}

func TestJobOnScriptedEngines(t *testing.T) {
	wrong := func(request) (int, string, string, string) { return 200, "11111", "", "stop" }
	for name, row := range map[string]struct {
		engine *engine
		code   suite.Code
		out    []string // on the terminal
	}{
		"healthy": {
			&engine{}, suite.Pass, []string{
				"recall 9/9", "warm = cold", "go tool mage bless", "none for fidelity/scripted/opticks-smoke",
			},
		},
		"no-tokenize": {
			&engine{noTokenize: true}, suite.Pass, []string{
				"tokenize unsupported", "one more request of that length", "recall 9/9",
			},
		},
		"no-logprobs": {&engine{noLogprobs: true}, suite.Pass, []string{"logprobs unsupported"}},
		"no-cache-info": {
			&engine{noCached: true}, suite.Pass, []string{"cached_tokens unknown", "the server does not report cached_tokens"},
		},
		"salts-ignored": {&engine{noSalt: true}, suite.Pass, []string{"cache_salt unsupported", "hits proven 2/2"}},
		// Seven short questions, all wrong: 0.05^(1/7) = 65 % of such questions at least.
		"smoke-wrong": {&engine{answer: wrong}, suite.Regression, []string{
			"7 of 7 short questions asked alone are wrong, at least 65.2 %",
		}},
		"always-wrong": {
			&engine{answer: wrong}, suite.Regression, []string{
				"recall lost at every length", "a wrong chat template", "curl -sS http://engine.test/v1/chat/completions",
			},
		},
		"errors": {&engine{answer: func(q request) (int, string, string, string) {
			if strings.Contains(q.prompt(), "archive is") {
				return 500, "", "", ""
			}
			return 200, "12345", "", "stop"
		}}, suite.ToolError, []string{"unmeasured"}},
	} {
		t.Run(name, func(t *testing.T) {
			j, out := onFake(t, row.engine)
			if name == "always-wrong" {
				j.Budget = recall.Standard
			}
			d, err := j.Run(t.Context())
			require.NoError(t, err)
			if d.Judgement.Code != row.code {
				t.Errorf("code %d: %s, want %d\n%s", d.Judgement.Code, d.Judgement.Verdict, row.code, out)
			}
			for _, want := range row.out {
				if !strings.Contains(out.String(), want) {
					t.Errorf("the terminal does not say %q:\n%s", want, out)
				}
			}
			noKey(t, j.Dir, out.String())
		})
	}
}

// noKey looks through everything that a run leaves behind.
func noKey(t *testing.T, dir, out string) {
	t.Helper()
	if strings.Contains(out, canary) {
		t.Error("the key is on the terminal")
	}
	files := 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(canary)) {
			t.Errorf("%s holds the key", path)
		}
		return err
	})
	require.NoError(t, err)
	if files < 20 {
		t.Errorf("only %d files in the run folder: reports and requests are missing", files)
	}
}

// A measured prompt is never sent before it is measured: counting goes under other first words.
func TestPromptsAreColdAndOfTheWantedLength(t *testing.T) {
	for name, e := range map[string]*engine{"tokenize": {}, "usage": {noTokenize: true}} {
		t.Run(name, func(t *testing.T) {
			j, _ := onFake(t, e)
			d, err := j.Run(t.Context())
			require.NoError(t, err)
			times := map[string]int{}
			for _, q := range e.chats {
				times[q.prompt()]++
			}
			for _, p := range e.tokenized {
				times[p]++
			}
			for _, o := range d.Observations {
				want := 1
				if o.Cell.Family == recall.Cache {
					want = 2
				}
				if times[o.Prompt] != want {
					t.Errorf("%s: its prompt went over the wire %d times, want %d", o.Cell.ID, times[o.Prompt], want)
				}
				off := o.Tokens.N - o.Cell.Tokens
				if max(off, -off) > max(16, o.Cell.Tokens*2/100) {
					t.Errorf("%s: %d tokens by the server, want %d within max(2 %%, 16)", o.Cell.ID, o.Tokens.N, o.Cell.Tokens)
				}
				if o.Cell.Arm != "warm" && o.Cached.N > 0 {
					t.Errorf("%s: %d tokens were cached, so the cell was not cold", o.Cell.ID, o.Cached.N)
				}
			}
		})
	}
}

// An answer that was all thoughts gets one more try with four times the budget, and is no miss.
func TestBudgetIsRetriedOnce(t *testing.T) {
	for name, row := range map[string]struct {
		enough int
		finish string // of an answer that ran out
		class  string
	}{
		"four-times-is-enough": {1000, "length", "exact"}, "never-enough": {1 << 30, "length", "budget"},
		"called-finished": {1000, "stop", "exact"},
	} {
		t.Run(name, func(t *testing.T) {
			e := &engine{answer: func(q request) (int, string, string, string) {
				if q.Max < row.enough && q.Max > 4 {
					return 200, "", "let me think", row.finish
				}
				return 200, q.truth(), "", "stop"
			}}
			j, _ := onFake(t, e)
			d, err := j.Run(t.Context())
			require.NoError(t, err)
			asked := map[string][]int{}
			for _, q := range e.chats {
				asked[q.prompt()] = append(asked[q.prompt()], q.Max)
			}
			for _, o := range d.Observations {
				if o.Class != row.class || o.Measured != (row.class == "exact") {
					t.Errorf("%s is classed %q, measured %v; want %q", o.Cell.ID, o.Class, o.Measured, row.class)
				}
				if got := fmt.Sprint(asked[o.Prompt]); o.Cell.Family != recall.Cache && got != "[256 1024]" {
					t.Errorf("%s was asked with budgets %s, want [256 1024]", o.Cell.ID, got)
				}
			}
			if row.class == "budget" && d.Judgement.Code != suite.Inconclusive {
				t.Errorf("nothing was measured and the code is %d", d.Judgement.Code)
			}
		})
	}
}

// A server that goes away in the middle ends the run as unreachable; one that never was does so at once.
func TestUnreachable(t *testing.T) {
	gone := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	for name, after := range map[string]int{"from-the-start": 0, "midway": 60} {
		t.Run(name, func(t *testing.T) {
			e, n := &engine{}, 0
			var mu sync.Mutex
			j, _ := onFake(t, e)
			c, err := endpoint.New(endpoint.Options{
				BaseURL: "http://engine.test",
				Transport: tripper(func(r *http.Request) (*http.Response, error) {
					mu.Lock()
					defer mu.Unlock()
					if n++; n > after {
						return nil, gone
					}
					return handler{e}.RoundTrip(r)
				}),
			})
			require.NoError(t, err)
			j.Client = c
			j.Result = func(r suite.Result) error {
				if r.Outcome == suite.Errored {
					t.Errorf("%s is a failure of the engine in the ledger (%s), and the run would end as a tool error", r.Case,
						r.Message)
				}
				return nil
			}
			if _, err := j.Run(t.Context()); !endpoint.IsUnreachable(err) {
				t.Errorf("got %v, want an unreachable endpoint", err)
			}
		})
	}
}

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Nothing of the plan is sent before the user agreed to it.
func TestDecline(t *testing.T) {
	e := &engine{}
	j, out := onFake(t, e)
	var question string
	before := 0
	j.Agree = func(q string) bool {
		question, before = q, len(e.chats)
		return false
	}
	if _, err := j.Run(t.Context()); !errors.Is(err, session.ErrDeclined) {
		t.Errorf("got %v, want ErrDeclined", err)
	}
	if len(e.chats) != before || !strings.Contains(question, "Send 24 requests") ||
		!strings.Contains(question, "engine.test") || !strings.Contains(out.String(), "prompt tokens") {
		t.Errorf("asked %q after printing %q; %d requests came after it", question, out, len(e.chats)-before)
	}
}

// What runs after recall puts its facts where the diagnosis would stand, and may end the run.
func TestAfterRecall(t *testing.T) {
	wrong := func(request) (int, string, string, string) { return 200, "11111", "", "stop" }
	j, out := onFake(t, &engine{answer: wrong})
	j.Budget = recall.Standard
	j.After = func(_ context.Context, d *session.Done) error {
		d.Report.Facts = append(d.Report.Facts, report.Fact{
			Label: "diagnosis",
			Text:  fmt.Sprintf("a probe's word on %d cells", len(d.Observations)),
		})
		return nil
	}
	d, err := j.Run(t.Context())
	require.NoError(t, err)
	want := fmt.Sprintf("a probe's word on %d cells", len(d.Plan.Cells))
	if !strings.Contains(out.String(), want) || strings.Count(out.String(), "diagnosis ") != 1 {
		t.Errorf("the terminal does not say %q once:\n%s", want, out)
	}
	j.After = func(context.Context, *session.Done) error { return errors.New("probes broke") }
	if _, err := j.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "probes broke") {
		t.Errorf("got %v, want the error of what ran after recall", err)
	}
}

// The cells of a burst are in flight together, whatever else is set.
func TestBurstsAreSentAtOnce(t *testing.T) {
	p, err := recall.NewPlan(recall.Standard, 8192)
	require.NoError(t, err)
	p = p.Only(func(c recall.Cell) bool { return c.Family == recall.Concurrency && c.Burst <= 2 })
	require.Len(t, p.Cells, 8)
	e := &engine{}
	var mu sync.Mutex
	waiting, open := 0, make(chan struct{})
	e.before = func() {
		mu.Lock()
		gate := open
		if waiting++; waiting%4 == 0 {
			close(open)
			open = make(chan struct{})
		}
		mu.Unlock()
		select { // the fourth opens the gate for all
		case <-gate:
		case <-t.Context().Done():
		}
	}
	for _, o := range askAll(t, handler{e}, flight("scripted"), p) {
		if !o.Hit {
			t.Errorf("%s: %s %v", o.Cell.ID, o.Class, o.Err)
		}
	}
}
