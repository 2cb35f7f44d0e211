package probe_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/fidelity/internal/probe"
	"github.com/assay-suite/assay/internal/scripted"
)

// wrong lists the arms with an answer that is not right, but for what a sound server refuses.
func wrong(set evidence.Set) []string {
	var out []string
	for _, a := range set.Arms {
		if a.Right < a.Runs && a.Classes["too-long"] < a.Runs {
			out = append(out, fmt.Sprintf("%s/%s %d of %d right: %v %q", a.Probe, a.Name, a.Right, a.Runs, a.Classes, a.Shows))
		}
	}
	return out
}

func unmeasured(set evidence.Set) []string {
	var out []string
	for _, a := range set.Arms {
		if a.Unmeasured > 0 {
			out = append(out, fmt.Sprintf("%s/%s %d: %s", a.Probe, a.Name, a.Unmeasured, set.Words[a.Probe+"/error-"+a.Name]))
		}
	}
	return out
}

// A healthy engine MUST answer every probe rightly, be measured in every arm, and cost no more than the plan said.
func TestHealthy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, scripted.Options{Window: 4096})
		s.o.Budget, s.o.Disrupt, s.o.Known.Pool = probe.Standard, true, 16384
		// The rungs of the ladder are most of the requests, and all alike here.
		s.o.Only = slices.DeleteFunc(evidence.Order(), func(p string) bool { return p == evidence.Ladder })
		seen := map[string]int{}
		var last probe.Progress
		s.o.Progress = func(p probe.Progress) { seen[p.Probe]++; last = p }
		r, err := probe.New(s.o)
		assert.NoError(t, err)
		plan := r.Plan()
		assert.Positive(t, plan.Cost().Tokens)
		before := s.o.Client.Requests()
		set, err := r.Run(t.Context())
		assert.NoError(t, err)
		assert.Empty(t, wrong(set))
		assert.Empty(t, unmeasured(set))
		for _, p := range s.o.Only {
			_, left := set.LeftOut[p]
			if p == evidence.Indexer || p == evidence.Ladder {
				assert.True(t, left, p)
				continue
			}
			assert.False(t, left, "%s: %s", p, set.LeftOut[p])
			assert.Positive(t, seen[p], p)
		}
		cost := plan.Cost()
		assert.LessOrEqual(t, last.Requests, cost.Requests)
		assert.LessOrEqual(t, last.Tokens, cost.Tokens)
		assert.Greater(t, s.o.Client.Requests(), before)
		for _, none := range []string{"length-sweep/edge", "shift/modulus", "shift/seam", "long-answer/onset"} {
			assert.NotContains(t, set.Numbers, none)
		}
		for name, want := range map[string]float64{
			"accounting/tokenize": 0, "accounting/raw-tokenize": 0, "accounting/kept-least": 1, "accounting/word": 1,
			"parity/differing": 0, "parity/replacement-characters": 0, "self-noise/distinct-texts": 1,
			"self-noise/logprob-spread": 0,
			"sampling/distinct-at-0":    1, "sampling/distinct-at-1": 6, "sampling/distinct-omitted": 6, "sampling/asked": 6,
			"cold-warm/prefixes-bad": 0, "cold-warm/prefixes-mixed": 0, "fork/replays": 0, "tools/rate": 1,
			"tools/schema-errors": 0,
			"long-answer/loops":   0, "long-answer/skipped": 0, "long-answer/foreign-script": 0, "sessions/groups": 1,
			"logprobs/prefill-decode-difference": 0,
		} {
			got, ok := set.Numbers[name]
			assert.True(t, ok, name)
			if got != want { // counts, and differences that are exactly none
				t.Errorf("%s is %v, want %v", name, got, want)
			}
		}
		text := set.Numbers["accounting/text"]
		for _, part := range []string{"system", "developer", "late-system", "tools", "reasoning", "reasoning-content"} {
			assert.GreaterOrEqual(t, set.Numbers["accounting/"+part], text, part)
		}
	})
}

// The controls MUST show no arm that is worse than the others.
func TestControls(t *testing.T) {
	for control := range scripted.Controls() {
		t.Run(control, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := serve(t, scripted.Options{Control: control, Window: 4096})
				set := s.run(t, func(o *probe.Options) {
					if seeds() == 1 {
						o.Only = []string{
							evidence.Sanity, evidence.Accounting, evidence.Parity, evidence.Sampling, evidence.Length, evidence.Warm,
							evidence.Fork, evidence.Turns, evidence.Ladder,
						}
					}
				})
				if control == scripted.WeakModel {
					right, runs := 0, 0
					for _, a := range set.Arms {
						right, runs = right+a.Right, runs+a.Runs
					}
					// One fact in five, and some questions are about none: below 4 standard deviations of a binomial is luck no more.
					n := float64(runs)
					assert.Greater(t, float64(right), n*0.8-4*math.Sqrt(n*0.16))
					assert.Less(t, right, runs)
					assert.NotContains(t, set.Numbers, "length-sweep/edge")
					return
				}
				assert.Empty(t, wrong(set))
				assert.Empty(t, set.Numbers["length-sweep/edge"])
			})
		})
	}
}
