package server

import (
	"context"
	"net/http"
	"strings"
	"time"
)

// completions is POST /v1/completions. Several prompts give one choice each, in order; they run one
// after the other, so that one request is never more than one stream of work.
//
// With echo the answer starts with the prompt as the model saw it (its tokens' texts: this tokenizer
// loses case and unknown words), so that text_offset points into the text.
func (s *Server) completions(w http.ResponseWriter, r *http.Request) {
	body, e := s.body(w, r)
	if e != nil {
		writeError(w, e)
		return
	}
	p, prompts, e := parseCompletion(body, s.engine)
	if e == nil {
		e = s.checkModel(p.model)
	}
	for i := 0; e == nil && i < len(prompts); i++ {
		e = s.fit("prompt", len(prompts[i]), &p)
	}
	if e != nil {
		writeError(w, e)
		return
	}
	reply := response[textChoice]{
		ID:      s.id("cmpl-"),
		Object:  "text_completion",
		Created: time.Now().Unix(),
		Model:   s.cfg.Model,
		Usage:   &usage{},
	}
	announceIgnored(w, p.ignored)
	if p.stream {
		s.textStream(r.Context(), w, prompts, &p, reply)
		return
	}
	for i, prompt := range prompts {
		var text strings.Builder
		scribe := &textScribe{s: s, first: p.echo}
		logprobs := scribe.list()
		take := func(tokens ...scored) {
			if p.logprobs {
				logprobs.append(scribe.list(tokens...))
			}
		}
		out, err := s.generate(r.Context(), prompt, i, &p, func(tokens []scored) error {
			for _, t := range tokens {
				text.WriteString(t.shown)
			}
			take(tokens...)
			return nil
		}, func(st step) error {
			text.WriteString(st.text)
			take(st.token)
			return nil
		})
		if err != nil {
			s.failed(r.Context(), w, err)
			return
		}
		choice := textChoice{Index: i, Text: text.String() + out.rest, Finish: &out.finish}
		if p.logprobs {
			choice.Logprobs = logprobs
		}
		reply.Choices = append(reply.Choices, choice)
		reply.Usage.add(out)
	}
	writeJSON(w, http.StatusOK, reply)
}

// textStream sends one event per token (the echoed prompt is one event), a finish event per prompt,
// the usage if asked for, and [DONE].
func (s *Server) textStream(ctx context.Context, w http.ResponseWriter, prompts [][]int, p *params,
	event response[textChoice],
) {
	total := event.Usage
	event.Usage = nil
	stream := newEvents(w)
	send := func(c textChoice) error {
		event.Choices = []textChoice{c}
		return stream.send(event)
	}
	var err error
	for i := 0; err == nil && i < len(prompts); i++ {
		scribe := &textScribe{s: s, first: p.echo}
		with := func(text string, tokens ...scored) error {
			c := textChoice{Index: i, Text: text}
			if p.logprobs {
				c.Logprobs = scribe.list(tokens...)
			}
			return send(c)
		}
		var out outcome
		out, err = s.generate(ctx, prompts[i], i, p, func(tokens []scored) error {
			var text strings.Builder
			for _, t := range tokens {
				text.WriteString(t.shown)
			}
			return with(text.String(), tokens...)
		}, func(st step) error {
			if st.text == "" && !p.logprobs {
				return nil // end-of-text, or text held back: nothing to tell
			}
			return with(st.text, st.token)
		})
		if err == nil {
			total.add(out)
			err = send(textChoice{Index: i, Text: out.rest, Finish: &out.finish})
		}
	}
	if err == nil && p.includeUsage {
		event.Choices, event.Usage = []textChoice{}, total
		err = stream.send(event)
	}
	s.note(ctx, err)
	stream.close(ctx, err)
}
