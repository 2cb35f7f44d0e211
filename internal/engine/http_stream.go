package engine

import (
	"bytes"
	"net/http"
)

// stream answers as server-sent events.
func (e *Engine) stream(w http.ResponseWriter, r *http.Request, req *request, s sampling, asm *assembler,
	head answerJSON,
	use func() *usageJSON,
) {
	m := e.m
	flusher, _ := w.(http.Flusher)
	w.Header().Set("Content-Type", "text/event-stream")
	head.Object = "chat.completion.chunk"
	if !s.chat {
		head.Object = "text_completion"
	}
	write := func(a answerJSON) error {
		b, err := encode(a)
		if err != nil {
			return err
		}
		_, err = w.Write(bytes.Join([][]byte{[]byte("data: "), b, []byte("\n\n")}, nil))
		if flusher != nil {
			flusher.Flush()
		}
		return err
	}
	event := func(d delta, finish *string) error {
		a := head
		c := choiceJSON{Finish: finish}
		if s.chat {
			dj := &deltaJSON{Reasoning: d.reasoning}
			if d.content != "" {
				dj.Content = &d.content
			}
			for _, t := range d.tools {
				k := t.index
				cj := callJSON{Index: &k, Function: functionJSON{Arguments: t.args}}
				if t.id != "" {
					cj.ID, cj.Type, cj.Function.Name = t.id, "function", t.name
				}
				dj.Calls = append(dj.Calls, cj)
			}
			c.Delta = dj
			if s.logprobs >= 0 && len(d.tokens) > 0 {
				c.Logprobs = m.chatLogprobs(d.tokens)
			}
		} else {
			c.Text = &d.content
		}
		a.Choices = []choiceJSON{c}
		return write(a)
	}
	began := false
	open := func() error {
		if began {
			return nil
		}
		began = true
		if !s.chat {
			return nil
		}
		a, empty := head, ""
		a.Choices = []choiceJSON{{Delta: &deltaJSON{Role: "assistant", Content: &empty}}}
		return write(a)
	}
	var waiting *delta
	held, first, calls := 0, true, false
	goOut := func(d delta) error {
		for _, one := range m.str.events(d, first) {
			first = false
			calls = calls || len(one.tools) > 0
			if one.empty() && (s.logprobs < 0 || len(one.tokens) == 0) {
				continue
			}
			if err := event(one, nil); err != nil {
				return err
			}
		}
		return nil
	}
	pushed := 0
	err := e.generate(r.Context(), r.RemoteAddr, req, func(fresh []emitted) error {
		if err := open(); err != nil {
			return err
		}
		for _, tok := range fresh {
			if asm.stopped {
				return nil
			}
			pushed++
			d := asm.push(tok)
			if waiting == nil {
				waiting = &d
			} else {
				j := m.str.join(*waiting, d)
				waiting = &j
			}
			if held++; held >= e.p.Interval {
				d, waiting, held = *waiting, nil, 0
				if m.str.pieces(pushed, "") < pushed {
					waiting, held = &d, e.p.Interval // the last piece stays in the queue
					continue
				}
				if err := goOut(d); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return // the client is gone, or the engine is: the stream ends without a reason
	}
	_ = open()
	tail := delta{}
	if waiting != nil && m.str.pieces(pushed, req.finish) >= pushed {
		tail = *waiting
	}
	tail = m.str.last(m.str.join(tail, asm.finish()))
	if !tail.empty() || len(tail.tokens) > 0 {
		_ = goOut(tail)
	}
	finish := req.finish
	if asm.stopped {
		finish = "stop"
	}
	if calls && (finish == "stop" || m.tls.hidesCut) {
		finish = "tool_calls"
	}
	_ = event(delta{}, &finish)
	if s.streamUsage {
		a := head
		a.Choices, a.Usage = []choiceJSON{}, use()
		_ = write(a)
	}
	_, _ = w.Write([]byte("data: [DONE]\n\n"))
}
