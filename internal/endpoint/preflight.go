package endpoint

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// Capability is what a cheap request found out about one feature.
type Capability string

// The four answers. Unknown means that the server's answer does not decide it.
const (
	Supported   Capability = "supported"
	Unsupported Capability = "unsupported"
	Failed      Capability = "error"
	Unknown     Capability = "unknown"
)

// Feature is one row of the capability table.
type Feature struct {
	// slug: chat, logprobs, usage, completions, tokenize, cached-tokens, cache-salt, window, or one of Survey's
	Name   string
	State  Capability
	N      int    // logprobs: alternatives given; window: tokens; otherwise 0
	Detail string // one clause for people
}

// Preflight is the capability table of one model on one server.
type Preflight struct {
	Model    string
	Window   Count
	Features []Feature
	Requests int
	Sample   []Token // of the chat probe's answer, with its alternatives: what vocabulary the model has
}

// State returns the state of a feature; Unknown for a name that was not examined.
func (p Preflight) State(name string) Capability {
	for _, f := range p.Features {
		if f.Name == name {
			return f.State
		}
	}
	return Unknown
}

// Logprobs is the number of alternatives the server gives per token, 0 for none.
func (p Preflight) Logprobs() int {
	for _, f := range p.Features {
		if f.Name == "logprobs" && f.State == Supported {
			return f.N
		}
	}
	return 0
}

// Preflight probes the server with about ten short requests. nonce makes its prompts new to the
// prefix cache; it must differ between runs. It fails when the server is unreachable, lists no usable
// model, or does not answer a chat request at all; everything else that is missing is a row of the table.
func (c *Client) Preflight(ctx context.Context, nonce string) (Preflight, error) {
	before := c.Requests()
	p := Preflight{Model: c.model}
	c.begins()
	list, err := c.Models(ctx)
	if IsUnreachable(err) || ctx.Err() != nil {
		return p, err
	}
	if s, is := errors.AsType[*StatusError](err); is && (s.shed() || s.gateway() || s.Status == http.StatusBadGateway) {
		return p, &UnreachableError{Host: c.Host(), Err: err} // a proxy without a server, or one that has no room for us
	}
	if err != nil && c.model == "" {
		return p, fmt.Errorf("%w: name the model with ASSAY_MODEL to go on without the list", err)
	}
	var odd string
	if p.Model, p.Window, odd, err = pickModel(list, c.model); err != nil {
		return p, err
	}
	c = c.WithModel(p.Model)

	prompt := probePrompt(nonce)
	c.begins()
	chat, err := c.probeLogprobs(ctx, &p, prompt)
	if refused, ok := errors.AsType[*StatusError](err); ok && odd != "" && ClassOf(chat, err) == Refused &&
		aboutModel.MatchString(refused.Message) {
		return p, &ModelError{fmt.Sprintf("the server refuses the model %q of ASSAY_MODEL (%s): it lists %s", p.Model,
			refused.Message, odd)}
	}
	if IsShed(err) && !IsUnreachable(err) {
		err = &UnreachableError{Host: c.Host(), Err: err}
	}
	if err != nil {
		return p, err
	}
	p.Sample = chat.Tokens
	if odd != "" {
		said := fmt.Sprintf("%q answers and is not listed: the server lists %s", p.Model, odd)
		p.add(Feature{Name: "model", State: Unknown, Detail: said})
	}
	if d := c.wire.dialects.of(p.Model); d != (dialect{}) {
		p.add(Feature{Name: "request-fields", State: Unsupported, Detail: d.String()})
	}
	p.add(usageFeature(chat.Usage))
	c.begins()
	p.add(c.probeCompletions(ctx, nonce))
	c.begins()
	tok, f := c.probeTokenize(ctx, prompt)
	p.add(f)
	if !p.Window.Known {
		p.Window = tok.Window
	}
	c.begins()
	c.probeCache(ctx, &p, nonce)
	window := Feature{Name: "window", State: Unknown, Detail: "the server does not report its context length"}
	if p.Window.Known {
		window = Feature{Name: "window", State: Supported, N: p.Window.N, Detail: fmt.Sprintf("%d tokens", p.Window.N)}
	}
	p.add(window)
	p.Requests = c.Requests() - before
	return p, ctx.Err()
}

