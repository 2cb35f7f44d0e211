package probe

import (
	"context"
	"encoding/json"
	"math"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/fidelity/internal/ask"
	"github.com/assay-suite/assay/internal/endpoint"
)

// added is the text whose tokens are followed through the template: plain words, about one token each.
const added = "The river harbour keeps a copper ladder beside the quiet orchard and a lantern near the garden market."

// form is one way of sending the same chat, with the form that it is compared with.
type form struct {
	name, base string
	messages   []endpoint.Message
	tools      any
}

func forms(word string) []form {
	opening := endpoint.Message{Role: "user", Content: word + ". Reply with the word ready."}
	first := []endpoint.Message{opening, {Role: "assistant", Content: "ready"}}
	last := endpoint.Message{Role: "user", Content: "Reply with the word done."}
	then := func(middle ...endpoint.Message) []endpoint.Message {
		return append(append(append([]endpoint.Message{}, first...), middle...), last)
	}
	thought := func(field string) []endpoint.Message {
		return []endpoint.Message{opening, {Role: "assistant", Content: "ready", Reasoning: added, Field: field}, last}
	}
	call := func(result string) []endpoint.Message {
		return []endpoint.Message{
			opening,
			{Role: "assistant", ToolCalls: []endpoint.ToolCall{{ID: "call_1", Name: "reading", Arguments: "{}"}}},
			{Role: "tool", ToolCallID: "call_1", Content: result},
			last,
		}
	}
	tool := []any{map[string]any{"type": "function", "function": map[string]any{
		"name": "save", "description": added, "parameters": map[string]any{
			"type": "object", "properties": map[string]any{"value": map[string]any{"type": "string"}},
		},
	}}}
	return []form{
		{"plain", "", []endpoint.Message{opening}, nil},
		{"word", "plain", ask.User("amber " + opening.Content), nil},
		{"text", "plain", ask.User(added + " " + opening.Content), nil},
		{"system", "plain", []endpoint.Message{{Role: "system", Content: added}, opening}, nil},
		{"developer", "plain", []endpoint.Message{{Role: "developer", Content: added}, opening}, nil},
		{"tools", "plain", []endpoint.Message{opening}, tool},
		{"turns", "", then(), nil},
		{"late-system", "turns", then(endpoint.Message{Role: "system", Content: added}), nil},
		{"reasoning", "turns", thought(endpoint.FieldReasoning), nil},
		{"reasoning-content", "turns", thought(endpoint.FieldReasoningContent), nil},
		{"first-user", "turns", append(ask.User(added+" "+opening.Content), then()[1:]...), nil},
		{"tool-turn", "", call("fine"), nil},
		{"tool-result", "tool-turn", call(added + " fine"), nil},
	}
}

// accounting compares prompt_tokens of chats that differ in one part: what the template drops costs nothing.
func accounting() probe {
	return probe{
		name: evidence.Accounting,
		cost: func(*Runner) Cost { return asks(len(forms(""))+1, 60) },
		skip: func(r *Runner) string {
			if r.o.Survey.State("usage") == endpoint.Unsupported {
				return "the server reports no prompt_tokens"
			}
			return ""
		},
		run: accountingRun,
	}
}

func accountingRun(ctx context.Context, t *task) error {
	t.say("counter", t.r.counter)
	got := map[string]int{}
	for i, f := range forms("") {
		// All forms have the same first word, so that their counts can be compared.
		rs, err := t.take(ctx, one(t.id("%s", f.name), step{tokens: 60, make: func(_ context.Context, s salt) (query, error) {
			g := forms(salt{nonce: s.nonce}.word("accounting"))[i]
			return query{
				once: true,
				chat: endpoint.ChatRequest{Messages: g.messages, Tools: g.tools, Sampling: endpoint.Sampling{MaxTokens: 1}},
			}, nil
		}}))
		if err != nil {
			return err
		}
		n := rs[0][0].Prompt
		if n < 0 || rs[0][0].Error != "" {
			continue
		}
		got[f.name] = n
		switch base, ok := got[f.base]; {
		case f.base == "":
			t.number(f.name, float64(n))
		case ok:
			t.number(f.name, float64(n-base))
		}
	}
	return t.againstTokenizer(ctx, got)
}

// againstTokenizer compares what the chat and the text route report with the tokenize route's counts.
func (t *task) againstTokenizer(ctx context.Context, got map[string]int) error {
	r := t.r
	if r.counter != "tokenize" {
		return nil
	}
	text := salt{nonce: r.o.Nonce}.word("accounting") + ". Reply with the word ready."
	if n, ok := got["plain"]; ok {
		if want, err := r.ask().Count(ctx, text); err == nil {
			t.number("tokenize", float64(n-want))
		}
	}
	t.heads(ctx, text)
	if r.o.Survey.State("completions") != endpoint.Supported {
		return nil
	}
	rs, err := t.take(ctx, one(t.id("raw"), step{tokens: 60, make: func(context.Context, salt) (query, error) {
		return query{
			once: true,
			raw:  &endpoint.CompletionRequest{Prompt: text, Sampling: endpoint.Sampling{MaxTokens: 1}},
		}, nil
	}}))
	if err != nil || rs[0][0].Prompt < 0 {
		return err
	}
	if want, err := r.o.Client.TokenizeText(ctx, text); err == nil && want.Supported {
		t.number("raw-tokenize", float64(rs[0][0].Prompt-want.Count))
	}
	return nil
}

// heads asks the tokenize route for what counts of prompts do not show: whether a chat's ids begin with one id twice,
// as they do when the template writes a first token and the encoder adds it again; and how many tokens the model's own
// turn begins with.
func (t *task) heads(ctx context.Context, text string) {
	ids := func(generation bool) []int {
		body, _, err := t.r.o.Client.Post(ctx, "/tokenize", map[string]any{
			"model": t.r.o.Client.Model(), "messages": []any{map[string]any{"role": "user", "content": text}},
			"add_generation_prompt": generation,
		})
		var v struct {
			Tokens []int `json:"tokens"`
		}
		if err != nil || json.Unmarshal(body, &v) != nil {
			return nil
		}
		return v.Tokens
	}
	with, without := ids(true), ids(false)
	if len(with) < 2 {
		return
	}
	twice := 0.0
	if with[0] == with[1] {
		twice = 1
	}
	t.number("head-twice", twice)
	if len(without) > 0 {
		t.number("answer-head", float64(len(with)-len(without)))
	}
}

// keep notes the prompt tokens that were reported for prompts of a length: a server that cuts prompts tells it here.
func (t *task) keep(length int, rss [][]Record) {
	r := t.r
	for _, rs := range rss {
		for _, v := range rs {
			if built := int(v.Numbers["built"]); built > 0 && v.Prompt >= 0 && v.Error == "" {
				share := float64(v.Prompt) / float64(built)
				least, ok := r.set.Number(evidence.Accounting, "kept-least")
				if !ok || share < least {
					r.set.Set(evidence.Accounting, "kept-least", share)
					r.set.Set(evidence.Accounting, "kept-least-at", float64(built))
					r.set.Set(evidence.Accounting, "kept-least-tokens", float64(v.Prompt))
				}
				name := "kept-" + itoa(length)
				if old, ok := r.set.Number(evidence.Accounting, name); ok {
					share = math.Min(old, share)
				}
				r.set.Set(evidence.Accounting, name, share)
			}
		}
	}
}
