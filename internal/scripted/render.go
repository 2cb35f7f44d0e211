package scripted

import (
	"encoding/json"
	"path"
	"strings"
)

// template says how messages become text; the fields are what faults change.
type template struct {
	dropDeveloper, dropLateSystem, dropTools bool
	dropReasoningContent, dropReasoning      bool
	bos                                      int  // tokens at the start; 1 is right
	noGeneration                             bool // no header for the answer
	listLiteral                              bool // empty content is written as a list
}

const (
	bosToken = "<|bos|>"
	endToken = "<|end|>"
	// imageTokens is the length of every picture: what it shows is not in the tokens.
	imageTokens = 8
)

// chat renders a chat request. Counts: one token for BOS, one per role header, one at each message's end, one for
// the header of the answer; think tags are one token each.
func (t template) chat(r *request) *prompt {
	w := &writer{}
	for range t.bos {
		w.frame(bosToken)
	}
	if len(r.Tools) > 0 && !t.dropTools {
		w.frame("<|tools|>")
		for _, f := range r.Tools {
			w.part("tools", toolList, -1, describe(f)+"\n")
		}
		w.frame(endToken)
	}
	for i, m := range r.Messages {
		if m.Role == "developer" && t.dropDeveloper || m.late && t.dropLateSystem {
			continue
		}
		w.message(t, i, m)
	}
	if !t.noGeneration {
		w.frame("<|assistant|>")
	}
	return w.prompt()
}

// rawWith is raw with as many BOS tokens as the template has.
func (t template) rawWith(s string) *prompt {
	w := &writer{}
	for range t.bos {
		w.frame(bosToken)
	}
	w.part("user", content, 0, s)
	return w.prompt()
}

// raw renders a text completion: BOS and the text.
func (t template) raw(s string) *prompt {
	w := &writer{}
	w.frame(bosToken)
	w.part("user", content, 0, s)
	w.turns = 1
	return w.prompt()
}

type writer struct {
	text
	parts  []part
	turns  int
	images []string
}

func (w *writer) prompt() *prompt {
	return &prompt{s: w.buf.String(), ends: w.ends, parts: w.parts, turns: w.turns, images: w.images}
}

func (w *writer) frame(s string) {
	w.parts = append(w.parts, part{kind: frame, msg: -1, from: len(w.ends), to: len(w.ends) + 1})
	w.special(s)
}

func (w *writer) part(role string, k kind, msg int, s string) {
	from := len(w.ends)
	w.add(s)
	if len(w.ends) > from {
		w.parts = append(w.parts, part{role: role, kind: k, msg: msg, from: from, to: len(w.ends)})
	}
}

func (w *writer) message(t template, i int, m message) {
	role := m.Role
	if role == "developer" {
		role = "system"
	}
	w.frame("<|" + role + "|>")
	if role == "user" {
		w.turns++
	}
	for _, url := range m.images {
		w.parts = append(w.parts, part{role: role, kind: image, msg: i, from: len(w.ends), to: len(w.ends) + imageTokens})
		for range imageTokens {
			w.special("<|image|>")
		}
		w.images = append(w.images, shows(url))
	}
	if role == "assistant" {
		w.reasoning(t, i, m)
	}
	body := m.text
	if role == "assistant" {
		body = outside(body)
	}
	if t.listLiteral && body == "" {
		body = "[]"
	}
	w.part(role, content, i, body)
	for _, c := range m.ToolCalls {
		w.frame("<|call|>")
		w.part(role, toolCall, i, c.Function.Name+" "+c.Function.Arguments)
	}
	w.frame(endToken)
}

// reasoning writes an assistant turn's reasoning, from either field or from tags in its content. An open tag is
// closed at the turn's end.
func (w *writer) reasoning(t template, i int, m message) {
	var inside string
	tagged := false
	if m.ReasoningContent != nil {
		tagged = true
		if !t.dropReasoningContent {
			inside = *m.ReasoningContent
		}
	}
	if m.Reasoning != nil && inside == "" {
		tagged = true
		if !t.dropReasoning {
			inside = *m.Reasoning
		}
	}
	if s, open, ok := strings.Cut(m.text, "<think>"); ok {
		_ = s
		tagged = true
		reasoning, _, _ := strings.Cut(open, "</think>")
		inside += reasoning
	}
	if !tagged {
		return
	}
	w.frame("<think>")
	w.part("assistant", reasoning, i, inside)
	w.frame("</think>")
}

// outside is content without reasoning in tags.
func outside(s string) string {
	before, rest, ok := strings.Cut(s, "<think>")
	if !ok {
		return s
	}
	_, after, _ := strings.Cut(rest, "</think>")
	return before + after
}

// openThought says whether an assistant turn opens a reasoning tag and never closes it.
func openThought(m message) bool {
	i := strings.LastIndex(m.text, "<think>")
	return m.Role == "assistant" && i >= 0 && !strings.Contains(m.text[i:], "</think>")
}

func describe(t tool) string {
	params := string(t.Function.Parameters)
	if params == "null" {
		params = ""
	}
	return strings.TrimSpace("tool " + t.Function.Name + ": " + t.Function.Description + " " + params)
}

// shows is what the picture behind a URL shows: its file name in words, or the text of a data URL.
func shows(url string) string {
	if _, data, ok := strings.Cut(url, "data:"); ok {
		if _, body, ok := strings.Cut(data, ","); ok {
			return "a picture of " + body
		}
	}
	name := strings.TrimSuffix(path.Base(url), path.Ext(url))
	return "a picture of a " + strings.NewReplacer("-", " ", "_", " ").Replace(name)
}

// properties lists the parameters of a tool in the order of its schema.
func properties(t tool) []string {
	var schema struct {
		Properties json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(t.Function.Parameters, &schema) != nil || len(schema.Properties) == 0 {
		return nil
	}
	dec := json.NewDecoder(strings.NewReader(string(schema.Properties)))
	var out []string
	if _, err := dec.Token(); err != nil {
		return nil
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return out
		}
		if s, ok := key.(string); ok {
			out = append(out, s)
		}
		var skip json.RawMessage
		if dec.Decode(&skip) != nil {
			return out
		}
	}
	return out
}
