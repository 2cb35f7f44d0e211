package endpoint

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// short is a prompt of a few tokens that no earlier run can have cached.
func short(nonce string) string { return nonce + " The capital of France is" }

func (c *Client) probeIDs(ctx context.Context, nonce string, _ Identity) Feature {
	const name = "completions-ids"
	list := c.someIDs(ctx, nonce)
	_, err := c.Complete(ctx, CompletionRequest{IDs: list, Sampling: Sampling{MaxTokens: 1}})
	f := outcome(name, err)
	if err == nil {
		f.Detail = fmt.Sprintf("a prompt of %d token ids is answered", len(list))
	}
	return f
}

// probeEcho asks with and without echo for the same ids: a text would come back as the tokenizer spells it.
func (c *Client) probeEcho(ctx context.Context, nonce string, _ Identity) Feature {
	const name = "echo"
	list := c.someIDs(ctx, nonce)
	ask := func(echo bool) (Answer, error) {
		return c.Complete(ctx, CompletionRequest{IDs: list, Echo: echo, Sampling: Sampling{MaxTokens: 1, TopLogprobs: 1}})
	}
	with, err := ask(true)
	if err != nil {
		return outcome(name, err)
	}
	if len(with.Tokens) >= len(list) {
		return Feature{Name: name, State: Supported, Detail: "with log-probabilities of the prompt"}
	}
	without, err := ask(false)
	switch {
	case err != nil:
		return outcome(name, err)
	case len(with.Content) > len(without.Content) && strings.HasSuffix(with.Content, without.Content):
		return Feature{Name: name, State: Supported, Detail: "without log-probabilities of the prompt"}
	}
	return Feature{Name: name, State: Unsupported, Detail: "accepted and ignored"}
}

// someIDs is a short prompt as ids.
func (c *Client) someIDs(ctx context.Context, nonce string) []int {
	tok, err := c.TokenizeText(ctx, short(nonce))
	if err != nil || len(tok.IDs) == 0 {
		return []int{10, 11, 12, 13} // in every vocabulary; what they say does not matter
	}
	return tok.IDs
}

// probePromptLogprobs asks as vLLM is asked and, on SGLang, its native route.
func (c *Client) probePromptLogprobs(ctx context.Context, nonce string, id Identity) Feature {
	const name = "prompt-logprobs"
	if id.Kind == KindSGLang {
		b, _, err := c.Post(ctx, "/generate", map[string]any{
			"text": short(nonce), "return_logprob": true, "logprob_start_len": 0,
			"sampling_params": map[string]any{"max_new_tokens": 1, "temperature": 0},
		})
		var v struct {
			Meta struct {
				Input []json.RawMessage `json:"input_token_logprobs"`
			} `json:"meta_info"`
		}
		switch {
		case err != nil:
			return outcome(name, err)
		case json.Unmarshal(b, &v) == nil && len(v.Meta.Input) > 0:
			return Feature{Name: name, State: Supported, Detail: "on /generate"}
		}
		return Feature{Name: name, State: Unsupported, Detail: "/generate answers without them"}
	}
	a, err := c.Chat(ctx, ChatRequest{
		Messages: ask(short(nonce)),
		Sampling: Sampling{MaxTokens: 1, Extra: map[string]any{"prompt_logprobs": 1}},
	})
	if err != nil {
		return outcome(name, err)
	}
	var v struct {
		Logprobs json.RawMessage `json:"prompt_logprobs"`
	}
	if json.Unmarshal(a.Exchange.Response, &v) == nil && present(v.Logprobs) {
		return Feature{Name: name, State: Supported, Detail: "in chat completions"}
	}
	return Feature{Name: name, State: Unsupported, Detail: "accepted and ignored"}
}

func (c *Client) probeUsageStream(ctx context.Context, nonce string, _ Identity) Feature {
	const name = "usage-stream"
	a, err := c.Chat(ctx, ChatRequest{Messages: ask(short(nonce)), Sampling: Sampling{MaxTokens: 1, Stream: true}})
	switch {
	case err != nil:
		return outcome(name, err)
	case !a.Exchange.Stream:
		return Feature{Name: name, State: Unsupported, Detail: "the server does not stream"}
	case !a.Usage.Prompt.Known:
		return Feature{Name: name, State: Unsupported, Detail: "the stream has no usage"}
	}
	return Feature{Name: name, State: Supported}
}

