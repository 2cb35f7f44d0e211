package probe

import (
	"context"
	"math"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/needle"
)

// early is how many different facts are asked for while little has been served: what comes later is held against them.
const early = 16

// selfNoise asks one short thing again and again, alone: how much a server differs from itself. Then it asks for
// different facts, of the length that most probes have.
func selfNoise() probe {
	n := func(r *Runner) int { return map[Budget]int{Smoke: 4, Full: 20}[r.o.Budget] }
	asked := func(r *Runner) int { return max(n(r), 4+4*(r.s.reps/4)) }
	return probe{
		name: evidence.SelfNoise,
		cost: func(r *Runner) Cost { return asks(asked(r), 80).plus(asks(early, control)) },
		run: func(ctx context.Context, t *task) error {
			u := unit{id: t.id("facts")}
			for range asked(t.r) {
				u.steps = append(u.steps, step{arm: "facts", tokens: 80, make: func(_ context.Context, s salt) (query, error) {
					code, name := s.code(), s.name()
					q := chat(s.word() + ". The access code for the " + name + " archive is " + code +
						". What is the access code for the " + name + " archive?")
					q.TopLogprobs = t.r.o.Survey.Logprobs()
					judge := holds(code)
					return query{chat: q, judge: func(a endpoint.Answer) Verdict {
						v := judge(a)
						if len(a.Tokens) > 0 && !math.IsNaN(a.Tokens[0].Logprob) && !math.IsInf(a.Tokens[0].Logprob, 0) {
							v.Numbers = map[string]float64{"logprob": a.Tokens[0].Logprob}
						}
						return v
					}}, nil
				}})
			}
			rss, err := t.take(ctx, u)
			texts := map[string]bool{}
			low, high := math.Inf(1), math.Inf(-1)
			for _, rs := range rss {
				for _, v := range rs {
					texts[v.Hash] = true
					if p, ok := v.Numbers["logprob"]; ok {
						low, high = math.Min(low, p), math.Max(high, p)
					}
				}
			}
			if len(texts) > 0 {
				t.number("distinct-texts", float64(len(texts)))
			}
			if high >= low {
				t.number("logprob-spread", high-low)
			}
			if err != nil {
				return err
			}
			var units []unit
			for i := range early {
				units = append(units, one(t.id("early/%d", i), t.r.needleStep("early", 0, needle.Spec{
					Length: control, Depth: float64(i%8) / 8,
				}, nil)))
			}
			_, err = t.take(ctx, units...)
			return err
		},
	}
}
