package wire

import (
	"net/http"
	"slices"
)

// Text is the answer to every chat without tools, Reasoning what comes before it.
const (
	Text      = "The code is 48213, says Zürich 🙂."
	Reasoning = "Let me see. Found it."
	// Looped is the answer where the checkpoint's sampling defaults were left in force.
	Looped = "The code code code code code"
)

func textTokens() []string {
	return []string{"The", " code", " is", " ", "48", "213", ",", " says", " Zürich", " 🙂", "."}
}

func reasoningTokens() []string { return []string{"Let", " me", " see", ".", " Found", " it", "."} }

func loopedTokens() []string { return []string{"The", " code", " code", " code", " code", " code"} }

// call is one tool call; its arguments are the tokens joined.
type call struct {
	id, name string
	args     []string
}

func toolCalls() []call {
	return []call{
		{"call_a", "find", []string{`{"city":`, `"Zürich"}`}},
		{"call_b", "find", []string{`{"city":`, `"Bern"`, `}`}},
	}
}

// script is an answer before it is written.
type script struct {
	model     string
	reasoning []string
	text      []string
	calls     []call
	finish    string // "" is null
	noFinish  bool   // the field is missing
	null      bool   // content is null
	generated int
	cached    int
}

// sampled are the fields that decide how tokens are drawn; the checkpoint's defaults stand for the omitted.
var sampled = []string{
	"temperature", "top_p", "top_k", "min_p", "repetition_penalty", "presence_penalty", "frequency_penalty",
}

func (s *Server) generate(w http.ResponseWriter, hr *http.Request, chat bool) {
	q := s.quirks
	if q.is("dropped", "before-headers") {
		drop(w)
		return
	}
	if s.gaveUp(w, hr) || s.limited(w) || s.overloaded(w) {
		return
	}
	r, err := s.parse(bodyOf(hr), chat)
	if err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	if s.refuse(w, r) || s.errorIn200(w) {
		return
	}
	a := s.write(r)
	if q.is("late-headers", "headers") && !wait(hr.Context(), s.o.Pause) {
		return
	}
	if r.Stream {
		s.stream(hr.Context(), w, r, a)
		return
	}
	s.whole(hr.Context(), w, r, a)
}

// write makes the script of an answer.
func (s *Server) write(r *request) *script {
	q := s.quirks
	a := &script{model: s.o.Model, text: textTokens(), finish: "stop"}
	s.mu.Lock()
	s.asked++
	n := s.asked
	key := r.Salt + "\x00" + r.text
	if s.cache[key] {
		a.cached = r.tokens / 16 * 16
	}
	s.cache[key] = true
	s.mu.Unlock()

	switch {
	case q.is("model-name", "other"):
		a.model = "other/" + s.o.Model
	case q.is("model-name", "changes") && n > 1:
		a.model = s.o.Model + "-v2"
	}
	if q.is("defaults", "checkpoint") && slices.ContainsFunc(sampled, func(f string) bool {
		_, sent := r.fields[f]
		return !sent
	}) {
		a.text = loopedTokens()
	}
	if r.chat && s.thinks(r) {
		a.reasoning = reasoningTokens()
	}
	if r.chat && len(r.Tools) > 0 {
		a.text, a.calls, a.finish = nil, toolCalls(), "tool_calls"
	}
	s.cap(r, a)
	if q.on("null-content") && n%2 == 1 {
		a.text, a.reasoning, a.calls, a.null = nil, nil, nil, true
	}
	switch {
	case q.is("finish-reason", "null"):
		a.finish = ""
	case q.is("finish-reason", "missing"):
		a.finish, a.noFinish = "", true
	}
	return a
}

func (s *Server) thinks(r *request) bool {
	for _, k := range []string{"enable_thinking", "thinking"} {
		if v, ok := r.Template[k].(bool); ok {
			return v
		}
	}
	q := s.quirks
	return s.o.Thinks || q.is("reasoning-field", "reasoning", "reasoning-content", "both") || q.on("inline-reasoning") ||
		q.is("finish-reason", "stop-in-reasoning")
}

// cap cuts the script at max_tokens, reasoning first.
func (s *Server) cap(r *request, a *script) {
	q := s.quirks
	left := r.MaxTokens
	if q.is("finish-reason", "stop-in-reasoning") {
		left = min(left, len(a.reasoning))
	}
	take := func(list []string) []string {
		n := min(len(list), left)
		left -= n
		a.generated += n
		return list[:n]
	}
	want := len(a.reasoning) + len(a.text)
	a.reasoning, a.text = take(a.reasoning), take(a.text)
	for i := range a.calls {
		want += len(a.calls[i].args)
		a.calls[i].args = take(a.calls[i].args)
	}
	if a.generated == want {
		return
	}
	a.finish = "length"
	switch {
	case q.is("tool-call-cut", "tool-calls") && len(a.calls) > 0:
		a.finish = "tool_calls"
	case q.is("tool-call-cut", "stop"), q.is("finish-reason", "stop-in-reasoning"):
		a.finish = "stop"
	}
	if q.is("finish-reason", "stop-in-reasoning") {
		a.generated = r.MaxTokens
	}
}

// overloaded refuses for overload or loading, for ever or twice.
func (s *Server) overloaded(w http.ResponseWriter) bool {
	v, on := s.quirks["overload"]
	if !on {
		return false
	}
	s.mu.Lock()
	s.refused++
	n := s.refused
	s.mu.Unlock()
	always := v == "503" || v == "429" || v == "loading"
	if n > 2 && !always {
		return false
	}
	switch v {
	case "429", "429-twice":
		writeError(w, http.StatusTooManyRequests, "Too many requests")
	case "loading", "loading-twice":
		writeError(w, http.StatusInternalServerError, "The model is still loading, try again later")
	case "in-200-twice":
		writeJSON(w, http.StatusOK, map[string]any{"error": map[string]any{"message": "busy", "code": 503}})
	case "retry-after":
		w.Header().Set("Retry-After", "7")
		fallthrough
	default:
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte("server busy, please try again. maximum pending requests exceeded"))
	}
	return true
}

func (s *Server) errorIn200(w http.ResponseWriter) bool {
	switch s.quirks["error-in-200"] {
	case "object":
		writeJSON(w, http.StatusOK, map[string]any{
			"error": map[string]any{"message": "CUDA error: an illegal memory access", "type": "server_error"},
		})
	case "text":
		writeJSON(w, http.StatusOK, map[string]any{"error": "CUDA error: an illegal memory access"})
	case "code-only":
		writeJSON(w, http.StatusOK, map[string]any{"code": 500, "message": "CUDA error: an illegal memory access"})
	case "detail":
		writeJSON(w, http.StatusOK, map[string]any{"detail": "CUDA error: an illegal memory access"})
	default:
		return false
	}
	return true
}
