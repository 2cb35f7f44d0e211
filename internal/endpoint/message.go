package endpoint

import (
	"bytes"
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
func (m Message) MarshalJSON() ([]byte, error) {
	w := newWriter(len(m.Content) + 64)
	err := w.turn(m)
	return w.buf.Bytes(), err
}

// writer puts JSON into one buffer: encoding/json would read and copy a long prompt three times more to compact it.
type writer struct {
	buf bytes.Buffer
	enc *json.Encoder
}

func newWriter(size int) *writer {
	w := &writer{}
	w.buf.Grow(size)
	w.enc = json.NewEncoder(&w.buf)
	return w
}

// value writes one value.
func (w *writer) value(v any) error {
	if list, ok := v.([]Message); ok {
		return w.turns(list)
	}
	if err := w.enc.Encode(v); err != nil {
		return fmt.Errorf("endpoint: %w", err)
	}
	w.buf.Truncate(w.buf.Len() - 1) // the newline
	return nil
}

func (w *writer) turn(m Message) error {
	w.buf.WriteByte('{')
	first := true
	put := func(name string, v any) error {
		if !first {
			w.buf.WriteByte(',')
		}
		first = false
		w.buf.WriteString(`"` + name + `":`)
		if err := w.value(v); err != nil {
			return fmt.Errorf("endpoint: field %q of a %q turn: %w", name, m.Role, err)
		}
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
		err = errors.Join(err, fmt.Errorf("endpoint: thoughts go into %q or %q, not into %q", FieldReasoning,
			FieldReasoningContent, m.Field))
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
	w.buf.WriteByte('}')
	return err
}

// turns writes a list of turns.
func (w *writer) turns(list []Message) error {
	w.buf.WriteByte('[')
	for i, m := range list {
		if i > 0 {
			w.buf.WriteByte(',')
		}
		if err := w.turn(m); err != nil {
			return err
		}
	}
	w.buf.WriteByte(']')
	return nil
}
