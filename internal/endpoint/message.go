package endpoint

import (
	"encoding/json"
	"errors"
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
func (m Message) MarshalJSON() ([]byte, error) { return m.appendTo(nil) }

// appendTo writes the turn by hand: encoding/json would read a long prompt three times more to compact it.
func (m Message) appendTo(out []byte) ([]byte, error) {
	out = append(out, '{')
	put := func(name string, v any) error {
		b, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("endpoint: field %q of a %q turn: %w", name, m.Role, err)
		}
		if out[len(out)-1] != '{' {
			out = append(out, ',')
		}
		out = append(append(append(append(out, '"'), name...), `":`...), b...)
		return nil
	}
	err := put("role", m.Role)
	switch {
	case m.Content != "" || m.Form == AsText:
		err = errors.Join(err, put("content", m.Content))
	case m.Form == AsNull:
		err = errors.Join(err, put("content", nil))
	}
	field := m.Field
	switch field {
	case "":
		field = FieldReasoningContent
	case FieldReasoning, FieldReasoningContent:
	default:
		err = errors.Join(err, fmt.Errorf("endpoint: thoughts go into %q or %q, not into %q", FieldReasoning, FieldReasoningContent, m.Field))
	}
	if m.Thoughts != "" {
		err = errors.Join(err, put(field, m.Thoughts))
	}
	if len(m.ToolCalls) > 0 {
		type function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		}
		type call struct {
			ID       string   `json:"id"`
			Type     string   `json:"type"`
			Function function `json:"function"`
		}
		var list []call
		for _, t := range m.ToolCalls {
			list = append(list, call{t.ID, "function", function{t.Name, t.Arguments}})
		}
		err = errors.Join(err, put("tool_calls", list))
	}
	if m.ToolCallID != "" {
		err = errors.Join(err, put("tool_call_id", m.ToolCallID))
	}
	return append(out, '}'), err
}

// turns writes a list of turns.
func turns(list []Message) ([]byte, error) {
	size := 2
	for _, m := range list {
		size += len(m.Content) + len(m.Content)/8 + 64
	}
	out := append(make([]byte, 0, size), '[')
	for i, m := range list {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = m.appendTo(out); err != nil {
			return nil, err
		}
	}
	return append(out, ']'), nil
}
