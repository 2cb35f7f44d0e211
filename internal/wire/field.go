package wire

import (
	"fmt"
	"net/http"
	"time"
)

// The quirks of servers and proxies met in the field, W29 to W34.

// loading refuses everything for five pauses, or for ever, as llama.cpp does until its model is in memory.
func (s *Server) loading(w http.ResponseWriter) bool {
	if !s.quirks.on("loading") {
		return false
	}
	s.mu.Lock()
	if s.began.IsZero() {
		s.began = time.Now()
	}
	ready := s.quirks.is("loading", "minutes") && time.Since(s.began) >= 5*s.o.Pause
	s.mu.Unlock()
	if ready {
		return false
	}
	writeJSON(w, http.StatusServiceUnavailable, map[string]any{
		"error": map[string]any{"message": "Loading model", "type": "unavailable_error", "code": 503},
	})
	return true
}

// limited refuses the first ten requests for an answer, and says when to come again.
func (s *Server) limited(w http.ResponseWriter) bool {
	if !s.quirks.on("rate-limit") {
		return false
	}
	s.mu.Lock()
	s.refused++
	n := s.refused
	s.mu.Unlock()
	if n > 10 {
		return false
	}
	after := "20"
	if s.quirks.is("rate-limit", "date") {
		after = time.Now().Add(20 * time.Second).UTC().Format(http.TimeFormat)
	}
	w.Header().Set("Retry-After", after)
	writeError(w, http.StatusTooManyRequests, "Rate limit reached for requests")
	return true
}

// gaveUp is a proxy whose time is over before the engine has answered.
func (s *Server) gaveUp(w http.ResponseWriter, r *http.Request) bool {
	if !s.quirks.on("gateway") {
		return false
	}
	if !wait(r.Context(), s.o.Pause) {
		return true
	}
	if s.quirks.is("gateway", "closed") {
		drop(w)
		return true
	}
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(http.StatusGatewayTimeout)
	_, _ = w.Write([]byte("<html><head><title>504 Gateway Time-out</title></head><body></body></html>"))
	return true
}

// refuseField is a server of reasoning models that takes other fields, in the wording of the OpenAI API.
func (s *Server) refuseField(w http.ResponseWriter, r *request) bool {
	q := s.quirks
	_, most := r.fields["max_tokens"]
	_, temperature := r.fields["temperature"]
	switch {
	case q.is("o1-fields", "logprobs", "all") && r.top >= 0:
		writeError(w, http.StatusForbidden, "You are not allowed to request logprobs from this model")
	case q.is("o1-fields", "max-tokens", "all") && most && r.chat:
		writeError(w, http.StatusBadRequest, "Unsupported parameter: 'max_tokens' is not supported with this model. Use "+
			"'max_completion_tokens' instead.")
	case q.is("o1-fields", "temperature", "all") && temperature:
		writeError(w, http.StatusBadRequest, "Unsupported value: 'temperature' does not support 0 with this model. Only "+
			"the default (1) value is supported.")
	case q.on("unparsed"):
		writeError(w, http.StatusInternalServerError, "The model produced output that does not match the expected "+
			"peg-native format")
	case q.is("model-listed", "refused"):
		writeError(w, http.StatusNotFound, fmt.Sprintf("The model `%s` does not exist.", r.Model))
	default:
		return false
	}
	return true
}

// listed is the model's name in the list.
func (s *Server) listed() string {
	switch s.quirks["model-listed"] {
	case "":
		return s.o.Model
	case "unknown":
		return "unknown" // sglang-router
	}
	return "an-alias"
}
