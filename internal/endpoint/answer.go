package endpoint

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"sort"

	openai "github.com/sashabaranov/go-openai"
)

// Message is one turn of a chat.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Sampling is what both kinds of request share. Temperature 0 and top_p 1 are always sent: a server
// fills omitted fields from the checkpoint's defaults.
type Sampling struct {
	Model       string         // empty: the client's
	MaxTokens   int            // required, at least 1
	TopLogprobs int            // alternatives per token; 0 asks for no log-probabilities
	Seed        *int           // nil: not sent
	Stop        []string       // nil: not sent
	Stream      bool           // ask for an event stream; the answer is the same
	Extra       map[string]any // more body fields, e.g. cache_salt; they win over all others
}

// ChatRequest asks /v1/chat/completions.
type ChatRequest struct {
	Messages []Message
	Sampling
}

// CompletionRequest asks /v1/completions with a text or, when IDs is not nil, with token ids.
type CompletionRequest struct {
	Prompt string
	IDs    []int
	Echo   bool
	Sampling
}

// Count is a number that a server may leave out: absent is unknown, not zero.
type Count struct {
	N     int
	Known bool
}

// Usage is the server's own count.
type Usage struct{ Prompt, Completion, Cached, Reasoning Count }

// Alternative is one of the top tokens at a position; Logprob is a natural logarithm.
type Alternative struct {
	Token   string  `json:"token"`
	Logprob float64 `json:"logprob"`
}

// Token is one generated (or echoed) token. Logprob is NaN where the server gave none, as for the
// first echoed token. Top is sorted by falling Logprob, ties by token.
type Token struct {
	Text    string
	Bytes   []byte
	Logprob float64
	Top     []Alternative
}

// Answer is one completion. Finish is empty and Tokens nil when the server did not say.
type Answer struct {
	Text      string
	Reasoning string
	Finish    string
	Model     string
	Tokens    []Token
	Usage     Usage
	Exchange  Exchange
}

// Chat sends a chat completion. On error the Answer still carries the Exchange.
func (c *Client) Chat(ctx context.Context, r ChatRequest) (Answer, error) {
	if r.MaxTokens < 1 {
		return Answer{}, fmt.Errorf("endpoint: max_tokens is %d: it must be at least 1", r.MaxTokens)
	}
	call := c.newCall(r.Sampling)
	if r.TopLogprobs > 0 {
		call.set("logprobs", true)
		call.set("top_logprobs", r.TopLogprobs)
	}
	call.merge(r.Extra)
	req := openai.ChatCompletionRequest{Model: c.modelOf(r.Sampling), Stop: r.Stop, Seed: r.Seed}
	for _, m := range r.Messages {
		req.Messages = append(req.Messages, openai.ChatCompletionMessage{Role: m.Role, Content: m.Content})
	}
	res, err := c.api.CreateChatCompletion(context.WithValue(ctx, callKey{}, call), req)
	a := Answer{Model: res.Model, Exchange: call.out}
	if err != nil {
		return a, fmt.Errorf("chat completion: %w", c.wrap(err))
	}
	if len(res.Choices) == 0 {
		return a, fmt.Errorf("chat completion: endpoint: the answer has no choices: %q", shorten(string(call.out.Response), 200))
	}
	ch := res.Choices[0]
	a.Text, a.Finish, a.Reasoning = ch.Message.Content, string(ch.FinishReason), ch.Message.ReasoningContent
	if ch.LogProbs != nil {
		for _, lp := range ch.LogProbs.Content {
			t := Token{Text: lp.Token, Bytes: lp.Bytes, Logprob: lp.LogProb}
			for _, alt := range lp.TopLogProbs {
				t.Top = append(t.Top, Alternative{alt.Token, alt.LogProb})
			}
			a.Tokens = append(a.Tokens, sorted(t))
		}
	}
	a.fromWire(call.body)
	return a, nil
}