func (p *Preflight) add(f Feature) { p.Features = append(p.Features, f) }

// ModelError says that no model can be asked as named, or that none was chosen: exit code 2.
type ModelError struct{ Message string }

func (e *ModelError) Error() string { return "endpoint: " + e.Message }

// IsUsage reports whether err is about what the user named.
func IsUsage(err error) bool {
	_, is := errors.AsType[*ModelError](err)
	return is
}

// aboutModel is a refusal of a model's name.
var aboutModel = regexp.MustCompile(`(?i)\bmodel\b`)

// pickModel takes the named model, listed or not, or the only one. Of a named one that is not listed, odd says what is:
// routers list "unknown" or an alias and take the name all the same.
func pickModel(list []ModelInfo, want string) (model string, window Count, odd string, err error) {
	var names []string
	for _, m := range list {
		if m.ID == want || want == "" && len(list) == 1 {
			return m.ID, m.Window, "", nil
		}
		names = append(names, fmt.Sprintf("%q", m.ID))
	}
	odd = strings.Join(names, ", ")
	switch {
	case want != "" && len(list) == 1:
		return want, list[0].Window, odd, nil
	case want != "":
		return want, Count{}, odd, nil // without a list the server may still know the name
	case len(list) == 0:
		return "", Count{}, "", &ModelError{"the server lists no model: name one with ASSAY_MODEL"}
	}
	return "", Count{}, "", &ModelError{fmt.Sprintf("the server lists %d models: choose one with ASSAY_MODEL: %s",
		len(list), odd)}
}

// probePrompt is about 200 tokens in any tokenizer: longer than the cache blocks of common engines.
func probePrompt(nonce string) string {
	var b strings.Builder
	b.WriteString(nonce + " ")
	for i := range 12 {
		fmt.Fprintf(&b, "This is line %d of a short text that only checks what the server can do. ", i)
	}
	return b.String() + "What is the access code for the Lisbon archive?"
}

// probeLogprobs finds the largest of 20, 5, 1 alternatives that the server takes; it is the chat probe too.
func (c *Client) probeLogprobs(ctx context.Context, p *Preflight, prompt string) (Answer, error) {
	ask := func(n int) (Answer, error) {
		return c.Chat(ctx, ChatRequest{
			Messages: []Message{{Role: "user", Content: prompt}},
			Sampling: Sampling{MaxTokens: 4, TopLogprobs: n},
		})
	}
	var a Answer
	var err, failure error // failure: of the server, with log-probabilities
	for _, n := range []int{20, 5, 1, 0} {
		if a, err = ask(n); err == nil {
			p.add(Feature{Name: "chat", State: Supported, Detail: "answers"})
			if n == 0 && failure != nil {
				p.add(Feature{Name: "logprobs", State: Failed, Detail: failure.Error()})
			} else {
				p.add(logprobFeature(a, n))
			}
			return a, nil
		}
		class := ClassOf(a, err)
		if class == Failing {
			failure = err // e.g. minus infinity, which the server's encoder cannot write
		}
		if class != Failing && class != Refused && class != Malformed {
			break
		}
		s := statusOf(err)
		denied := s == http.StatusForbidden && !aboutField.MatchString(err.Error()) // not of log-probabilities, as o1 has it
		if s == http.StatusUnauthorized || denied || s == http.StatusNotFound {
			break
		}
	}
	return a, fmt.Errorf("pre-flight: %w", err)
}

