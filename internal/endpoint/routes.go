package endpoint

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// ModelInfo is one row of /v1/models. Window is the context length where the server tells it.
type ModelInfo struct {
	ID     string
	Window Count
}

// Models lists the models in the server's order.
func (c *Client) Models(ctx context.Context) ([]ModelInfo, error) {
	call := &call{}
	list, err := c.api.ListModels(context.WithValue(ctx, callKey{}, call))
	if err != nil {
		return nil, fmt.Errorf("models: %w", c.wrap(err))
	}
	// go-openai's Model has no window: read it from the same bytes.
	var raw struct {
		Data []listedWindow `json:"data"`
	}
	if err := json.Unmarshal(call.body, &raw); err != nil {
		return nil, fmt.Errorf("models: endpoint: the list cannot be read: %w", err)
	}
	var out []ModelInfo
	for i, m := range list.Models {
		info := ModelInfo{ID: m.ID}
		if i < len(raw.Data) {
			info.Window = raw.Data[i].count()
		}
		out = append(out, info)
	}
	return out, nil
}

// listedWindow is a model's context length under the names that servers and proxies give it.
type listedWindow struct {
	MaxModelLen   *int `json:"max_model_len"`    // vLLM, SGLang
	MaxInput      *int `json:"max_input_tokens"` // litellm
	ContextLength *int `json:"context_length"`   // hosted routers
	ContextWindow *int `json:"context_window"`
}

func (w listedWindow) count() Count {
	for _, n := range []*int{w.MaxModelLen, w.MaxInput, w.ContextLength, w.ContextWindow} {
		if n != nil && *n > 0 {
			return known(n)
		}
	}
	return Count{}
}

// Tokenization is the server's count of a prompt. Supported is false when the server has no such
// route, which is an answer and no error.
type Tokenization struct {
	Supported bool
	Count     int
	IDs       []int // of TokenizeText; nil where the server gives only the count
	Window    Count
}

// TokenizeChat counts a chat prompt as the server would render it, generation prompt included. It leaves the ids
// unread: prompts are long and counted often.
func (c *Client) TokenizeChat(ctx context.Context, msgs []Message) (Tokenization, error) {
	list, err := turns(msgs)
	if err != nil {
		return Tokenization{}, fmt.Errorf("tokenize: %w", err)
	}
	t, err := c.tokenize(ctx, map[string]any{"model": c.model, "messages": list, "add_generation_prompt": true}, false)
	if err != nil || !t.Supported || t.Count > 0 {
		return t, err
	}
	// llama.cpp knows neither field and counts nothing: it renders on one route and counts on another.
	b, _, err := c.Post(ctx, "/apply-template", map[string]any{"messages": list})
	if statusOf(err) == http.StatusNotFound {
		return Tokenization{}, nil
	}
	if err != nil {
		return Tokenization{}, fmt.Errorf("tokenize: rendering the prompt: %w", err)
	}
	var v struct {
		Prompt string `json:"prompt"`
	}
	if err := json.Unmarshal(b, &v); err != nil || v.Prompt == "" {
		return Tokenization{}, fmt.Errorf("tokenize: endpoint: the rendered prompt cannot be read: %q",
			shorten(string(b), 80))
	}
	return c.tokenize(ctx, map[string]any{"content": v.Prompt, "add_special": true, "parse_special": true}, false)
}

// TokenizeText counts a text prompt.
func (c *Client) TokenizeText(ctx context.Context, text string) (Tokenization, error) {
	t, err := c.tokenize(ctx, map[string]any{"model": c.model, "prompt": text}, true)
	if err != nil || !t.Supported || t.Count > 0 || text == "" {
		return t, err
	}
	return c.tokenize(ctx, map[string]any{"content": text, "add_special": true}, true)
}

// tokenize asks /tokenize (vLLM, SGLang) and, where that is missing, /v1/tokenize (SGLang behind a proxy).
func (c *Client) tokenize(ctx context.Context, body map[string]any, ids bool) (Tokenization, error) {
	payload, err := merge([]byte("{}"), body)
	if err != nil {
		return Tokenization{}, fmt.Errorf("tokenize: %w", err)
	}
	for _, path := range []string{"/tokenize", "/v1/tokenize"} {
		b, err := c.postRaw(ctx, path, payload)
		switch statusOf(err) {
		case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
			continue
		}
		if err != nil {
			return Tokenization{}, fmt.Errorf("tokenize: %w", err)
		}
		return readTokens(b, ids)
	}
	return Tokenization{}, nil
}

// readTokens reads the count, and the ids where they are wanted or nothing else tells the count.
func readTokens(b []byte, ids bool) (Tokenization, error) {
	var v struct {
		Count  *int            `json:"count"`
		Tokens json.RawMessage `json:"tokens"`
		Window *int            `json:"max_model_len"`
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return Tokenization{}, fmt.Errorf("tokenize: endpoint: the answer cannot be read (%q): %w", shorten(string(b), 80),
			err)
	}
	out := Tokenization{Supported: true, Window: known(v.Window)}
	if v.Count != nil {
		out.Count = *v.Count
		if !ids {
			return out, nil
		}
	}
	var list []json.RawMessage
	if present(v.Tokens) {
		if err := json.Unmarshal(v.Tokens, &list); err != nil {
			return Tokenization{}, fmt.Errorf("tokenize: endpoint: the tokens cannot be read (%q): %w",
				shorten(string(v.Tokens), 80), err)
		}
	}
	switch {
	case v.Count == nil && list == nil:
		return Tokenization{}, fmt.Errorf("tokenize: endpoint: the answer has neither count nor tokens: %q",
			shorten(string(b), 80))
	case v.Count == nil:
		out.Count = len(list)
	}
	if ids && len(list) > 0 {
		out.IDs = plainIDs(list)
	}
	return out, nil
}

// plainIDs reads token ids, plain or as llama.cpp's {"id": 1, "piece": "a"}; nil when one is neither.
func plainIDs(raw []json.RawMessage) []int {
	out := make([]int, 0, len(raw))
	for _, r := range raw {
		var n int
		var v struct {
			ID *int `json:"id"`
		}
		switch {
		case json.Unmarshal(r, &n) == nil:
			out = append(out, n)
		case json.Unmarshal(r, &v) == nil && v.ID != nil:
			out = append(out, *v.ID)
		default:
			return nil
		}
	}
	return out
}
