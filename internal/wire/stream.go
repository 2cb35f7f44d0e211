package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
)

// whole writes an answer in one piece.
func (s *Server) whole(ctx context.Context, w http.ResponseWriter, r *request, a *script) {
	if s.quirks.is("late-headers", "first-byte") && !wait(ctx, s.o.Pause) {
		return
	}
	s.inline(a)
	choice := map[string]any{"index": 0}
	if !a.noFinish {
		choice["finish_reason"] = nullable(a.finish)
	}
	text := strings.Join(a.text, "")
	if r.chat {
		m := map[string]any{"role": "assistant", "content": text}
		s.reasoningFields(m, strings.Join(a.reasoning, ""))
		if a.null || len(a.calls) > 0 {
			m["content"] = nil
		}
		if len(a.calls) > 0 {
			var list []any
			for _, c := range a.calls {
				list = append(list, map[string]any{
					"id": c.id, "type": "function", "function": map[string]any{"name": c.name, "arguments": strings.Join(c.args, "")},
				})
			}
			m["tool_calls"] = list
		}
		choice["message"] = m
	} else {
		if r.Echo {
			text = r.text + text
		}
		choice["text"] = text
	}
	if lp := s.logprobs(r, 0, a.text); lp != noLogprobs {
		choice["logprobs"] = lp
	}
	out := map[string]any{"id": "wire", "object": "chat.completion", "model": a.model, "choices": []any{choice}}
	if r.Prompted != nil && s.o.Flavour == VLLM {
		out["prompt_logprobs"] = []any{nil, map[string]any{"1": map[string]any{"logprob": -1.5, "decoded_token": "a"}}}
	}
	if u := s.usage(r, a); u != nil {
		if s.quirks.is("usage-placement", "in-choice") {
			choice["usage"] = u
		} else {
			out["usage"] = u
		}
	}
	b, err := json.Marshal(out)
	if err != nil {
		writeError(w, http.StatusInternalServerError, err.Error())
		return
	}
	b = bare(b)
	w.Header().Set("Content-Type", "application/json")
	if s.quirks.is("dropped", "middle") {
		w.Header().Set("Content-Length", fmt.Sprint(len(b)))
		_, _ = w.Write(b[:len(b)/2])
		flush(w)
		drop(w)
		return
	}
	_, _ = w.Write(b)
}

