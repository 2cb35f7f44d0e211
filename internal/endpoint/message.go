package endpoint

import (
	"encoding/json"
	"fmt"
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

// Names under which servers take and give thoughts.
const (
	FieldReasoning        = "reasoning"         // vLLM
	FieldReasoningContent = "reasoning_content" // SGLang, llama.cpp, older vLLM
)

// Message is one turn of a chat.
type Message struct {
	Role       string
	Content    string
	Form       ContentForm // of an empty Content
	Thoughts   string      // sent back with an assistant turn; empty: not sent
	Field      string      // name for Thoughts: FieldReasoning or FieldReasoningContent; empty: the latter
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

// MarshalJSON writes the fields that the turn has.
func (m Message) MarshalJSON() ([]byte, error) {
	type function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	type call struct {
		ID       string   `json:"id"`
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	v := struct {
		Role      string          `json:"role"`
		Content   json.RawMessage `json:"content,omitempty"`
		Reasoning string          `json:"reasoning,omitempty"`
		Thoughts  string          `json:"reasoning_content,omitempty"`
		Calls     []call          `json:"tool_calls,omitempty"`
		CallID    string          `json:"tool_call_id,omitempty"`
	}{Role: m.Role, CallID: m.ToolCallID}
	switch {
	case m.Content != "" || m.Form == AsText:
		b, err := json.Marshal(m.Content)
		if err != nil {
			return nil, fmt.Errorf("endpoint: content of a %q turn: %w", m.Role, err)
		}
		v.Content = b
	case m.Form == AsNull:
		v.Content = json.RawMessage("null")
	}
	switch m.Field {
	case FieldReasoning:
		v.Reasoning = m.Thoughts
	case "", FieldReasoningContent:
		v.Thoughts = m.Thoughts
	default:
		return nil, fmt.Errorf("endpoint: thoughts go into %q or %q, not into %q", FieldReasoning, FieldReasoningContent, m.Field)
	}
	for _, t := range m.ToolCalls {
		v.Calls = append(v.Calls, call{t.ID, "function", function{t.Name, t.Arguments}})
	}
	return json.Marshal(v)
}
