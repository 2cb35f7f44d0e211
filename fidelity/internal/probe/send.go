package probe

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/assay-suite/assay/fidelity/internal/ask"
	"github.com/assay-suite/assay/fidelity/internal/selfcheck"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/needle"
)

// shown is how much of an answer a record keeps.
const shown = 400

// step asks one step: its error ends the run or the probe, everything else is in the record.
func (r *Runner) step(ctx context.Context, u unit, i int) (Record, error) {
	st := u.steps[i]
	v := Record{Case: u.id, Step: i, Arm: st.arm, At: st.at, Epoch: r.epoch, Prompt: -1, Completion: -1, Cached: -1}
	s := salt{nonce: r.o.Nonce, id: u.id}
	if r.epoch > 0 {
		s.nonce = fmt.Sprintf("%s/%d", r.o.Nonce, r.epoch)
	}
	q, err := st.make(ctx, s)
	switch {
	case err == nil:
	case ctx.Err() != nil, endpoint.IsUnreachable(err):
		return v, fmt.Errorf("case %q: %w", u.id, err)
	default: // a prompt that cannot be made says nothing about the server
		v.Class, v.Error = string(needle.Unmeasured), cutText(r.o.Client.Redact(err.Error()))
		return v, nil
	}
	if q.native != nil {
		r.mu.Lock()
		r.requests++
		r.mu.Unlock()
		verdict, x, err := q.native(ctx, r.o.Client)
		v.Verdict = verdict
		if v.Tries = x.Tries; err != nil {
			v.Error = cutText(r.o.Client.Redact(err.Error()))
		}
		if ctx.Err() != nil {
			return v, context.Cause(ctx)
		}
		return v, nil
	}
	q.chat.Neutral = r.o.Survey.State("sampling-fields") == endpoint.Supported
	a, err := r.send(ctx, q, &v)
	class := endpoint.ClassOf(a, err)
	if q.leave != nil && err == nil {
		class = endpoint.OK
	}
	if onlyReasoned(class, a) && !q.once && ctx.Err() == nil {
		q.chat.MaxTokens = r.ask().Again(q.chat.MaxTokens, a)
		a, err = r.send(ctx, q, &v)
		class = endpoint.ClassOf(a, err)
	}
	if r.o.Keep != nil && len(a.Exchange.Request) > 0 {
		r.mu.Lock()
		kerr := r.o.Keep(fmt.Sprintf("%s-%d", u.id, i), a.Exchange)
		r.mu.Unlock()
		if kerr != nil {
			return v, fmt.Errorf("%w: keeping the exchange of %q: %w", errLedger, u.id, kerr)
		}
	}
	switch {
	case ctx.Err() != nil:
		return v, context.Cause(ctx)
	case endpoint.IsUnreachable(err):
		return v, err
	case err != nil:
		v.Error = cutText(r.o.Client.Redact(err.Error()))
		v.Class = string(class)
		v.Measured = class == endpoint.TooLong
		if q.refused != nil {
			v.Verdict = q.refused(class, err)
		}
	case onlyReasoned(class, a):
		v.Verdict = Verdict{Class: string(needle.Budget)}
		if q.judge == nil {
			v.Verdict = Verdict{Class: string(endpoint.OK), Right: true, Measured: true}
		}
	case q.judge == nil:
		v.Verdict = Verdict{Class: string(endpoint.OK), Right: true, Measured: true}
	default:
		v.Verdict = q.judge(a)
	}
	return v, nil
}

// send sends a question and notes in its record what the wire said.
func (r *Runner) send(ctx context.Context, q query, v *Record) (a endpoint.Answer, err error) {
	r.mu.Lock()
	r.requests++
	v.Order = r.requests
	r.mu.Unlock()
	c := q.client
	if c == nil {
		c = r.o.Client
	}
	ctx, conn := ask.Traced(ctx)
	switch {
	case q.leave != nil:
		a, err = leaveStream(ctx, c, q.leave)
	case q.raw != nil:
		a, err = c.Complete(ctx, *q.raw)
	case q.post != nil:
		a, err = postChat(ctx, c, q.post)
	default:
		a, err = c.Chat(ctx, q.chat)
		if logs := selfcheck.Of(a.Tokens); logs.Tokens > 0 {
			v.Logs = &logs
		}
	}
	v.fill(a)
	v.Conn = conn()
	return a, err
}

