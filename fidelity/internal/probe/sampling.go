package probe

import (
	"context"
	"maps"
	"strings"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/fidelity/internal/ask"
	"github.com/assay-suite/assay/internal/needle"
)

// sampling asks what a temperature does, and what happens where fields are left out.
func sampling() probe {
	n := func(r *Runner) int { return map[Budget]int{Smoke: 4, Standard: 6, Full: 10}[r.o.Budget] }
	return probe{
		name: evidence.Sampling,
		cost: func(r *Runner) Cost { return asks(3*n(r)+5+2*facts(r), 90) },
		run: func(ctx context.Context, t *task) error {
			for _, arm := range []struct {
				name   string
				fields map[string]any
			}{
				{"at-0", map[string]any{"temperature": 0}}, {"at-1", map[string]any{"temperature": 1}}, {"omitted", nil},
			} {
				if err := t.distinct(ctx, arm.name, n(t.r), arm.fields); err != nil {
					return err
				}
			}
			t.number("asked", float64(n(t.r)))
			if err := t.thoughts(ctx); err != nil {
				return err
			}
			return t.repeatedDigits(ctx)
		},
	}
}

func facts(r *Runner) int { return max(4, r.s.reps) }

func (t *task) distinct(ctx context.Context, name string, n int, fields map[string]any) error {
	u := unit{id: t.id("distinct-%s", name)}
	for range n {
		u.steps = append(u.steps, step{tokens: 90, make: func(_ context.Context, s salt) (query, error) {
			return query{once: true, post: t.exact(s.word()+". Write a story of two sentences.", 40, fields)}, nil
		}})
	}
	rss, err := t.take(ctx, u)
	texts := map[string]bool{}
	for _, rs := range rss {
		for _, v := range rs {
			if v.Error == "" {
				texts[v.Hash] = true
			}
		}
	}
	if len(texts) > 0 {
		t.number("distinct-"+name, float64(len(texts)))
	}
	return err
}

// exact is a chat request with these fields and no others.
func (t *task) exact(text string, tokens int, fields map[string]any) map[string]any {
	out := map[string]any{"model": t.r.o.Client.Model(), "messages": ask.User(text), "max_tokens": tokens}
	maps.Copy(out, fields)
	return out
}

// thoughts compares the reasoning by default with the switch thrown either way: effort and template arguments are left
// out at first.
func (t *task) thoughts(ctx context.Context) error {
	for _, arm := range []string{"default", "on", "off", "effort-low", "effort-high"} {
		rs, err := t.take(ctx, one(t.id("thoughts-%s", arm), step{
			tokens: 90,
			make: func(_ context.Context, s salt) (query, error) {
				q := chat(s.word() + ". " + sane[0][0])
				if effort, ok := strings.CutPrefix(arm, "effort-"); ok {
					q.Extra = map[string]any{"reasoning_effort": effort}
				} else if arm != "default" {
					q.Extra = map[string]any{
						"chat_template_kwargs": map[string]any{"enable_thinking": arm == "on", "thinking": arm == "on"},
					}
				}
				return query{chat: q, once: true}, nil
			},
		}))
		if err != nil {
			return err
		}
		if v := rs[0][0]; v.Error == "" {
			t.number("thoughts-"+arm, float64(v.Thoughts))
		}
	}
	return nil
}

// repeatedDigits asks for codes in which digits repeat, with every field of sampling given and with none: a hidden
// penalty on repetition changes such codes.
func (t *task) repeatedDigits(ctx context.Context) error {
	var units []unit
	for i := range facts(t.r) {
		for _, arm := range []string{"explicit", "omitted"} {
			units = append(units, one(t.id("%s-%d", arm, i), step{
				arm:    arm,
				tokens: 90,
				make: func(_ context.Context, s salt) (query, error) {
					c := s.code()
					code, name := c[:2]+c[1:2]+c[:2]+c[2:3]+c[2:3], s.name()
					text := s.word() + ". " + needle.Sentence(name, code) + " Question: what is the access code for " + name +
						"? Answer with only the code."
					q := query{chat: chat(text), judge: recall(needle.Truth{Name: name, Code: code})}
					if arm == "omitted" {
						q.post = t.exact(text, ask.AnswerTokens*ask.RetryFactor, nil)
					}
					return q, nil
				},
			}))
		}
	}
	_, err := t.take(ctx, units...)
	return err
}
