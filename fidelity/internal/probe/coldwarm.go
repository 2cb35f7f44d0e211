package probe

import (
	"context"
	"fmt"
	"sync"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/fidelity/internal/ask"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/needle"
)

// ttftTokens is the shortest prompt at which the time to the first token proves a hit, ttftDrop the fall that proves
// it.
const (
	ttftTokens = 4096
	ttftDrop   = 3
)

// coldWarm asks the same bytes four times, then with another first character, then with a turn more.
func coldWarm() probe {
	reps := func(r *Runner) int { return r.s.reps + r.s.reps/2 }
	return probe{
		name: evidence.Warm,
		cost: func(r *Runner) Cost {
			c := asks(6*reps(r), warmTokens(r))
			if r.o.Budget != Smoke {
				c = c.plus(asks(2*max(4, r.s.reps/2), longShared(r)))
			}
			return c
		},
		run: func(ctx context.Context, t *task) error {
			var units []unit
			proof := "cached-tokens"
			if t.r.o.Survey.State("cached-tokens") != endpoint.Supported {
				proof = "ttft"
			}
			t.say("proof", proof)
			for i := range reps(t.r) {
				units = append(units, t.warmUnit(i))
			}
			rss, err := t.take(ctx, units...)
			t.prefixes(rss)
			if n := longShared(t.r); err == nil && n >= 2*warmTokens(t.r) && t.r.o.Budget != Smoke {
				units = nil
				for i := range max(4, t.r.s.reps/2) {
					units = append(units, t.longUnit(i, n))
				}
				_, err = t.take(ctx, units...)
			}
			if why := unproven(rss); why != "" && err == nil {
				t.r.set.Leave(t.probe, why)
			}
			return err
		},
	}
}

// warmTokens is short where the server tells its hits, and long enough to tell by time where it does not.
func warmTokens(r *Runner) int {
	if r.o.Survey.State("cached-tokens") == endpoint.Supported {
		return r.under(1024)
	}
	return r.under(ttftTokens * 5 / 4)
}

func (t *task) warmUnit(i int) unit {
	return t.againUnit(t.id("%d", i), i, warmTokens(t.r), "cold", "warm1", "warm2", "warm3", "first-changed", "extended")
}

// longUnit asks a long prompt twice: what is chosen from a long context, or brought in by parts, is not asked for by
// short ones.
func (t *task) longUnit(i, tokens int) unit {
	return t.againUnit(t.id("long/%d", i), i, tokens, "cold-long", "warm-long")
}

func (t *task) againUnit(id string, i, tokens int, arms ...string) unit {
	r := t.r
	u := unit{id: id, settle: proven}
	stream := r.o.Survey.State("cached-tokens") != endpoint.Supported
	var once sync.Once
	var p needle.Prompt
	var err error
	for _, arm := range arms {
		u.steps = append(
			u.steps,
			step{arm: arm, tokens: tokens, make: func(ctx context.Context, s salt) (query, error) {
				once.Do(func() {
					p, err = r.rough.Build(ctx, r.spec(s, needle.Spec{Length: tokens, Depth: 0.1 + 0.2*float64(i%4)}))
				})
				if err != nil {
					return query{}, err
				}
				q := needleAsk(p, nil)
				switch arm {
				case "first-changed":
					q.chat.Messages = ask.User(otherFirst(p.Text))
				case "extended":
					q.chat.Messages = append(ask.User(p.Text), endpoint.Message{Role: "assistant", Content: "One moment."},
						endpoint.Message{
							Role:    "user",
							Content: p.Text[max(0, question(p)):],
						})
				}
				q.chat.Stream = stream
				// A second attempt would find the first one's pages: the budget is that of a second from the start.
				q.chat.MaxTokens, q.once = ask.AnswerTokens*ask.RetryFactor, true
				return q, nil
			}},
		)
	}
	return u
}

// otherFirst changes the first character, so that no cache knows the text.
func otherFirst(text string) string {
	c := byte('Q')
	if text[0] == c {
		c = 'W'
	}
	return string(c) + text[1:]
}

// unproven says why no warm answer of any prefix could be judged; empty where one was.
func unproven(rss [][]Record) string {
	asked, coldHits := 0, 0
	for _, rs := range rss {
		for i, v := range rs {
			if i > 0 && v.Measured && v.Arm != "first-changed" {
				return ""
			}
		}
		if len(rs) > 0 {
			asked++
			if reusedMost(rs[0]) {
				coldHits++
			}
		}
	}
	switch {
	case asked == 0:
		return ""
	case coldHits > 0:
		return fmt.Sprintf("no hit is proven: cached_tokens counts %d of %d prompts as cached that nobody sent before",
			coldHits, asked)
	}
	return "no hit is proven: prompts that were sent before are computed anew, or cached_tokens does not say so"
}

// reusedMost tells whether the server says that it took most of a prompt from its cache.
func reusedMost(v Record) bool { return v.Prompt > 0 && v.Cached*2 > v.Prompt }

// proven leaves out warm answers without proof of a hit, and a cold one that was a hit: where that says so too, the
// count proves nothing.
func proven(rs []Record) {
	cold := rs[0]
	for i := range rs {
		v := &rs[i]
		hit := v.Cached > 0 && v.Cached*4 >= v.Prompt
		if v.Cached < 0 {
			hit = i > 0 && cold.Prompt >= ttftTokens && v.First > 0 && cold.First >= ttftDrop*v.First
		}
		switch v.Arm {
		case "cold", "cold-long":
			hit = !hit
		case "first-changed":
			hit = true
		default:
			hit = hit && !reusedMost(cold)
		}
		if !hit {
			v.Verdict = Verdict{Class: string(needle.Unmeasured), Numbers: v.Numbers}
		}
	}
}

// prefixes counts what became of each prefix when it was reused.
func (t *task) prefixes(rss [][]Record) {
	var all, bad, mixed, hits int
	for _, rs := range rss {
		if len(rs) < 4 || !rs[0].Right {
			continue
		}
		warm, wrong := 0, 0
		for _, v := range rs[1:4] {
			if v.Measured {
				warm++
				hits++
				if !v.Right {
					wrong++
				}
			}
		}
		switch {
		case warm == 0:
			continue
		case wrong == warm:
			bad++
		case wrong > 0:
			mixed++
		}
		all++
	}
	t.number("hits-proven", float64(hits))
	t.number("prefixes", float64(all))
	t.number("prefixes-bad", float64(bad))
	t.number("prefixes-mixed", float64(mixed))
}
