package probe

import (
	"context"
	"strings"

	"github.com/assay-suite/assay/fidelity/internal/ask"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/needle"
)

// chat is a request for one user message at the usual budget.
func chat(text string) endpoint.ChatRequest {
	return endpoint.ChatRequest{Messages: ask.User(text), Sampling: endpoint.Sampling{MaxTokens: ask.AnswerTokens}}
}

// spec salts a spec: the nonce of the run, the case for what is drawn.
func (r *Runner) spec(s salt, n needle.Spec) needle.Spec {
	n.Seed, n.Nonce = r.o.Seed, s.nonce
	if n.Case == "" {
		n.Case = s.id
	}
	return n
}

// needleStep is a step that asks for a needle; form changes the prompt, nil for none.
func (r *Runner) needleStep(arm string, at float64, n needle.Spec,
	form func(p needle.Prompt) (string, needle.Truth),
) step {
	return step{
		arm:    arm,
		at:     at,
		tokens: n.Length,
		depth:  depthOf(n),
		make: func(ctx context.Context, s salt) (query, error) {
			p, err := r.rough.Build(ctx, r.spec(s, n))
			if err != nil {
				return query{}, err
			}
			return needleAsk(p, form), nil
		},
	}
}

// depthOf is where a spec's needle stands, 0 for the start.
func depthOf(n needle.Spec) float64 {
	switch n.Placement {
	case needle.Tail:
		return 1
	case needle.JustInside:
		return max(0, 1-float64(n.Window)/float64(max(n.Length, 1)))
	}
	return n.Depth
}

func needleAsk(p needle.Prompt, form func(p needle.Prompt) (string, needle.Truth)) query {
	text, truth := p.Text, p.Truth
	if form != nil {
		text, truth = form(p)
	}
	judge := recall(truth)
	return query{chat: chat(text), judge: func(a endpoint.Answer) Verdict {
		v := judge(a)
		v.Numbers = map[string]float64{"built": float64(p.Tokens)}
		if len(p.Copies) == 1 {
			v.Numbers["before"], v.Numbers["from-end"] = float64(p.Copies[0].Before), float64(p.Copies[0].FromEnd)
		}
		return v
	}}
}

// one is a unit of one step.
func one(id string, s step) unit { return unit{id: id, steps: []step{s}} }

// question is where the question of a needle's prompt begins, -1 where it is not told.
func question(p needle.Prompt) int {
	return max(strings.LastIndex(p.Text, "Question: "), strings.LastIndex(p.Text, "What is the access code"))
}

// replaceQuestion puts another question at the end of a prompt.
func replaceQuestion(p needle.Prompt, q string) string {
	if i := question(p); i >= 0 {
		return p.Text[:i] + q
	}
	return p.Text + " " + q
}

// rate is the share of right answers among the measured ones, and their number.
func rate(rss [][]Record) (float64, int) {
	right, runs := 0, 0
	for _, rs := range rss {
		for _, v := range rs {
			if v.Measured {
				runs++
				if v.Right {
					right++
				}
			}
		}
	}
	if runs == 0 {
		return 0, 0
	}
	return float64(right) / float64(runs), runs
}

// sized is a needle's step whose prompt has exactly so many tokens, where the server counts them; about so many else.
func (r *Runner) sized(arm string, at float64, tokens int, n needle.Spec) step {
	n.Length = tokens
	if r.counter != "tokenize" {
		return r.needleStep(arm, at, n, nil)
	}
	return step{
		arm:    arm,
		at:     at,
		tokens: tokens,
		depth:  depthOf(n),
		make: func(ctx context.Context, s salt) (query, error) {
			ps, err := r.rough.BuildExact(ctx, r.spec(s, n), tokens)
			if err != nil {
				return query{}, err
			}
			return needleAsk(ps[0], nil), nil
		},
	}
}
