package endpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// reply collects one answer, from a whole body or from the events of a stream: only choice 0, text up to the
// finish reason, and of each count the value seen last.
type reply struct {
	stream    bool
	redact    redactor // for what errors and notes quote
	events    int      // with choices
	pieces    int      // of text, reasoning or tool calls
	model     string
	content   joined
	reasoning joined
	calls     calls
	tokens    []Token
	shape     Shape
	finish    string
	late      int // bytes of text after the finish reason
	usage     Usage
	notes     []Note
}

// joined is a text in pieces. It keeps the JSON spelling, so that a character whose UTF-8 bytes or surrogates were
// split between two pieces is whole again when they are decoded together.
type joined struct {
	raw  []byte
	null bool
}

func (j *joined) add(raw json.RawMessage) (grew, odd bool) {
	switch {
	case len(raw) == 0:
		return false, false
	case string(raw) == "null":
		j.null = true
		return false, false
	case raw[0] == '"':
		j.raw = append(j.raw, raw[1:len(raw)-1]...)
		return len(raw) > 2, false
	}
	var parts []struct {
		Text json.RawMessage `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return false, true
	}
	for _, p := range parts { // content as a list of parts
		if g, o := j.add(p.Text); g || o {
			grew, odd = grew || g, odd || o
		}
	}
	return grew, odd
}

// repeatedBy reports whether raw is all of the text so far.
func (j *joined) repeatedBy(raw json.RawMessage) bool {
	if len(raw) < 3 || raw[0] != '"' || len(j.raw) == 0 {
		return false
	}
	var s string
	return json.Unmarshal(raw, &s) == nil && s == j.text()
}

func (j *joined) text() string {
	if len(j.raw) == 0 {
		return ""
	}
	quoted := make([]byte, 0, len(j.raw)+2)
	quoted = append(append(append(quoted, '"'), j.raw...), '"')
	var s string
	if json.Unmarshal(quoted, &s) != nil {
		return string(j.raw) // cannot happen: every piece was a JSON string
	}
	return s
}

type event struct {
	failure
	Model   json.RawMessage `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
	Timings json.RawMessage `json:"timings"`
}

type choice struct {
	Index    number          `json:"index"`
	Text     json.RawMessage `json:"text"`
	Delta    *turn           `json:"delta"`
	Message  *turn           `json:"message"`
	Logprobs *logprobs       `json:"logprobs"`
	Finish   json.RawMessage `json:"finish_reason"`
	Usage    json.RawMessage `json:"usage"`
}

type turn struct {
	Content          json.RawMessage `json:"content"`
	Reasoning        json.RawMessage `json:"reasoning"`
	ReasoningContent json.RawMessage `json:"reasoning_content"`
	ToolCalls        []toolDelta     `json:"tool_calls"`
}

// add takes a whole body or one event.
func (r *reply) add(data []byte) error {
	var ev event
	err := json.Unmarshal(data, &ev)
	if err != nil && !oddType(err) {
		if plain, changed := finiteJSON(data); changed {
			r.note(NoteNotFinite, "the answer contains NaN or Infinity, which JSON does not allow; read as null and -9999")
			ev = event{}
			err = json.Unmarshal(plain, &ev)
		}
	}
	if err != nil && !oddType(err) {
		if r.stream {
			return fmt.Errorf("endpoint: stream event %d is not valid JSON (%q): %w", r.events, r.quote(data), err)
		}
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok && syntax.Offset >= int64(len(data)) {
			return &TruncatedError{
				Got:     int64(len(data)),
				Nothing: len(data) == 0,
				Why:     "the body ends in the middle: " + err.Error(),
			}
		}
		return fmt.Errorf("endpoint: the answer is not valid JSON (%q): %w", r.quote(data), err)
	}
	if err != nil {
		r.note(NoteOddTypes, err.Error())
	}
	if msg, code, bad := ev.reported(len(ev.Choices) == 0); bad {
		where := "body"
		if r.stream {
			where = "stream"
		}
		return &StatusError{Message: msg, Code: code, Where: where}
	}
	if m := word(ev.Model); present(ev.Model) {
		r.model = m
	}
	// The first usage of a stream in an event that says all of the text once more is a summary; usage with every
	// event comes with pieces of text.
	summary := r.stream && r.pieces > 1 && present(ev.Usage) && !r.usage.Prompt.Known
	r.usage.take(ev.Usage)
	r.usage.timings(ev.Timings)
	if len(ev.Choices) > 0 {
		r.events++
	}
	for _, c := range ev.Choices {
		if c.Index.ok && c.Index.v != 0 {
			continue
		}
		r.usage.take(c.Usage)
		r.choice(c, data, summary)
	}
	return nil
}

func (r *reply) choice(c choice, data []byte, summary bool) {
	t := c.Delta
	// Some servers repeat the whole message in the last event; it counts only where nothing came before.
	if !r.stream || t == nil && r.pieces == 0 {
		t = c.Message
	}
	text := c.Text
	if t != nil {
		text = t.Content // of a choice in both forms, the chat's counts
	}
	if r.finish != "" || summary && r.content.repeatedBy(text) {
		r.late += max(0, len(text)-2)
		if r.finish == "" && present(c.Finish) {
			r.finish = word(c.Finish)
		}
		return
	}
	if t == nil {
		r.piece(&r.content, text)
	} else {
		before := len(r.reasoning.raw)
		r.piece(&r.reasoning, t.Reasoning)
		if len(r.reasoning.raw) == before { // a server that sends both sends the same text twice
			r.piece(&r.reasoning, t.ReasoningContent)
		}
		r.piece(&r.content, t.Content)
		if len(t.ToolCalls) > 0 {
			r.pieces++
			r.calls.add(t.ToolCalls)
		}
	}
	r.logprobs(c.Logprobs, data)
	if present(c.Finish) {
		r.finish = word(c.Finish)
	}
}

func (r *reply) piece(to *joined, raw json.RawMessage) {
	grew, odd := to.add(raw)
	if grew {
		r.pieces++
	}
	if odd {
		r.note(NoteOddTypes, fmt.Sprintf("content is neither a string nor a list of parts: %q", r.quote(raw)))
	}
}

// quote is the beginning of something, without the key: redacted before it is cut.
func (r *reply) quote(b []byte) string { return shorten(string(r.redact.bytes(b)), 80) }

// note keeps the first of each slug.
func (r *reply) note(slug, detail string) {
	for _, n := range r.notes {
		if n.Slug == slug {
			return
		}
	}
	r.notes = append(r.notes, Note{slug, detail})
}

// take reads usage; what a later one leaves out keeps its value.
func (u *Usage) take(raw json.RawMessage) {
	if !present(raw) {
		return
	}
	var v struct {
		Prompt     number `json:"prompt_tokens"`
		Completion number `json:"completion_tokens"`
		Reasoning  number `json:"reasoning_tokens"` // SGLang
		PromptMore *struct {
			Cached number `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
		CompletionMore *struct {
			Reasoning number `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	}
	if err := json.Unmarshal(raw, &v); err != nil && !oddType(err) {
		return
	}
	set(&u.Prompt, v.Prompt)
	set(&u.Completion, v.Completion)
	set(&u.Reasoning, v.Reasoning)
	if v.PromptMore != nil {
		set(&u.Cached, v.PromptMore.Cached)
	}
	if v.CompletionMore != nil {
		set(&u.Reasoning, v.CompletionMore.Reasoning)
	}
}

// timings reads llama.cpp's count of reused tokens.
func (u *Usage) timings(raw json.RawMessage) {
	var v struct {
		Cached number `json:"cache_n"`
	}
	if present(raw) && json.Unmarshal(raw, &v) == nil && !u.Cached.Known {
		set(&u.Cached, v.Cached)
	}
}

func set(c *Count, n number) {
	if n.ok && n.v >= 0 && n.v < math.MaxInt32 {
		*c = Count{int(n.v), true}
	}
}

func known(n *int) Count {
	if n == nil {
		return Count{}
	}
	return Count{*n, true}
}

// oddType reports an error after which everything else of the value was decoded all the same.
func oddType(err error) bool {
	_, ok := errors.AsType[*json.UnmarshalTypeError](err)
	return ok
}
