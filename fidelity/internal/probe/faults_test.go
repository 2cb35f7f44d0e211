package probe_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/fidelity/internal/probe"
	"github.com/assay-suite/assay/internal/scripted"
)

// sign is what a probe's evidence has under a kind of fault and not on a healthy engine.
type sign struct {
	only    []string
	budget  probe.Budget
	disrupt bool
	seen    func(e evidence.Set) bool
}

func smoke(seen func(e evidence.Set) bool, only ...string) sign {
	return sign{only: only, budget: probe.Smoke, seen: seen}
}

func standard(seen func(e evidence.Set) bool, only ...string) sign {
	return sign{only: only, budget: probe.Standard, seen: seen}
}

func disrupt(budget probe.Budget, seen func(e evidence.Set) bool, only ...string) sign {
	return sign{only: only, budget: budget, disrupt: true, seen: seen}
}

// share is the share of right answers over the arms of a probe whose names begin so; 1 where none was measured.
func share(e evidence.Set, probe, prefix string) float64 {
	right, runs := 0, 0
	for _, a := range e.Of(probe) {
		if strings.HasPrefix(a.Name, prefix) {
			right, runs = right+a.Right, runs+a.Runs
		}
	}
	if runs == 0 {
		return 1
	}
	return float64(right) / float64(runs)
}

// class is how many answers of a probe are of a class.
func class(e evidence.Set, probe, prefix string, classes ...string) int {
	n := 0
	for _, a := range e.Of(probe) {
		if strings.HasPrefix(a.Name, prefix) {
			for _, c := range classes {
				n += a.Classes[c]
			}
		}
	}
	return n
}

func num(e evidence.Set, probe, name string) float64 {
	v, _ := e.Number(probe, name)
	return v
}

func edge(e evidence.Set) bool {
	_, ok := e.Number(evidence.Length, "edge")
	return ok
}

func dropped(e evidence.Set, parts ...string) bool {
	return slices.ContainsFunc(parts, func(p string) bool {
		v, ok := e.Number(evidence.Accounting, p)
		return ok && v < num(e, evidence.Accounting, "text")/2
	})
}

func kept(below float64) func(evidence.Set) bool {
	return func(e evidence.Set) bool {
		v, ok := e.Number(evidence.Accounting, "kept-least")
		return ok && v < below
	}
}

func wrongIn(probe string, prefixes ...string) func(evidence.Set) bool {
	return func(e evidence.Set) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return share(e, probe, p) < 1 })
	}
}

