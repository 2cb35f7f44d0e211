package recall

import (
	"context"
	"errors"
	"fmt"
	"path"
	"sort"
	"strings"
	"time"
	"unicode"

	"github.com/assay-suite/assay/fidelity/internal/ask"
	"github.com/assay-suite/assay/fidelity/internal/selfcheck"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/needle"
)

func (a *Asker) put(ctx context.Context, q question) Observation {
	o := q.o
	if !q.ready {
		return o
	}
	began := time.Now()
	budget := ask.AnswerTokens
	if o.Cell.Family == Cache { // a second attempt would find the first one's pages
		budget *= ask.RetryFactor
	}
	class, first := a.send(ctx, &o, q.truth, budget)
	// A server may call an answer finished whose reasoning took the whole budget.
	ranOut := class == needle.Budget || o.Wire == string(endpoint.Budget)
	if ranOut && o.Cell.Family != Cache && ctx.Err() == nil {
		budget = max(budget, a.Again(budget, first))
		class, _ = a.send(ctx, &o, q.truth, budget)
	}
	if ctx.Err() != nil && o.Err != nil {
		o.Wire = string(endpoint.Cancelled)
	}
	if withoutRoom(o.Wire) {
		class = needle.Unmeasured
	}
	o.Class, o.Hit, o.Measured = string(class), class.Recalled(), class.Measured()
	if o.Class == string(needle.Budget) {
		o.Err = fmt.Errorf("all %d completion tokens were reasoning; the answer is empty", budget)
	}
	o.Seconds = time.Since(began).Seconds()
	return o
}

// withoutRoom reports whether the server was not there for a question, which says nothing about recall and is no
// failure of the engine. (An unreachable one ends the run besides.)
func withoutRoom(wire string) bool {
	switch endpoint.Class(wire) {
	case endpoint.Shed, endpoint.TooLong, endpoint.Cancelled, endpoint.Unreached, endpoint.Gateway:
		return true
	}
	return false
}

func (a *Asker) send(ctx context.Context, o *Observation, truth needle.Truth, budget int) (needle.Class,
	endpoint.Answer,
) {
	req := endpoint.ChatRequest{
		Messages: ask.User(o.Prompt),
		Sampling: endpoint.Sampling{MaxTokens: budget, TopLogprobs: a.Flight.Logprobs(), Extra: a.extra(o.Cell)},
	}
	o.Order = int(a.sent.Add(1))
	ctx, conn := ask.Traced(ctx)
	ans, err := a.Client.Chat(ctx, req)
	o.Conn = conn()
	o.Err, o.Answer, o.Reasoning, o.Finish = err, ans.Text, ans.Reasoning, ans.Finish
	o.Wire = string(endpoint.ClassOf(ans, err))
	o.Tokens, o.Cached = ans.Usage.Prompt, ans.Usage.Cached
	if a.Store != "" && o.Cell.Family != PaceCell && len(ans.Exchange.Request) > 0 {
		if a.CurlRoot != "" {
			ans.Exchange.URL = a.CurlRoot + strings.TrimPrefix(ans.Exchange.URL, a.Client.Root())
		}
		name, serr := ans.Exchange.Save(a.Store, a.Arm+strings.TrimPrefix(o.Cell.ID, "fidelity/"))
		o.Stored, o.Curl = name, ans.Exchange.Curl(path.Join(a.Shown, name+".json"))
		o.Err = errors.Join(o.Err, serr)
	}
	if err == nil {
		o.Positions, o.Logs = positions(ans.Tokens, truth.Code), selfcheck.Of(ans.Tokens)
		o.Formed = formed(ans.Text, truth.Code)
	}
	return needle.Classify(needle.Answer{Text: ans.Text, Reasoning: ans.Reasoning, Finish: ans.Finish, Err: err},
		truth), ans
}

// formed reports whether an answer is what was asked for, right or wrong: at least as many digits as the code has, or
// digits and nothing else.
func formed(text, code string) bool {
	digits, others := 0, 0
	for _, r := range needle.Visible(text) {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case unicode.IsLetter(r):
			others++
		}
	}
	return digits >= len(code) || digits > 0 && others == 0
}

// positions takes the margins of the code's digits up to the first that went wrong: what follows a
// wrong token has another context than the golden's.
func positions(tokens []endpoint.Token, code string) []Position {
	steps := make([]needle.Step, len(tokens))
	for i, t := range tokens {
		steps[i].Alt = needle.Alt{Text: t.Text, Logprob: t.Logprob}
		for _, alt := range t.Top {
			steps[i].Top = append(steps[i].Top, needle.Alt{Text: alt.Token, Logprob: alt.Logprob})
		}
	}
	var out []Position
	last := -1
	for i, m := range needle.Margins(steps, code) {
		if m.Bound == needle.Absent || m.OffPath {
			break
		}
		p := Position{Token: code[i : i+1], Margin: m.Nats, AtMost: m.Bound == needle.AtMost}
		if m.Step != last { // a token of several digits has one list
			for _, alt := range tokens[m.Step].Top {
				p.Top = append(p.Top, alt.Logprob)
			}
			sort.Sort(sort.Reverse(sort.Float64Slice(p.Top)))
			last = m.Step
		}
		out = append(out, p)
	}
	return out
}
