package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
)

// sampling is what chat and text completions share.
type sampling struct {
	chat        bool
	model       string
	most        int
	temp, topP  float64
	seed        uint64
	logprobs    int
	stream      bool
	streamUsage bool
	stops       []string
	salt        string
	ignoreEOS   bool
	echo        bool
}

// plainFields are those of the API itself; a strict server refuses others.
var plainFields = []string{
	"model", "messages", "prompt", "max_tokens", "max_completion_tokens", "temperature", "top_p", "seed", "stream",
	"stream_options", "stop", "logprobs", "top_logprobs", "tools", "tool_choice", "n", "echo", "user",
	"presence_penalty",
	"frequency_penalty", "response_format",
}

func (e *Engine) readSampling(f map[string]json.RawMessage, isChat bool) (sampling, *apiError) {
	s := sampling{chat: isChat, most: -1, temp: 1, topP: 1, logprobs: -1, model: e.p.Model}
	if e.p.StrictFields {
		for name := range f {
			if !slices.Contains(plainFields, name) {
				return s, bad("Unrecognized request argument supplied: %s", name)
			}
		}
	}
	if get(f, "max_tokens", &s.most) && e.p.Legacy && isChat {
		return s, bad("Unsupported parameter: 'max_tokens' is not supported with this model. Use " +
			"'max_completion_tokens' instead.")
	}
	get(f, "max_completion_tokens", &s.most)
	get(f, "temperature", &s.temp)
	get(f, "top_p", &s.topP)
	get(f, "seed", &s.seed)
	get(f, "stream", &s.stream)
	get(f, "cache_salt", &s.salt)
	get(f, "ignore_eos", &s.ignoreEOS)
	get(f, "echo", &s.echo)
	var opts struct {
		Usage bool `json:"include_usage"`
	}
	get(f, "stream_options", &opts)
	s.streamUsage = opts.Usage
	var one string
	if get(f, "stop", &one) {
		s.stops = []string{one}
	} else {
		get(f, "stop", &s.stops)
	}
	s.stops = slices.DeleteFunc(s.stops, func(x string) bool { return x == "" })
	s.stops = e.m.stp.carry(s.stops)
	if _, there := f["seed"]; !there {
		s.seed = e.m.smp.seed(mix(e.asked.Load(), e.opts.Seed)) // as servers draw one
	}
	if s.temp < 0 || s.temp > 2 || s.topP <= 0 || s.topP > 1 {
		return s, bad("temperature must be in [0, 2] and top_p in (0, 1], got %v and %v", s.temp, s.topP)
	}
	return s, e.readLogprobs(f, &s)
}

func (e *Engine) readLogprobs(f map[string]json.RawMessage, s *sampling) *apiError {
	var on bool
	var top int
	if s.chat {
		get(f, "logprobs", &on)
		get(f, "top_logprobs", &top)
	} else if get(f, "logprobs", &top) {
		on = true
	}
	if !on || !e.p.Logprobs {
		return nil // a server without them leaves them out, as most do
	}
	if top < 0 || top > e.p.TopMost {
		return bad("Requested sample logprobs of %d, which is greater than max allowed: %d", top, e.p.TopMost)
	}
	s.logprobs = top
	return nil
}

// request checks the length of a prompt and makes a request of it. sent is the length that usage reports.
func (e *Engine) request(ids []int32, s sampling) (req *request, sent int, refusal *apiError) {
	limit := e.m.fit.limit(e.p.Context)
	before := len(ids)
	most := s.most
	if most < 0 {
		most = max(16, min(2048, e.p.Context-before))
		if !s.chat {
			most = 16
		}
	}
	if most < 1 {
		return nil, 0, bad("max_tokens must be at least 1, got %d", most)
	}
	if before > limit || before+most > e.p.Context && limit == e.p.Context {
		kept := e.m.fit.cut(ids, limit)
		if kept == nil {
			if before >= e.p.Context || s.most >= 0 {
				return nil, 0, e.tooLong(before, most)
			}
			most, kept = e.p.Context-before, ids
		}
		ids = kept
	}
	req = &request{
		prompt: ids, most: most, temp: s.temp, topP: s.topP, seed: s.seed, logprobs: s.logprobs, eos: !s.ignoreEOS,
		stops: s.stops, raw: !s.chat, score: s.echo && s.logprobs >= 0,
	}
	if s.salt != "" {
		req.salt = hashString(s.salt)
	}
	return req, e.m.fit.count(before, len(ids)), nil
}

