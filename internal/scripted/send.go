package scripted

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"
)

// wireDamage is what faults do to the stream alone.
type wireDamage struct {
	every       int  // lose or split every n-th delta
	split       bool // split characters instead of losing deltas
	args        string
	callsFinish bool // finish tool_calls although the cap cut
}

// sender writes one call's answers.
type sender struct {
	e     *Engine
	c     *call
	w     http.ResponseWriter
	ctx   context.Context //nolint:containedctx // the sender lives as long as its request
	id    string
	began bool
}

type jsonMap = map[string]any

func (s *sender) head(object string, choices []any) jsonMap {
	model := s.c.r.Model
	if model == "" {
		model = s.e.o.Model
	}
	return jsonMap{"id": s.id, "object": object, "created": now(), "model": model, "choices": choices}
}

func (s *sender) usage(cs []choice) jsonMap {
	done, reasoned := 0, 0
	for _, k := range cs {
		done += k.tokens
		reasoned += len(k.reasoning)
	}
	return jsonMap{
		"prompt_tokens": s.c.reported, "completion_tokens": done, "total_tokens": s.c.reported + done,
		"prompt_tokens_details":     jsonMap{"cached_tokens": min(s.c.hit.tokens, s.c.reported)},
		"completion_tokens_details": jsonMap{"reasoning_tokens": reasoned},
	}
}

// full writes the answers as one JSON object.
func (s *sender) full(cs []choice) error {
	n := 0
	var out []any
	for i, k := range cs {
		n = max(n, k.tokens)
		text := joined(k.text)
		if s.c.chat {
			m := jsonMap{"role": "assistant", "content": text}
			if len(k.reasoning) > 0 {
				m["reasoning_content"] = strings.Join(k.reasoning, "")
			}
			if len(k.calls) > 0 {
				m["tool_calls"] = s.calls(k.calls)
				if text == "" {
					m["content"] = nil
				}
			}
			out = append(out, jsonMap{"index": i, "message": m, "logprobs": s.chatLogprobs(k.text), "finish_reason": k.finish})
			continue
		}
		tokens := k.text
		if s.c.r.Echo {
			tokens = append(s.c.echoed(), tokens...)
			text = joined(tokens)
		}
		out = append(out, jsonMap{
			"index":         i,
			"text":          text,
			"logprobs":      s.textLogprobs(tokens, s.c.r.Echo, 0),
			"finish_reason": k.finish,
		})
	}
	if err := pause(s.ctx, s.e.decoding(n)); err != nil {
		return err
	}
	object := "text_completion"
	if s.c.chat {
		object = "chat.completion"
	}
	v := s.head(object, out)
	v["usage"] = s.usage(cs)
	writeJSON(s.w, http.StatusOK, v)
	return nil
}

func joined(ts []scored) string {
	var b strings.Builder
	for _, t := range ts {
		b.WriteString(t.token)
	}
	return b.String()
}

func (s *sender) calls(bodies []callBody) []callMade {
	out := make([]callMade, len(bodies))
	for i, b := range bodies {
		out[i] = callMade{ID: fmt.Sprintf("call_%x_%d", s.c.key, i), Type: "function", Function: b}
	}
	return out
}

func bytesOf(s string) []int {
	out := make([]int, len(s))
	for i := range len(s) {
		out[i] = int(s[i])
	}
	return out
}

func (s *sender) chatLogprobs(ts []scored) any {
	if s.c.r.top < 0 {
		return nil
	}
	list := []any{}
	for _, t := range ts {
		tops := []any{}
		for _, a := range t.top {
			tops = append(tops, jsonMap{"token": a.token, "logprob": a.logprob, "bytes": bytesOf(a.token)})
		}
		list = append(list, jsonMap{"token": t.token, "logprob": t.logprob, "bytes": bytesOf(t.token), "top_logprobs": tops})
	}
	return jsonMap{"content": list}
}

func (s *sender) textLogprobs(ts []scored, first bool, offset int) any {
	if s.c.r.top < 0 {
		return nil
	}
	tokens, lps, tops, offsets := []string{}, []any{}, []any{}, []int{}
	for i, t := range ts {
		tokens, offsets = append(tokens, t.token), append(offsets, offset)
		offset += len(t.token)
		if first && i == 0 {
			lps, tops = append(lps, nil), append(tops, nil)
			continue
		}
		m := jsonMap{t.token: t.logprob}
		for _, a := range t.top {
			m[a.token] = a.logprob
		}
		lps, tops = append(lps, t.logprob), append(tops, m)
	}
	return jsonMap{"tokens": tokens, "token_logprobs": lps, "top_logprobs": tops, "text_offset": offsets}
}

// begin sends the headers of a stream once.
func (s *sender) begin() {
	if !s.began {
		s.began = true
		s.w.Header().Set("Content-Type", "text/event-stream")
		s.w.WriteHeader(http.StatusOK)
	}
}

// alive sends a comment line while a stream waits for its prefill.
func (s *sender) alive() {
	if s.c.r.Stream {
		s.begin()
		_ = s.write(": still working\n\n")
	}
}

