package endpoint

import (
	"encoding/json"
	"fmt"

	"github.com/sashabaranov/go-openai"
)

// ContentForm is how an assistant turn without text is written: servers differ in which of the three forms
// they accept on turns that only call tools.
type ContentForm int

// The three forms. A turn with text is always written as text.
const (
	AsText   ContentForm = iota // "content": ""
	AsNull                      // "content": null
	AsAbsent                    // no content field
)

// Field names for reasoning, in requests and answers.
const (
	FieldReasoning        = "reasoning"         // vLLM
	FieldReasoningContent = "reasoning_content" // SGLang, llama.cpp, older vLLM
)

// Message is one turn of a chat.
type Message struct {
	Role       string
	Content    string
	Form       ContentForm // of an empty Content
	Reasoning  string      // sent back with an assistant turn; empty: not sent
	Field      string      // name for Reasoning: FieldReasoning or FieldReasoningContent; empty: the latter
	ToolCalls  []ToolCall
	ToolCallID string // of a turn with role "tool"
}

// ToolCall is one call that the model asks for. Arguments is the text as it came; Valid says whether it is
// one JSON object, which it is not when the answer was cut by the token cap.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string
	Valid     bool
}

// openai returns the turn as the library has it, and what the library cannot say of it: an empty or null content, which
// it drops, reasoning under vLLM's name, and a call without arguments.
func (m Message) openai() (turn openai.ChatCompletionMessage, more map[string]any, err error) {
	turn = openai.ChatCompletionMessage{
		Role: m.Role, Content: m.Content, ReasoningContent: m.Reasoning, ToolCallID: m.ToolCallID,
	}
	more = map[string]any{}
	switch {
	case m.Content == "" && m.Form == AsText:
		more["content"] = ""
	case m.Content == "" && m.Form == AsNull:
		more["content"] = nil
	}
	switch m.Field {
	case "", FieldReasoningContent:
	case FieldReasoning:
		turn.ReasoningContent = ""
		if m.Reasoning != "" {
			more[FieldReasoning] = m.Reasoning
		}
	default:
		return turn, nil, fmt.Errorf("endpoint: reasoning goes into %q or %q, not into %q", FieldReasoning,
			FieldReasoningContent, m.Field)
	}
	for _, t := range m.ToolCalls {
		call := openai.ToolCall{ID: t.ID, Type: openai.ToolTypeFunction}
		call.Function = openai.FunctionCall{Name: t.Name, Arguments: t.Arguments}
		turn.ToolCalls = append(turn.ToolCalls, call)
		if t.Arguments == "" {
			more["tool_calls"] = m.calls()
		}
	}
	return turn, more, nil
}

func (m Message) calls() []any {
	var list []any
	for _, t := range m.ToolCalls {
		list = append(list, map[string]any{
			"id": t.ID, "type": "function", "function": map[string]any{"name": t.Name, "arguments": t.Arguments},
		})
	}
	return list
}

// longText is the length in bytes above which the text of a turn does not go through the library: encoding/json reads
// what a MarshalJSON returns once more for each level above it. A prompt of 128 KiB takes 1.4 ms of processor time with
// the library alone and 0.65 ms so.
const longText = 8 << 10

// MarshalJSON writes the fields that the turn has.
func (m Message) MarshalJSON() ([]byte, error) {
	turn, more, err := m.openai()
	if err != nil {
		return nil, err
	}
	if m.Content != "" {
		turn.Content, more["content"] = "", m.Content
	}
	raw, err := json.Marshal(turn)
	if err != nil {
		return nil, fmt.Errorf("endpoint: a %q turn: %w", m.Role, err)
	}
	return merge(raw, more)
}

// turns is the JSON of a list.
func turns(list []Message) (json.RawMessage, error) {
	out := []byte{'['}
	for i, m := range list {
		raw, err := m.MarshalJSON()
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, raw...)
	}
	return append(out, ']'), nil
}