func logprobFeature(a Answer, asked int) Feature {
	got := 0
	for _, t := range a.Tokens {
		got = max(got, len(t.Top))
	}
	switch {
	case asked == 0:
		return Feature{Name: "logprobs", State: Unsupported, Detail: "refused for any number of alternatives"}
	case len(a.Tokens) == 0 && a.Content == "":
		return Feature{Name: "logprobs", State: Unknown, Detail: "the probe's answer was empty"}
	case got == 0:
		return Feature{Name: "logprobs", State: Unsupported, Detail: "accepted and ignored"}
	}
	return Feature{Name: "logprobs", State: Supported, N: got, Detail: fmt.Sprintf("%d alternatives", got)}
}

func usageFeature(u Usage) Feature {
	if !u.Prompt.Known {
		return Feature{Name: "usage", State: Unsupported, Detail: "the answer has no prompt_tokens"}
	}
	return Feature{Name: "usage", State: Supported, Detail: "prompt_tokens given"}
}

func (c *Client) probeCompletions(ctx context.Context, nonce string) Feature {
	_, err := c.Complete(ctx, CompletionRequest{Prompt: nonce + " the access code is", Sampling: Sampling{MaxTokens: 1}})
	return outcome("completions", err)
}

func (c *Client) probeTokenize(ctx context.Context, prompt string) (Tokenization, Feature) {
	tok, err := c.TokenizeChat(ctx, []Message{{Role: "user", Content: prompt}})
	if err == nil && !tok.Supported {
		return tok, Feature{Name: "tokenize", State: Unsupported, Detail: "no such route"}
	}
	f := outcome("tokenize", err)
	if err == nil {
		f.Detail = fmt.Sprintf("%d tokens", tok.Count)
	}
	return tok, f
}

// probeCache repeats a prompt under one salt, then under another. A hit on the repeat proves that hits
// are reported; a hit across salts proves that the salt is ignored. A repeat without a hit decides nothing.
func (c *Client) probeCache(ctx context.Context, p *Preflight, nonce string) {
	prompt := probePrompt(nonce + "c")
	ask := func(salt string) (Count, error) {
		a, err := c.Chat(ctx, ChatRequest{
			Messages: []Message{{Role: "user", Content: prompt}},
			Sampling: Sampling{MaxTokens: 1, Extra: map[string]any{"cache_salt": salt}},
		})
		return a.Usage.Cached, err
	}
	cached := Feature{Name: "cached-tokens", State: Unknown}
	salt := Feature{Name: "cache-salt", State: Unknown}
	_, err := ask(nonce + "a")
	repeat, err2 := ask(nonce + "a")
	if err = errors.Join(err, err2); err != nil {
		salt = outcome("cache-salt", err)
		p.add(Feature{Name: "cached-tokens", State: Unknown, Detail: "not probed: the request with a salt failed"})
		p.add(salt)
		return
	}
	switch {
	case !repeat.Known:
		cached.Detail = "not reported; absent means unknown, not zero"
		salt.Detail = "cannot be proven without cached_tokens"
	case repeat.N == 0:
		cached.Detail = "reported, but a repeated prompt had no hit"
		salt.Detail = "cannot be proven without a hit"
	default:
		cached.State, cached.Detail = Supported, fmt.Sprintf("%d tokens hit on a repeat", repeat.N)
		other, err := ask(nonce + "b")
		switch {
		case err != nil:
			salt = outcome("cache-salt", err)
		case other.Known && other.N < repeat.N:
			salt.State, salt.Detail = Supported, "another salt has no hit"
		case other.Known:
			salt.State, salt.Detail = Unsupported, "accepted and ignored: a hit under another salt"
		}
	}
	p.add(cached)
	p.add(salt)
}

func outcome(name string, err error) Feature {
	switch s := statusOf(err); {
	case err == nil:
		return Feature{Name: name, State: Supported}
	case s == http.StatusNotFound || s == http.StatusMethodNotAllowed || s == http.StatusNotImplemented ||
		s == http.StatusBadRequest || s == http.StatusUnprocessableEntity:
		return Feature{Name: name, State: Unsupported, Detail: err.Error()}
	}
	return Feature{Name: name, State: Failed, Detail: err.Error()}
}