func (s *sender) refuse(bad *apiError) {
	if !s.began {
		bad.write(s.w)
		return
	}
	_ = s.write("data: " + toJSON(bad.body()) + "\n\ndata: [DONE]\n\n")
}

func (s *sender) write(line string) error {
	if s.ctx.Err() != nil {
		return errGone
	}
	if _, err := io.WriteString(s.w, line); err != nil {
		return errGone
	}
	// A writer that cannot flush sends when the handler returns, which no reader can tell from a slow engine.
	_ = http.NewResponseController(s.w).Flush()
	return nil
}

// stream writes the answers as server-sent events, one per token.
func (s *sender) stream(cs []choice) error {
	s.begin()
	object := "text_completion"
	if s.c.chat {
		object = "chat.completion.chunk"
	}
	event := func(c jsonMap) error { return s.write("data: " + toJSON(s.head(object, []any{c})) + "\n\n") }
	for i, k := range cs {
		if err := s.one(event, i, k); err != nil {
			return err
		}
	}
	if o := s.c.r.StreamOptions; o != nil && o.IncludeUsage {
		v := s.head(object, []any{})
		v["usage"] = s.usage(cs)
		if err := s.write("data: " + toJSON(v) + "\n\n"); err != nil {
			return err
		}
	}
	return s.write("data: [DONE]\n\n")
}

func (s *sender) one(event func(jsonMap) error, i int, k choice) error {
	delta := func(d jsonMap, more jsonMap) error {
		c := jsonMap{"index": i, "delta": d, "logprobs": nil, "finish_reason": nil}
		maps.Copy(c, more)
		if err := pause(s.ctx, s.e.tick()); err != nil {
			return err
		}
		return event(c)
	}
	if s.c.chat {
		if err := event(jsonMap{
			"index":         i,
			"delta":         jsonMap{"role": "assistant", "content": ""},
			"logprobs":      nil,
			"finish_reason": nil,
		}); err != nil {
			return err
		}
		for _, t := range k.reasoning {
			if err := delta(jsonMap{"reasoning_content": t}, nil); err != nil {
				return err
			}
		}
	}
	offset := 0
	for j, t := range k.text {
		lost := s.c.wire.every > 0 && !s.c.wire.split && j%s.c.wire.every == s.c.wire.every-1
		if lost {
			continue
		}
		var err error
		switch {
		case !s.c.chat:
			if err = pause(s.ctx, s.e.tick()); err == nil {
				err = event(jsonMap{
					"index":         i,
					"text":          t.token,
					"logprobs":      s.textLogprobs([]scored{t}, false, offset),
					"finish_reason": nil,
				})
			}
		case s.c.wire.split && hasWide(t.token):
			for range 2 {
				err = delta(jsonMap{"content": "\ufffd"}, nil)
			}
		default:
			err = delta(jsonMap{"content": t.token}, jsonMap{"logprobs": s.chatLogprobs([]scored{t})})
		}
		if err != nil {
			return err
		}
		offset += len(t.token)
	}
	if err := s.streamCalls(delta, k.calls); err != nil {
		return err
	}
	finish := k.finish
	if s.c.wire.callsFinish && len(k.calls) > 0 {
		finish = "tool_calls"
	}
	last := jsonMap{"index": i, "delta": jsonMap{}, "logprobs": nil, "finish_reason": finish}
	if !s.c.chat {
		last = jsonMap{"index": i, "text": "", "logprobs": nil, "finish_reason": finish}
	}
	return event(last)
}

func hasWide(s string) bool { return len(s) > utf8.RuneCountInString(s) }

// streamCalls sends each call's name, then its arguments token by token.
func (s *sender) streamCalls(delta func(d, more jsonMap) error, bodies []callBody) error {
	for i, m := range s.calls(bodies) {
		index, args := i, m.Function.Arguments
		switch s.c.wire.args {
		case "quote":
			if q := strings.LastIndexByte(args, '"'); q >= 0 {
				args = args[:q] + args[q+1:]
			}
		case "repeated-tail":
			args += args[max(0, len(args)-6):]
		case "empty":
			args = "{}"
		case "merged":
			index = 0
			if len(bodies) == 1 { // one call alone is joined with an echo of its beginning
				args += args[:min(len(args), 5)]
			}
		}
		first := callMade{Index: &index, ID: m.ID, Type: m.Type, Function: callBody{Name: m.Function.Name}}
		if index != i {
			first.ID, first.Type, first.Function.Name = "", "", ""
		}
		if err := delta(jsonMap{"tool_calls": []callMade{first}}, nil); err != nil {
			return err
		}
		for _, p := range pieces(args) {
			if err := delta(jsonMap{"tool_calls": []callMade{{Index: &index, Function: callBody{Arguments: p}}}}, nil); err !=
				nil {
				return err
			}
		}
	}
	return nil
}

// tick is the time between two tokens of a stream. Cut streams can only be seen when a stream takes time.
func (e *Engine) tick() time.Duration {
	d := e.decoding(1)
	for _, a := range e.faults {
		if a.ID == "FK28" {
			d = max(d, 200*time.Microsecond)
		}
	}
	return d
}