// Complete sends a text completion. On error the Answer still carries the Exchange.
func (c *Client) Complete(ctx context.Context, r CompletionRequest) (Answer, error) {
	if r.MaxTokens < 1 {
		return Answer{}, fmt.Errorf("endpoint: max_tokens is %d: it must be at least 1", r.MaxTokens)
	}
	call := c.newCall(r.Sampling)
	if r.TopLogprobs > 0 {
		call.set("logprobs", r.TopLogprobs)
	}
	if r.IDs != nil {
		call.set("prompt", r.IDs)
	} else {
		call.set("prompt", r.Prompt)
	}
	if r.Echo {
		call.set("echo", true)
	}
	call.merge(r.Extra)
	req := openai.CompletionRequest{Model: c.modelOf(r.Sampling), Prompt: r.Prompt, Stop: r.Stop, Seed: r.Seed}
	res, err := c.api.CreateCompletion(context.WithValue(ctx, callKey{}, call), req)
	a := Answer{Model: res.Model, Exchange: call.out}
	if err != nil {
		return a, fmt.Errorf("completion: %w", c.wrap(err))
	}
	if len(res.Choices) == 0 {
		return a, fmt.Errorf("completion: endpoint: the answer has no choices: %q", shorten(string(call.out.Response), 200))
	}
	ch := res.Choices[0]
	a.Text, a.Finish = ch.Text, ch.FinishReason
	lp := ch.LogProbs
	for i, tok := range lp.Tokens {
		t := Token{Text: tok, Logprob: math.NaN()}
		if i < len(lp.TopLogprobs) {
			for s, v := range lp.TopLogprobs[i] {
				t.Top = append(t.Top, Alternative{s, float64(v)})
			}
		}
		// go-openai decodes null as 0: a true 0 comes with its alternatives or after the first token.
		if i < len(lp.TokenLogprobs) && (i > 0 || t.Top != nil || lp.TokenLogprobs[i] != 0) {
			t.Logprob = float64(lp.TokenLogprobs[i])
		}
		a.Tokens = append(a.Tokens, sorted(t))
	}
	a.fromWire(call.body)
	return a, nil
}

func (c *Client) modelOf(s Sampling) string {
	if s.Model != "" {
		return s.Model
	}
	return c.model
}

// newCall sets what go-openai would drop as a zero value or refuse for some model names.
func (c *Client) newCall(s Sampling) *call {
	k := &call{extra: map[string]any{"temperature": 0, "top_p": 1, "max_tokens": s.MaxTokens, "stream": s.Stream}}
	if s.Stream {
		k.set("stream_options", map[string]any{"include_usage": true})
	}
	return k
}

func (k *call) set(field string, v any)    { k.extra[field] = v }
func (k *call) merge(extra map[string]any) { maps.Copy(k.extra, extra) }

// fromWire reads what go-openai's types cannot tell: absent against zero, and thoughts by either name.
func (a *Answer) fromWire(body []byte) {
	var v struct {
		Choices []struct {
			Message struct {
				Reasoning *string `json:"reasoning"`
			} `json:"message"`
		} `json:"choices"`
		Usage struct {
			Prompt     *int `json:"prompt_tokens"`
			Completion *int `json:"completion_tokens"`
			PromptMore *struct {
				Cached *int `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
			CompletionMore *struct {
				Reasoning *int `json:"reasoning_tokens"`
			} `json:"completion_tokens_details"`
		} `json:"usage"`
	}
	if json.Unmarshal(body, &v) != nil {
		return
	}
	if a.Reasoning == "" && len(v.Choices) > 0 && v.Choices[0].Message.Reasoning != nil {
		a.Reasoning = *v.Choices[0].Message.Reasoning
	}
	a.Usage.Prompt, a.Usage.Completion = known(v.Usage.Prompt), known(v.Usage.Completion)
	if d := v.Usage.PromptMore; d != nil {
		a.Usage.Cached = known(d.Cached)
	}
	if d := v.Usage.CompletionMore; d != nil {
		a.Usage.Reasoning = known(d.Reasoning)
	}
}

func known(n *int) Count {
	if n == nil {
		return Count{}
	}
	return Count{*n, true}
}

func sorted(t Token) Token {
	sort.SliceStable(t.Top, func(i, j int) bool {
		if t.Top[i].Logprob != t.Top[j].Logprob {
			return t.Top[i].Logprob > t.Top[j].Logprob
		}
		return t.Top[i].Token < t.Top[j].Token
	})
	return t
}

// wrap redacts errors that go-openai made itself, e.g. from a body it could not decode.
func (c *Client) wrap(err error) error {
	if s := err.Error(); c.Redact(s) != s {
		return fmt.Errorf("%s", c.Redact(s))
	}
	return err
}