func nullable(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// pen writes events; after the client has left it writes nothing more.
type pen struct {
	s    *Server
	w    http.ResponseWriter
	ctx  context.Context
	r    *request
	a    *script
	gone bool
	// ended is set with the finish reason: no server was seen to keep a finished answer alive.
	ended bool
}

func (p *pen) raw(s string) {
	if p.gone {
		return
	}
	if _, err := p.w.Write([]byte(s)); err != nil || p.ctx.Err() != nil {
		p.gone = true
	}
	flush(p.w)
}

func (p *pen) event(v map[string]any) {
	if p.s.quirks.on("comments") && !p.ended {
		p.comments(3)
	}
	v["id"], v["object"], v["model"] = "wire", "chat.completion.chunk", p.a.model
	b, err := json.Marshal(v)
	if err != nil {
		p.gone = true
		return
	}
	p.raw("data: " + string(bare(b)) + "\n\n")
}

// comments writes keep-alives with a pause before each.
func (p *pen) comments(n int) {
	line := ": keep-alive\n\n"
	if p.s.quirks.is("comments", "long-lines") {
		line = ":" + strings.Repeat(" still there", 400) + "\n\n"
	}
	for range n {
		if p.gone || !wait(p.ctx, p.s.o.Pause) {
			p.gone = true
			return
		}
		p.raw(line)
	}
}

// delta writes one event of choice 0.
func (p *pen) delta(d map[string]any, more map[string]any) {
	c := map[string]any{"index": 0, "finish_reason": nil}
	if p.r.chat {
		c["delta"] = d
	} else {
		c["text"] = d["content"]
		if d["content"] == nil {
			c["text"] = ""
		}
	}
	maps.Copy(c, more)
	if p.a.noFinish && c["finish_reason"] == nil {
		delete(c, "finish_reason")
	}
	ev := map[string]any{"choices": []any{c}}
	if p.s.quirks.is("usage-placement", "every") {
		ev["usage"] = p.s.usage(p.r, p.a)
	}
	p.event(ev)
}

func (s *Server) stream(ctx context.Context, w http.ResponseWriter, r *request, a *script) {
	q := s.quirks
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	flush(w)
	if q.is("late-headers", "first-byte") && !wait(ctx, s.o.Pause) {
		return
	}
	p := &pen{s: s, w: w, ctx: ctx, r: r, a: a}
	if q.on("comments") {
		p.comments(400)
	}
	if q.is("only-done", "done") {
		p.raw("data: [DONE]\n\n")
		return
	}
	s.inline(a)
	p.role()
	if q.is("only-done", "role-then-done") {
		p.raw("data: [DONE]\n\n")
		return
	}
	p.reasoning()
	if !p.text() {
		return
	}
	p.tools()
	p.finish()
}

func (p *pen) role() {
	if !p.r.chat {
		return
	}
	d := map[string]any{"role": "assistant"}
	switch v := p.s.quirks["first-delta"]; {
	case v == "null", p.a.null:
		d["content"] = nil
	case v == "absent":
	default:
		d["content"] = ""
	}
	p.delta(d, nil)
}

func (p *pen) reasoning() {
	for _, t := range p.a.reasoning {
		d := map[string]any{}
		p.s.reasoningFields(d, t)
		p.delta(d, nil)
	}
}

// text writes the content; it reports whether the answer goes on behind it.
func (p *pen) text() bool {
	q := p.s.quirks
	tokens := p.a.text
	if q.on("split-characters") {
		tokens = p.s.split(tokens)
	}
	size := 1
	switch q["coarse-deltas"] {
	case "three":
		size = 3
	case "all":
		size = max(1, len(tokens))
	}
	for at := 0; at < len(tokens); at += size {
		if at > 0 && at >= len(tokens)/2 {
			if q.on("error-in-stream") {
				p.fail()
				return false
			}
			if q.is("dropped", "middle") {
				drop(p.w)
				return false
			}
		}
		group := tokens[at:min(at+size, len(tokens))]
		var more map[string]any
		if lp := p.s.logprobs(p.r, at, group); lp != noLogprobs {
			more = map[string]any{"logprobs": lp}
		}
		p.delta(map[string]any{"content": p.s.content(strings.Join(group, ""))}, more)
	}
	// Answers of one event, or without text, fail behind it.
	if q.on("error-in-stream") {
		p.fail()
		return false
	}
	if q.is("dropped", "middle") {
		drop(p.w)
		return false
	}
	return true
}

func (p *pen) fail() {
	const msg = "EngineCore encountered an issue"
	switch p.s.quirks["error-in-stream"] {
	case "text":
		p.raw(`data: {"error": "` + msg + `"}` + "\n\n")
	case "old-object":
		p.raw(`data: {"object":"error","message":"` + msg + `","code":500}` + "\n\n")
	case "named-event":
		p.raw("event: error\ndata: {\"text\":\"" + msg + "\"}\n\n")
	default:
		p.raw(`data: {"error":{"message":"` + msg + `","type":"InternalServerError","code":500}}` + "\n\n")
	}
	p.raw("data: [DONE]\n\n")
}

func (p *pen) tools() {
	v := p.s.quirks["tool-deltas"]
	for i, c := range p.a.calls {
		for j := -1; j < len(c.args); j++ {
			f := map[string]any{}
			d := map[string]any{"index": i, "function": f}
			if j < 0 {
				d["id"], d["type"], f["name"], f["arguments"] = c.id, "function", c.name, ""
			} else {
				f["arguments"] = c.args[j]
			}
			switch v {
			case "index-zero":
				d["index"] = 0
			case "no-index":
				delete(d, "index")
			case "null-id":
				d["id"] = nil
			case "name-repeated":
				f["name"] = c.name
			}
			p.delta(map[string]any{"tool_calls": []any{d}}, nil)
		}
	}
}

// finish writes the finish reason, the usage and [DONE].
func (p *pen) finish() {
	q := p.s.quirks
	usage := p.s.usage(p.r, p.a)
	more := map[string]any{"finish_reason": nullable(p.a.finish)}
	if q.is("usage-placement", "in-choice") {
		more["usage"] = usage
	}
	p.delta(map[string]any{}, more)
	p.ended = true
	if q.is("no-done", "open") {
		<-p.ctx.Done()
		return
	}
	if p.r.Options.Usage && usage != nil && !q.on("usage-placement") {
		ev := map[string]any{"usage": usage, "choices": []any{}}
		text := strings.Join(p.a.text, "")
		switch q["usage-event-odd"] {
		case "no-field":
			delete(ev, "choices")
		case "repeats-text":
			ev["choices"] = []any{
				map[string]any{
					"index": 0, "text": text, "delta": map[string]any{"content": text}, "finish_reason": nullable(p.a.finish),
				},
			}
		case "repeats-message":
			ev["choices"] = []any{
				map[string]any{"index": 0, "text": text, "message": map[string]any{"role": "assistant", "content": text}},
			}
		}
		p.event(ev)
	}
	if !q.is("no-done", "closed") {
		p.raw("data: [DONE]\n\n")
	}
}

func flush(w http.ResponseWriter) {
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}