func signs() map[string]sign {
	return map[string]sign{
		"head-cut":   smoke(kept(0.9), evidence.Length),
		"middle-cut": standard(kept(0.99), evidence.Length),
		"overflow-swallowed": standard(func(e evidence.Set) bool {
			return edge(e) && class(e, evidence.Length, "", "empty") > 1
		}, evidence.Length),
		"window-split": standard(wrongIn(evidence.OverLimit, "under", "together"), evidence.OverLimit),
		"message-dropped": smoke(func(e evidence.Set) bool { return dropped(e, "developer", "late-system", "tools") },
			evidence.Accounting),
		"reasoning-lost": smoke(func(e evidence.Set) bool { return dropped(e, "reasoning", "reasoning-content") },
			evidence.Accounting),
		"open-thought": smoke(func(e evidence.Set) bool {
			return share(e, evidence.Turns, "open-think") < 0.5 && share(e, evidence.Turns, "closed-think") == 1
		}, evidence.Turns),
		"bos": smoke(func(e evidence.Set) bool {
			return num(e, evidence.Accounting, "tokenize") != 0 && num(e, evidence.Accounting, "raw-tokenize") == 0
		}, evidence.Accounting),
		"generation-prompt": standard(func(e evidence.Set) bool {
			v, ok := e.Number(evidence.Tools, "rate")
			return ok && v < 0.7
		}, evidence.Tools),
		"sparse-selection": smoke(func(e evidence.Set) bool {
			return edge(e) && share(e, evidence.Cue, "verbatim") > share(e, evidence.Cue, "paraphrase") &&
				share(e, evidence.Depth, "tail-32") == 1
		}, evidence.Length, evidence.Depth, evidence.Cue),
		"tail-only": smoke(func(e evidence.Set) bool {
			return edge(e) && share(e, evidence.Depth, "depth-0") == 0 && share(e, evidence.Depth, "tail-32") == 1
		}, evidence.Length, evidence.Depth),
		"junk-cliff": smoke(func(e evidence.Set) bool {
			return edge(e) && class(e, evidence.Depth, "tail-32", "junk", "invented") > 0
		}, evidence.Length, evidence.Depth),
		"position-encoding": standard(func(e evidence.Set) bool {
			return share(e, evidence.Distance, "distance") < 1 && share(e, evidence.Distance, "distance-256") == 1
		}, evidence.Distance),
		"chunk-seam": standard(func(e evidence.Set) bool { return edge(e) || num(e, evidence.Shift, "seam") > 0 },
			evidence.Length, evidence.Shift),
		"phase": standard(func(e evidence.Set) bool { return num(e, evidence.Shift, "modulus") > 0 }, evidence.Shift),
		"window-on-all-layers": smoke(func(e evidence.Set) bool {
			return edge(e) && class(e, evidence.Length, "", "empty") > 0
		}, evidence.Length),
		"coarse-kv": standard(func(e evidence.Set) bool { return class(e, evidence.Length, "", "near-miss") > 1 },
			evidence.Length),
		"warm-forgets":  smoke(warmBad, evidence.Warm),
		"warm-junk":     smoke(warmBad, evidence.Warm),
		"replay":        smoke(wrongIn(evidence.Fork, "b1", "b2"), evidence.Fork),
		"key-collision": standard(wrongIn(evidence.Fork, "image-b"), evidence.Fork),
		"tier-restore":  disrupt(probe.Standard, wrongIn(evidence.Evict, "returned", "again"), evidence.Evict),
		"poisoned-prefix": standard(func(e evidence.Set) bool { return num(e, evidence.Warm, "prefixes-bad") > 0 },
			evidence.Warm),
		"cross-talk": disrupt(probe.Standard, func(e evidence.Set) bool {
			return class(e, evidence.Ladder, "n", "other-needle") > 0
		}, evidence.Ladder),
		"load-junk": disrupt(probe.Standard, wrongIn(evidence.Ladder, "n32", "n4"), evidence.Ladder),
		"unequal-batch": standard(func(e evidence.Set) bool {
			return share(e, evidence.Ladder, "n2-unique-unequal") < 1 || share(e, evidence.Ladder, "n4-unique-unequal") < 1
		}, evidence.Ladder),
		"early-finisher": disrupt(probe.Standard, wrongIn(evidence.Ladder, "n4", "n8"), evidence.Ladder),
		"abort-damage": disrupt(probe.Standard, func(e evidence.Set) bool {
			return share(e, evidence.Aborts, "before") == 1 && wrongIn(evidence.Aborts, "during", "after")(e)
		}, evidence.Aborts),
		"drift": disrupt(probe.Standard, func(e evidence.Set) bool {
			return share(e, evidence.Soak, "block-0") == 1 && share(e, evidence.Soak, "block-9") < 1
		}, evidence.Soak),
		"late-degeneration": standard(func(e evidence.Set) bool { return num(e, evidence.LongAnswer, "loops") > 0 },
			evidence.LongAnswer),
		"speculation": standard(func(e evidence.Set) bool {
			return num(e, evidence.Sampling, "distinct-at-1") == 1 || wrongIn(evidence.LongAnswer, "alone")(e)
		}, evidence.Sampling, evidence.LongAnswer),
		"dead-logits": smoke(func(e evidence.Set) bool {
			return share(e, evidence.Sanity, "q") == 0 && e.Numbers["logprobs/spread"] == 0
		}, evidence.Sanity, evidence.Logprobs),
		"foreign-script": standard(func(e evidence.Set) bool { return num(e, evidence.LongAnswer, "foreign-script") > 0 },
			evidence.LongAnswer),
		"special-token-leak": standard(wrongIn(evidence.Tools, "copy"), evidence.Tools),
		"prompt-not-seen":    smoke(kept(0.01), evidence.Length),
		"decode-path": standard(func(e evidence.Set) bool {
			return share(e, evidence.FirstToken, "late") < share(e, evidence.FirstToken, "one-word")
		}, evidence.FirstToken),
		"stream-layer": smoke(func(e evidence.Set) bool {
			return num(e, evidence.Parity, "differing") > 0 || num(e, evidence.Parity, "replacement-characters") > 0
		}, evidence.Parity),
		"tool-arguments": standard(func(e evidence.Set) bool {
			return share(e, evidence.Tools, "copy-whole") == 1 && wrongIn(evidence.Tools, "copy-stream", "parallel")(e)
		}, evidence.Tools),
		"wrong-finish": standard(wrongIn(evidence.Tools, "cut"), evidence.Tools),
		"bad-replica": standard(func(e evidence.Set) bool { return num(e, evidence.Sessions, "groups") == 2 },
			evidence.Sessions),
		"hidden-sampling": smoke(func(e evidence.Set) bool {
			return num(e, evidence.Sampling, "distinct-omitted") < num(e, evidence.Sampling, "distinct-at-1") ||
				share(e, evidence.Sampling, "omitted") < share(e, evidence.Sampling, "explicit")
		}, evidence.Sampling),
		"wrong-prompt": smoke(func(e evidence.Set) bool {
			return edge(e) && class(e, evidence.Length, "", "filler-echo", "invented") > 0
		}, evidence.Length),
	}
}