// onlyReasoned says that reasoning took the whole budget. Reasoning that ended by itself is no such answer: what should
// have been said was lost or filed as reasoning.
func onlyReasoned(class endpoint.Class, a endpoint.Answer) bool {
	return (class == endpoint.Budget || class == endpoint.OK) && (a.Cut || a.Finish == "length") &&
		needle.Visible(a.Text) == "" && len(a.ToolCalls) == 0
}

// fill notes what the wire said.
func (v *Record) fill(a endpoint.Answer) {
	sum := sha256.New()
	_, _ = sum.Write([]byte(a.Text))
	for _, c := range a.ToolCalls {
		_, _ = sum.Write([]byte("\x00" + c.Name + "\x00" + c.Arguments))
	}
	v.Hash = hex.EncodeToString(sum.Sum(nil)[:8])
	v.Text = cutText(a.Text)
	if v.Text == "" && len(a.ToolCalls) > 0 {
		v.Text = cutText(a.ToolCalls[0].Name + a.ToolCalls[0].Arguments)
	}
	v.Finish, v.Thoughts = a.Finish, len(a.Reasoning)
	v.Prompt, v.Completion, v.Cached = count(a.Usage.Prompt), count(a.Usage.Completion), count(a.Usage.Cached)
	v.Tries += a.Exchange.Tries
	v.First = a.Exchange.Wait.Seconds()
	if a.Exchange.First > 0 {
		v.First = a.Exchange.First.Seconds()
	}
}

func count(c endpoint.Count) int {
	if !c.Known {
		return -1
	}
	return c.N
}

func cutText(s string) string {
	if len(s) > shown {
		s = s[:shown]
	}
	return strings.ToValidUTF8(s, "\ufffd")
}

func answerOf(a endpoint.Answer) needle.Answer {
	return needle.Answer{Text: a.Text, Reasoning: a.Reasoning, Finish: a.Finish}
}

// postChat sends exactly the given fields: the client itself always sends a temperature.
func postChat(ctx context.Context, c *endpoint.Client, fields map[string]any) (endpoint.Answer, error) {
	body, x, err := c.Post(ctx, "/v1/chat/completions", fields)
	a := endpoint.Answer{Exchange: x}
	if err != nil {
		return a, err
	}
	var v struct {
		Choices []struct {
			Message struct {
				Content   string `json:"content"`
				Reasoning string `json:"reasoning"`
				Thoughts  string `json:"reasoning_content"`
			} `json:"message"`
			Finish string `json:"finish_reason"`
		} `json:"choices"`
		Usage struct {
			Prompt     *int `json:"prompt_tokens"`
			Completion *int `json:"completion_tokens"`
		} `json:"usage"`
	}
	if err := json.Unmarshal(body, &v); err != nil {
		return a, fmt.Errorf("the answer cannot be read: %w", err)
	}
	if len(v.Choices) == 0 {
		return a, errors.New("the answer has no choices")
	}
	m := v.Choices[0]
	a.Content, a.Text, a.Reasoning, a.Finish = m.Message.Content, needle.Visible(m.Message.Content),
		m.Message.Thoughts+m.Message.Reasoning, m.Finish
	if v.Usage.Prompt != nil {
		a.Usage.Prompt = endpoint.Count{N: *v.Usage.Prompt, Known: true}
	}
	if v.Usage.Completion != nil {
		a.Usage.Completion = endpoint.Count{N: *v.Usage.Completion, Known: true}
	}
	return a, nil
}