func (c *Client) probeSeed(ctx context.Context, nonce string, _ Identity) Feature {
	seed := 7
	_, err := c.Chat(ctx, ChatRequest{Messages: ask(short(nonce)), Sampling: Sampling{MaxTokens: 1, Seed: &seed}})
	f := outcome("seed", err)
	if err == nil {
		f.Detail = "accepted; does not make batched results reproducible"
	}
	return f
}

func (c *Client) probeSampling(ctx context.Context, nonce string, _ Identity) Feature {
	_, err := c.Chat(ctx, ChatRequest{Messages: ask(short(nonce)), Sampling: Sampling{MaxTokens: 1, Neutral: true}})
	f := outcome("sampling-fields", err)
	if err == nil {
		f.Detail = "top_k, min_p and penalties are accepted"
	}
	return f
}

// probeThinking turns thinking on and off through the template: a switch that works leaves no reasoning.
func (c *Client) probeThinking(ctx context.Context, nonce string, _ Identity) Feature {
	const name = "thinking-switch"
	reasoning := func(on bool) (bool, error) {
		a, err := c.Chat(ctx, ChatRequest{
			Messages: ask(short(nonce)),
			Sampling: Sampling{MaxTokens: 16, Extra: map[string]any{
				"chat_template_kwargs": map[string]any{"enable_thinking": on, "thinking": on},
			}},
		})
		return a.Reasoning != "", err
	}
	on, err := reasoning(true)
	if err != nil {
		return outcome(name, err)
	}
	off, err := reasoning(false)
	switch {
	case err != nil:
		return outcome(name, err)
	case on && !off:
		return Feature{Name: name, State: Supported, Detail: "chat_template_kwargs turns the reasoning off"}
	case off:
		return Feature{Name: name, State: Unsupported, Detail: "reasoning comes although it was turned off"}
	}
	return Feature{Name: name, State: Unknown, Detail: "no reasoning was seen either way"}
}

// probeContinue compares prompt lengths: an answer that is continued has neither its end mark nor a new turn behind it.
func (c *Client) probeContinue(ctx context.Context, nonce string, _ Identity) Feature {
	const name = "continue-final"
	turns := []Message{{Role: "user", Content: short(nonce)}, {Role: "assistant", Content: "The capital of France is"}}
	count := func(extra map[string]any) (Count, error) {
		a, err := c.Chat(ctx, ChatRequest{Messages: turns, Sampling: Sampling{MaxTokens: 1, Extra: extra}})
		return a.Usage.Prompt, err
	}
	with, err := count(map[string]any{"continue_final_message": true, "add_generation_prompt": false})
	if err != nil {
		return outcome(name, err)
	}
	without, err := count(nil)
	switch {
	case err != nil || !with.Known || !without.Known:
		return Feature{Name: name, State: Unknown, Detail: "accepted; whether it works cannot be told"}
	case with.N < without.N:
		return Feature{Name: name, State: Supported, Detail: fmt.Sprintf("%d prompt tokens instead of %d", with.N, without.N)}
	}
	return Feature{Name: name, State: Unsupported, Detail: "accepted and ignored: the prompt is as long as without it"}
}

// probeIndexer asks SGLang's native route for the selections of one token of a short prompt.
func (c *Client) probeIndexer(ctx context.Context, nonce string, id Identity) Feature {
	const name = "indexer-topk"
	if id.Kind == KindVLLM || id.Kind == KindLlamaCPP {
		return Feature{Name: name, State: Unsupported, Detail: string(id.Kind) + " does not give it"}
	}
	b, _, err := c.Post(ctx, "/generate", map[string]any{
		"text": short(nonce), "return_indexer_topk": true,
		"sampling_params": map[string]any{"max_new_tokens": 1, "temperature": 0},
	})
	if err != nil {
		return outcome(name, err)
	}
	var v struct {
		Meta struct {
			Topk string `json:"indexer_topk"`
		} `json:"meta_info"`
	}
	if json.Unmarshal(b, &v) != nil || v.Meta.Topk == "" {
		return Feature{
			Name:   name,
			State:  Unsupported,
			Detail: "accepted and ignored: start the server with --enable-return-indexer-topk",
		}
	}
	return Feature{Name: name, State: Supported, Detail: "on /generate"}
}

func ask(text string) []Message { return []Message{{Role: "user", Content: text}} }