func warmBad(e evidence.Set) bool {
	return num(e, evidence.Warm, "prefixes-bad") > 0 && share(e, evidence.Warm, "cold") == 1 &&
		share(e, evidence.Warm, "first-changed") == 1
}

func seeds() uint64 {
	if v, _ := os.LookupEnv("ASSAY_BUDGET"); v == "full" {
		return 4
	}
	return 1
}

func smallest(k scripted.Kind) scripted.Params {
	out := scripted.Params{}
	for _, p := range k.Params {
		if len(p.Choices) > 0 && p.Name != "percent" && p.Name != "bos" {
			out[p.Name] = slices.Min(p.Choices)
			if p.Name == "active" {
				out[p.Name] = 4
			}
		}
	}
	return out
}

// Each kind MUST show in the evidence of the probe that is meant for it, for parameters drawn from each seed, and not
// on a healthy engine.
func TestEveryFaultShows(t *testing.T) {
	table := signs()
	for _, k := range scripted.Kinds() {
		if k.Slug == scripted.BenignNoise || k.Slug == scripted.ThinkingBudget {
			continue
		}
		t.Run(k.ID+"-"+k.Slug, func(t *testing.T) {
			g, ok := table[k.Slug]
			require.True(t, ok, "no probe shows %s", k.Slug)
			missed := 0
			for seed := range seeds() {
				synctest.Test(t, func(t *testing.T) {
					run := func(faults ...string) (evidence.Set, string) {
						o := scripted.Options{Faults: faults, Seed: seed, Window: 16384}
						if seeds() == 1 { // the smallest numbers, so that short prompts reach them
							o.Window, o.Params = 4096, map[string]scripted.Params{k.Slug: smallest(k)}
						}
						s := serve(t, o)
						if seeds() == 1 && slices.Contains(g.only, evidence.Ladder) {
							g.disrupt = false
						}
						s.o.Budget, s.o.Only, s.o.Disrupt, s.o.Seed, s.o.Known.Pool = g.budget, g.only, g.disrupt, seed, 16384
						return s.run(t, nil), s.engine.Drawn()
					}
					if e, drawn := run(k.Slug); !g.seen(e) {
						missed++
						t.Logf("seed %d: not seen: %s\nwrong: %s\nnumbers %v\nwords %v", seed, drawn, strings.Join(wrong(e), "\n"),
							e.Numbers, e.Words)
					}
				})
			}
			assert.Zero(t, missed, "missed of %d", seeds())
		})
	}
}
