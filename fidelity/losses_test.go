package fidelity_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/internal/recall"
	"github.com/assay-suite/assay/fidelity/internal/session"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/scripted"
	"github.com/assay-suite/assay/internal/suite"
)

// plant is one of the scripted engine's losses, with a variant of its own where it is not negative.
type plant struct {
	name    string
	variant int
}

// played is a client of the scripted engine with a plant; an empty name is a sound engine.
func played(t *testing.T, p plant) *endpoint.Client {
	t.Helper()
	o := scripted.Options{Seed: 5, Gather: 1}
	if p.name != "" {
		o.Faults = []string{p.name}
	}
	if p.variant >= 0 {
		o.Params = map[string]scripted.Params{p.name: {"variant": p.variant}}
	}
	e, err := scripted.New(o)
	require.NoError(t, err)
	c, err := endpoint.New(endpoint.Options{BaseURL: "http://engine.test", Transport: e.Transport()})
	require.NoError(t, err)
	return c
}

func plants() map[string]plant {
	out := map[string]plant{"": {"", -1}}
	for _, name := range []string{"every-nth", "misses-everywhere", "half-answers", "others-kv", "misses-little"} {
		out[name] = plant{name, -1}
	}
	for i, name := range []string{"zero", "shifted", "base-10", "probabilities"} {
		out["logprobs "+name] = plant{"logprobs", i}
	}
	return out
}

// expected is the code of a plant and what the terminal says; live, compare and diagnose agree on it.
var expected = map[string]struct {
	code suite.Code
	says string
}{
	"":                       {suite.Pass, "asked, 0 wrong"},
	"misses-little":          {suite.Pass, "wrong"},
	"every-nth":              {suite.Regression, "every 4th request fails"},
	"misses-everywhere":      {suite.Regression, "short questions asked alone are wrong"},
	"half-answers":           {suite.Regression, "short questions asked alone are wrong"},
	"others-kv":              {suite.Regression, "warm"},
	"logprobs zero":          {suite.Inconclusive, "log-probabilities are all equal"},
	"logprobs shifted":       {suite.Inconclusive, "log-probabilities are not those of the answer"},
	"logprobs base-10":       {suite.Inconclusive, "log-probabilities are logarithms to base 10"},
	"logprobs probabilities": {suite.Inconclusive, "log-probabilities are probabilities, not logs"},
}

// A loss without a contrast, and log-probabilities that are none, MUST NOT pass a live run without a golden, nor a
// comparison of the server with itself; a sound model MUST.
func TestLossesLive(t *testing.T) {
	for name, p := range plants() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				j := session.Job{
					Title: "live", Client: played(t, p), Haystack: haystack(t), Budget: recall.Standard, Parallel: 1, Out: &out,
					Dir: t.TempDir(), Keep: func(c recall.Cell) bool { return c.Tokens <= 1024 },
				}
				d, err := j.Run(t.Context())
				require.NoError(t, err)
				want := expected[name]
				assert.Equal(t, want.code, d.Judgement.Code, "%s\n%s", d.Judgement.Verdict, d.Judgement.Totals.Lines())
				assert.Contains(t, out.String(), want.says)
				incident, err := os.ReadFile(filepath.Join(j.Dir, "incident.txt"))
				require.NoError(t, err)
				all := d.Judgement.Totals.All
				assert.Contains(t, string(incident), fmt.Sprintf("answers %d asked, %d wrong", all.Asked, all.Wrong))
			})
		})
	}
}

func TestLossesCompared(t *testing.T) {
	for _, name := range []string{"", "every-nth", "misses-everywhere", "half-answers", "logprobs zero"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				v := session.Versus{
					Before: played(t, plants()[name]), Now: played(t, plants()[name]), Haystack: haystack(t), Budget: recall.Standard,
					Parallel: 1, Out: &out,
				}
				c, err := v.Run(t.Context())
				require.NoError(t, err)
				assert.Equal(t, expected[name].code, c.Code, "%s\n%s", c.Verdict, out.String())
			})
		})
	}
}

// A model whose recall declines by 60 % at 8,192 tokens MUST be neither a fault nor a pass: a golden of a sound build
// is what can tell.
func TestDeclineLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := scripted.New(scripted.Options{
			Seed: 2, Gather: 1, Window: 8192, Faults: []string{"declines"},
			Params: map[string]scripted.Params{"declines": {"percent": 60}},
		})
		require.NoError(t, err)
		c, err := endpoint.New(endpoint.Options{BaseURL: "http://engine.test", Transport: e.Transport()})
		require.NoError(t, err)
		var out bytes.Buffer
		d, err := session.Job{
			Title: "live", Client: c, Haystack: haystack(t), Budget: recall.Full, Parallel: 2, Out: &out,
		}.Run(t.Context())
		require.NoError(t, err)
		assert.Equal(t, suite.Inconclusive, d.Judgement.Code, "%s\n%s", d.Judgement.Verdict, d.Judgement.Totals.Lines())
		assert.Contains(t, d.Judgement.Verdict, "recall declines with length; bless a golden of a sound build")
	})
}
