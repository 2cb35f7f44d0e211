package server

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"
)

// chat is POST /v1/chat/completions.
func (s *Server) chat(w http.ResponseWriter, r *http.Request) {
	body, e := s.body(w, r)
	if e != nil {
		writeError(w, e)
		return
	}
	p, messages, e := parseChat(body)
	if e == nil {
		e = s.checkModel(p.model)
	}
	if e != nil {
		writeError(w, e)
		return
	}
	prompt, e := s.renderChat(messages)
	if e == nil {
		e = s.fit("messages", len(prompt), &p)
	}
	if e != nil {
		writeError(w, e)
		return
	}
	reply := response[chatChoice]{
		ID:      s.id("chatcmpl-"),
		Object:  "chat.completion",
		Created: time.Now().Unix(),
		Model:   s.cfg.Model,
	}
	announceIgnored(w, p.ignored)
	if p.stream {
		s.chatStream(r.Context(), w, prompt, &p, reply)
		return
	}
	var text strings.Builder
	logprobs := &chatLogprobs{Content: []chatLogprob{}}
	out, err := s.generate(r.Context(), prompt, 0, &p, nil, func(st step) error {
		text.WriteString(st.text)
		if p.logprobs {
			logprobs.Content = append(logprobs.Content, s.chatLogprob(st.token))
		}
		return nil
	})
	if err != nil {
		s.failed(r.Context(), w, err)
		return
	}
	choice := chatChoice{Message: &chatMessage{Role: "assistant", Content: text.String() + out.rest}, Finish: &out.finish}
	if p.logprobs {
		choice.Logprobs = logprobs
	}
	reply.Choices, reply.Usage = []chatChoice{choice}, &usage{}
	reply.Usage.add(out)
	writeJSON(w, http.StatusOK, reply)
}

// chatStream sends the role, one event per token, the finish reason, the usage if asked for, [DONE].
func (s *Server) chatStream(ctx context.Context, w http.ResponseWriter, prompt []int, p *params,
	event response[chatChoice],
) {
	event.Object = "chat.completion.chunk"
	stream := newEvents(w)
	send := func(c chatChoice) error {
		event.Choices = []chatChoice{c}
		return stream.send(event)
	}
	empty := ""
	err := send(chatChoice{Delta: &chatDelta{Role: "assistant", Content: &empty}})
	var out outcome
	if err == nil {
		out, err = s.generate(ctx, prompt, 0, p, nil, func(st step) error {
			if st.text == "" && !p.logprobs {
				return nil // end-of-text, or text held back: nothing to tell
			}
			c := chatChoice{Delta: &chatDelta{Content: &st.text}}
			if p.logprobs {
				c.Logprobs = &chatLogprobs{Content: []chatLogprob{s.chatLogprob(st.token)}}
			}
			return send(c)
		})
	}
	if err == nil {
		last := chatChoice{Delta: &chatDelta{}, Finish: &out.finish}
		if out.rest != "" {
			last.Delta.Content = &out.rest
		}
		err = send(last)
	}
	if err == nil && p.includeUsage {
		event.Choices, event.Usage = []chatChoice{}, &usage{}
		event.Usage.add(out)
		err = stream.send(event)
	}
	s.note(ctx, err)
	stream.close(ctx, err)
}

func (s *Server) renderChat(messages []Message) ([]int, *apiError) {
	ids, err := s.engine.EncodeChat(messages)
	if err != nil {
		return nil, badRequest("messages", "The messages do not fit this model's chat template: %v.", err)
	}
	return ids, nil
}

// fit checks prompt and completion against the context length; without max_tokens the answer may fill
// what is left.
func (s *Server) fit(param string, prompt int, p *params) *apiError {
	limit, want := s.engine.MaxModelLen(), p.maxTokens
	if want < 0 {
		want = max(limit-prompt, 1)
	}
	// Compared without a sum, which a huge max_tokens would overflow.
	if prompt > limit || want > limit-prompt {
		return tooLong(param, limit, prompt, want)
	}
	if p.maxTokens < 0 {
		p.maxTokens = want
	}
	if p.minTokens > p.maxTokens {
		return badRequest("min_tokens", `"min_tokens" is %d, but only %d tokens are left for the answer.`, p.minTokens,
			p.maxTokens)
	}
	return nil
}

// failed answers a request whose generation failed before anything was sent.
func (s *Server) failed(ctx context.Context, w http.ResponseWriter, err error) {
	s.note(ctx, err)
	var api *apiError
	switch {
	case ctx.Err() != nil: // the client is gone, or the server is closing
		api = &apiError{
			status:  http.StatusServiceUnavailable,
			kind:    "server_error",
			code:    "cancelled",
			message: "The request was cancelled before it finished.",
		}
	case !errors.As(err, &api):
		api = engineFailure(err)
	}
	writeError(w, api)
}

// note logs an engine's failure; a client that went away is none.
func (s *Server) note(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		s.cfg.Logf("request failed: %v", err)
	}
}

func announceIgnored(w http.ResponseWriter, names []string) {
	if len(names) > 0 {
		w.Header().Set("X-Ignored-Fields", snippet([]byte(headerSafe(strings.Join(names, ", ")))))
	}
}

// headerSafe keeps a client's field names from breaking the header.
func headerSafe(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
}
