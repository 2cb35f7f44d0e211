package probe

import (
	"context"
	"math"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/internal/endpoint"
)

// logprobs looks at the log-probabilities of one free answer, and of the same tokens as a prompt, where the server
// echoes.
func logprobs() probe {
	return probe{
		name: evidence.Logprobs,
		cost: func(r *Runner) Cost { return asks(1, 120).plus(asks(2*r.s.reps, 250)) },
		skip: func(r *Runner) string {
			if r.o.Survey.Logprobs() == 0 {
				return "the server gives no log-probabilities"
			}
			return ""
		},
		run: func(ctx context.Context, t *task) error {
			rss, err := t.take(ctx, one(t.id("spread"), step{tokens: 120, make: func(_ context.Context, s salt) (query, error) {
				q := chat(s.word() + ". Write a story of two sentences.")
				q.MaxTokens, q.TopLogprobs = 48, t.r.o.Survey.Logprobs()
				return query{chat: q, once: true, judge: func(a endpoint.Answer) Verdict {
					return Verdict{Class: string(endpoint.OK), Right: true, Measured: true, Numbers: spread(a.Tokens)}
				}}, nil
			}}))
			if err != nil {
				return err
			}
			if v, ok := rss[0][0].Numbers["spread"]; ok {
				t.number("spread", v)
			}
			switch {
			case t.r.o.Survey.Identity.Kind == endpoint.KindSGLang &&
				t.r.o.Survey.State("prompt-logprobs") == endpoint.Supported:
				return t.rescore(ctx, t.nativeScore)
			case t.r.o.Survey.State("echo") == endpoint.Supported:
				return t.rescore(ctx, t.echoScore)
			}
			t.say("prefill-decode", "unmeasured: the server gives no log-probabilities of a prompt")
			return nil
		},
	}
}

func spread(tokens []endpoint.Token) map[string]float64 {
	low, high, n := math.Inf(1), math.Inf(-1), 0
	for _, k := range tokens {
		if !math.IsNaN(k.Logprob) && !math.IsInf(k.Logprob, 0) {
			low, high, n = math.Min(low, k.Logprob), math.Max(high, k.Logprob), n+1
		}
	}
	if n < 4 {
		return nil
	}
	return map[string]float64{"spread": high - low}
}

// scorer has the server answer a prompt, and score the prompt and that answer once more.
type scorer func(i int) unit

// rescore takes the largest difference between a token's log-probability when it was decoded and as part of a prompt.
func (t *task) rescore(ctx context.Context, score scorer) error {
	worst, measured := 0.0, false
	for i := range t.r.s.reps {
		rss, err := t.take(ctx, score(i))
		if err != nil {
			return err
		}
		for _, v := range rss[0] {
			if d, ok := v.Numbers["difference"]; ok {
				worst, measured = math.Max(worst, d), true
			}
		}
	}
	if measured {
		t.number("prefill-decode-difference", worst)
	}
	return nil
}

func (t *task) scored(s salt) string {
	return s.word() + ". " + t.r.filler(s, 100) + t.r.sep() + "The next sentence goes on:"
}

// echoScore uses completions that echo their prompt.
func (t *task) echoScore(i int) unit {
	var first endpoint.Answer
	var prompt string
	u := unit{id: t.id("rescore/%d", i)}
	fine := Verdict{Class: string(endpoint.OK), Right: true, Measured: true}
	u.steps = append(u.steps, step{tokens: 200, make: func(_ context.Context, s salt) (query, error) {
		prompt = t.scored(s)
		return query{
			once: true,
			raw: &endpoint.CompletionRequest{
				Prompt:   prompt,
				Sampling: endpoint.Sampling{MaxTokens: scoredTokens, TopLogprobs: 1},
			},
			judge: func(a endpoint.Answer) Verdict {
				first = a
				return fine
			},
		}, nil
	}}, step{tokens: 250, make: func(context.Context, salt) (query, error) {
		return query{
			once: true,
			raw: &endpoint.CompletionRequest{
				Prompt:   prompt + first.Content,
				Echo:     true,
				Sampling: endpoint.Sampling{MaxTokens: 1, TopLogprobs: 1},
			},
			judge: func(a endpoint.Answer) Verdict {
				v := fine
				v.Numbers = compared(first.Tokens, a.Tokens)
				return v
			},
		}, nil
	}})
	return u
}

// scoredTokens is how many tokens are decoded and scored again.
const scoredTokens = 24

// compared finds the decoded tokens at the end of the echoed ones and takes the largest difference of a token's
// log-probability. Texts that are cut into tokens otherwise are not compared.
func compared(decoded, echoed []endpoint.Token) map[string]float64 {
	n := len(decoded)
	if n < 4 || len(echoed) < n {
		return nil
	}
	for end := len(echoed); end >= max(n, len(echoed)-2); end-- {
		worst, same := 0.0, true
		for i, d := range decoded {
			e := echoed[end-n+i]
			if same = same && d.Text == e.Text; !same {
				break
			}
			if diff := math.Abs(d.Logprob - e.Logprob); !math.IsNaN(diff) {
				worst = math.Max(worst, diff)
			}
		}
		if same {
			return map[string]float64{"difference": worst}
		}
	}
	return nil
}