// tooLong is the refusal of each server.
func (e *Engine) tooLong(prompt, most int) *apiError {
	limit := e.p.Context
	switch e.p.Server {
	case "sglang":
		return bad("Requested token count exceeds the model's maximum context length of %d tokens. You requested a "+
			"total of %d "+
			"tokens: %d tokens from the input messages and %d tokens for the completion. Please reduce the number of "+
			"tokens in "+
			"the input messages or the completion to fit within the limit.", limit, prompt+most, prompt, most)
	case "llama.cpp":
		a := bad("request (%d tokens) exceeds the available context size (%d tokens), try increasing it", prompt, limit)
		a.kind = "exceed_context_size_error"
		return a
	case "tgi":
		a := bad("Input validation error: `inputs` tokens + `max_new_tokens` must be <= %d. Given: %d `inputs` tokens "+
			"and %d "+
			"`max_new_tokens`", limit, prompt, most)
		a.status = http.StatusUnprocessableEntity
		return a
	}
	return bad("This model's maximum context length is %d tokens. However, you requested %d tokens (%d in the "+
		"messages, %d in "+
		"the completion). Please reduce the length of the messages or completion.", limit, prompt+most, prompt, most)
}

// generate runs a request on the rank that the router chooses.
func (e *Engine) generate(ctx context.Context, conn string, req *request, on func([]emitted) error) error {
	return e.drive(ctx, e.route(conn, req.prompt), req, on)
}

// run answers a chat or text completion, streamed or whole.
func (e *Engine) run(w http.ResponseWriter, r *http.Request, req *request, s sampling, sent int) {
	m := e.m
	id, created := e.stamp()
	head := answerJSON{ID: id, Object: "chat.completion", Created: created, Model: s.model}
	if !s.chat {
		head.Object = "text_completion"
	}
	use := func() *usageJSON {
		u := &usageJSON{Prompt: sent, Completion: len(req.gen), Total: sent + len(req.gen)}
		if e.p.Cached {
			u.Details = &detailsJSON{m.use.cached(req)}
		}
		return u
	}
	asm := m.assemble(s.stops, s.stream, !s.chat)
	if s.stream {
		e.stream(w, r, req, s, asm, head, use)
		return
	}
	if err := e.generate(r.Context(), r.RemoteAddr, req, nil); err != nil {
		e.refuse(w, apiError{
			status: http.StatusInternalServerError, message: fmt.Sprintf("The engine failed: %v", err),
			kind: "server_error",
		})
		return
	}
	whole := delta{}
	keep := m.str.pieces(len(req.out), req.finish)
	for i, tok := range req.out {
		d := asm.push(tok)
		if i >= keep {
			d.content, d.reasoning, d.tools = "", "", nil
		}
		whole = soundStream().join(whole, d)
		if asm.stopped {
			req.finish = "stop"
			break
		}
	}
	whole = soundStream().join(whole, asm.finish())
	if s.chat {
		head.Choices = []choiceJSON{m.chatChoice(whole, req, s)}
	} else {
		head.Choices = []choiceJSON{m.textChoice(whole, req, s)}
	}
	head.Usage = use()
	send(w, http.StatusOK, head)
}

func (m *machine) chatChoice(d delta, req *request, s sampling) choiceJSON {
	msg := &messageJSON{Role: "assistant", Reasoning: d.reasoning}
	finish := req.finish
	for _, t := range d.tools {
		if t.id != "" {
			for len(msg.Calls) <= t.index {
				msg.Calls = append(msg.Calls, callJSON{Type: "function"})
			}
			c := &msg.Calls[t.index]
			if c.ID == "" {
				c.ID, c.Function.Name = t.id, t.name
			}
		}
		if t.index < len(msg.Calls) {
			msg.Calls[t.index].Function.Arguments += t.args
		}
	}
	if len(msg.Calls) > 0 && (finish == "stop" || m.tls.hidesCut) {
		finish = "tool_calls"
	}
	if d.content != "" || len(msg.Calls) == 0 && d.reasoning == "" {
		msg.Content = &d.content
	}
	c := choiceJSON{Message: msg, Finish: &finish}
	if s.logprobs >= 0 {
		c.Logprobs = m.chatLogprobs(d.tokens)
	}
	return c
}

func (m *machine) chatLogprobs(tokens []emitted) logprobsJSON {
	lp := logprobsJSON{Content: make([]tokenJSON, len(tokens))}
	for i, t := range tokens {
		lp.Content[i] = m.tokenJSON(t)
	}
	return lp
}
