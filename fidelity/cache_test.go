package fidelity_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/internal/recall"
	"github.com/assay-suite/assay/internal/endpoint"
)

func TestCacheGate(t *testing.T) {
	plan := standard(t)
	warm := func(f fake) func(int, recall.Cell) fake {
		return func(_ int, c recall.Cell) fake {
			if c.Arm == "warm" {
				return f
			}
			return fake{}
		}
	}
	someWarm := func(n int, f fake) func(int, recall.Cell) fake {
		return func(_ int, c recall.Cell) fake {
			if c.Arm == "warm" && n > 0 {
				n--
				return f
			}
			return fake{}
		}
	}
	exact, noisy := &recall.Noise{}, &recall.Noise{Nats: 0.01, Repeats: 3}
	for name, row := range map[string]struct {
		now      func(int, recall.Cell) fake
		noise    *recall.Noise
		reported bool
		standing recall.Standing
		words    string
	}{
		"equal":                   {healthy, exact, true, recall.Held, "warm = cold (hits proven 12/12)"},
		"rounding":                {warm(fake{shift: 1e-4}), exact, true, recall.Held, "warm = cold"},
		"one-text-differs":        {someWarm(1, fake{warm: "48213."}), exact, true, recall.Regressed, "in 1 of 12 pairs"},
		"margins-move":            {warm(fake{shift: 0.01}), exact, true, recall.Regressed, "largest shift 0.01 nat"},
		"within-known-noise":      {warm(fake{shift: 0.02}), noisy, true, recall.Held, "warm = cold"},
		"beyond-known-noise":      {warm(fake{shift: 0.05}), noisy, true, recall.Regressed, "12 of 12"},
		"unknown-noise-texts":     {warm(fake{warm: "48213 it is"}), nil, true, recall.Held, "proves nothing"},
		"unknown-noise-five-lost": {someWarm(5, fake{miss: true}), nil, true, recall.Regressed, "loses 5"}, // 2^-5 < 0.05
		"unknown-noise-four-lost": {someWarm(4, fake{miss: true}), nil, true, recall.Inconclusive, "loses 4"},
		"no-hit":                  {warm(fake{cold: true}), exact, true, recall.Inconclusive, "nothing is proven"},
		"hits-not-reported": {
			func(int, recall.Cell) fake { return fake{mute: true} }, exact, false, recall.Absent, "--enable-cache-report",
		},
		"reported-and-none": {warm(fake{cold: true}), exact, false, recall.Absent, "none of 12 prompts that were sent again"},
		"nothing-measured": {
			func(int, recall.Cell) fake { return fake{gap: true} }, exact, true, recall.Absent, "no pair",
		},
		"unproven-pairs-are-no-hit": {
			someWarm(3, fake{cold: true, warm: "11111"}), exact, true, recall.Held, "hits proven 9/12",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := recall.JudgeCache(script(plan, row.now), row.noise, row.reported)
			require.NoError(t, err)
			if r.Standing != row.standing || !strings.Contains(r.Text, row.words) {
				t.Errorf("%s: %q; want %s with %q", r.Standing, r.Text, row.standing, row.words)
			}
		})
	}
}

// A first request that already hits was not cold: such a pair compares warm with warm.
func TestCacheNeedsAColdArm(t *testing.T) {
	obs := script(standard(t), healthy)
	for i := range obs {
		if obs[i].Cell.Arm == "cold" {
			obs[i].Cached.N = 64
		}
	}
	r, err := recall.JudgeCache(obs, &recall.Noise{}, true)
	require.NoError(t, err)
	if r.Proven != 0 || r.Standing != recall.Inconclusive {
		t.Errorf("%d pairs proven and %s although no arm was cold", r.Proven, r.Standing)
	}
}

// cached_tokens that counts cold prompts as cached MUST prove nothing, with a golden as without one.
func TestCachedTokensOfColdPrompts(t *testing.T) {
	plan := standard(t)
	obs := script(plan, func(int, recall.Cell) fake { return fake{} })
	for i := range obs {
		obs[i].Tokens = endpoint.Count{N: obs[i].Cell.Tokens, Known: true}
		obs[i].Cached = endpoint.Count{N: obs[i].Cell.Tokens - 1, Known: true}
	}
	r, err := recall.JudgeCache(obs, nil, true)
	require.NoError(t, err)
	require.Equal(t, recall.Inconclusive, r.Standing)
	require.Contains(t, r.Text, "cached_tokens proves nothing: 12 of 12 prompts that nobody sent before")
}
