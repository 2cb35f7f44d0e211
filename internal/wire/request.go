package wire

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// request is what the fake reads of a body.
type request struct {
	Model       string          `json:"model"`
	Messages    []message       `json:"messages"`
	Prompt      json.RawMessage `json:"prompt"`
	MaxTokens   int             `json:"max_tokens"`
	Completion  int             `json:"max_completion_tokens"`
	Stream      bool            `json:"stream"`
	Logprobs    json.RawMessage `json:"logprobs"`
	TopLogprobs int             `json:"top_logprobs"`
	Prompted    *int            `json:"prompt_logprobs"`
	Salt        string          `json:"cache_salt"`
	Tools       json.RawMessage `json:"tools"`
	Echo        bool            `json:"echo"`
	Continue    bool            `json:"continue_final_message"`
	Template    map[string]any  `json:"chat_template_kwargs"`
	Options     struct {
		Usage bool `json:"include_usage"`
	} `json:"stream_options"`

	fields map[string]json.RawMessage
	chat   bool
	text   string // the prompt as text
	tokens int    // of the prompt
	top    int    // alternatives asked for; -1 for no log-probabilities
}

type message struct {
	Role             string          `json:"role"`
	Content          json.RawMessage `json:"content"`
	Reasoning        string          `json:"reasoning"`
	ReasoningContent string          `json:"reasoning_content"`
	Calls            json.RawMessage `json:"tool_calls"`
}

func (s *Server) parse(body []byte, chat bool) (*request, error) {
	r := &request{chat: chat, MaxTokens: 16, top: -1}
	if err := json.Unmarshal(body, r); err != nil {
		return nil, fmt.Errorf("the body is no request: %w", err)
	}
	if err := json.Unmarshal(body, &r.fields); err != nil {
		return nil, fmt.Errorf("the body is no object: %w", err)
	}
	if r.Completion > 0 {
		r.MaxTokens = r.Completion
	}
	if chat {
		var parts []string
		for _, m := range r.Messages {
			var t string
			_ = json.Unmarshal(m.Content, &t) // null and absent are empty
			parts = append(parts, m.Role+": "+t)
		}
		r.text = strings.Join(parts, "\n")
		r.tokens = len(strings.Fields(r.text)) + 3*len(r.Messages)
		if !r.Continue {
			r.tokens += 4
		}
		if string(r.Logprobs) == "true" {
			r.top = r.TopLogprobs
		}
	} else {
		var ids []int
		if json.Unmarshal(r.Prompt, &r.text) == nil {
			r.tokens = len(strings.Fields(r.text))
		} else if json.Unmarshal(r.Prompt, &ids) == nil {
			r.text, r.tokens = string(r.Prompt), len(ids)
		} else {
			return nil, fmt.Errorf("prompt is neither a text nor a list of ids: %.60s", r.Prompt)
		}
		if n := 0; json.Unmarshal(r.Logprobs, &n) == nil && len(r.Logprobs) > 0 {
			r.top = n
		}
	}
	return r, nil
}

// refuse answers what is no request for this server; it reports whether it did.
func (s *Server) refuse(w http.ResponseWriter, r *request) bool {
	if s.refuseField(w, r) {
		return true
	}
	q := s.quirks
	strict := q.is("model-name", "strict") || !q.on("model-name") && s.o.Flavour == VLLM
	if strict && r.Model != s.o.Model {
		writeError(w, http.StatusNotFound, fmt.Sprintf("The model `%s` does not exist.", r.Model))
		return true
	}
	if r.top > 20 || q.is("logprobs", "400") && r.top >= 0 {
		writeError(w, http.StatusBadRequest, fmt.Sprintf("Requested sample logprobs of %d, which is greater than max "+
			"allowed: 20", r.top))
		return true
	}
	if q.is("logprobs", "500") && r.top >= 0 {
		writeError(w, http.StatusInternalServerError, "Out of range float values are not JSON compliant")
		return true
	}
	if msg := s.history(r); msg != "" {
		writeError(w, http.StatusBadRequest, msg)
		return true
	}
	return s.overLong(w, r)
}

// history returns why an earlier assistant turn is refused.
func (s *Server) history(r *request) string {
	q := s.quirks
	for i, m := range r.Messages {
		if m.Role != "assistant" {
			continue
		}
		calls := len(m.Calls) > 0
		content := string(m.Content)
		switch {
		case q.on("history-needs-reasoning") && calls && m.Reasoning == "" && m.ReasoningContent == "":
			return fmt.Sprintf("Missing `reasoning_content` field in the assistant message at message index %d", i)
		case q.is("reasoning-field", "history-reasoning") && m.ReasoningContent != "":
			return fmt.Sprintf("messages[%d]: unknown field reasoning_content", i)
		case q.is("reasoning-field", "history-reasoning-content") && m.Reasoning != "":
			return fmt.Sprintf("messages[%d]: unknown field reasoning", i)
		case q.is("assistant-content", "no-null") && content == "null":
			return fmt.Sprintf("messages[%d].content must be a string, got null", i)
		case q.is("assistant-content", "no-empty") && content == `""`:
			return fmt.Sprintf("assistant message %d: content may not be empty", i)
		case q.is("assistant-content", "no-absent") && content == "":
			return fmt.Sprintf("assistant message %d: content is required", i)
		}
	}
	return ""
}

// overLong answers a request that does not fit; it cuts the prompt in silence where the quirk says so.
func (s *Server) overLong(w http.ResponseWriter, r *request) bool {
	n, window, most := r.tokens, s.o.Window, r.MaxTokens
	if n <= window {
		switch {
		case n+most <= window || !s.quirks.on("limit-counts-max-tokens"):
			return false
		case s.quirks.is("limit-counts-max-tokens", "sglang"):
			writeError(w, http.StatusBadRequest, sglangTooLong(window, n, most))
		default:
			writeError(w, http.StatusBadRequest, vllmTooLong(window, n, most))
		}
		return true
	}
	form := s.quirks["over-long"]
	if form == "" {
		form = string(s.o.Flavour)
	}
	switch form {
	case "cut":
		r.tokens = window - most
		return false
	case "nothing":
		writeJSON(w, http.StatusOK, map[string]any{"model": s.o.Model, "choices": []any{map[string]any{
			"index": 0, "message": map[string]any{"role": "assistant", "content": ""}, "text": "", "finish_reason": "length",
		}}})
	case "500":
		writeError(w, http.StatusInternalServerError,
			fmt.Sprintf("the request exceeds the available context size: %d > %d", n, window))
	case string(SGLang):
		writeError(w, http.StatusBadRequest, fmt.Sprintf("The input (%d tokens) is longer than the model's context length "+
			"(%d tokens).", n, window))
	case string(LlamaCPP):
		writeJSON(w, http.StatusBadRequest, map[string]any{"error": map[string]any{
			"code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": n, "n_ctx": window,
			"message": "the request exceeds the available context size. try increasing the context size or enable context shift",
		}})
	default:
		writeError(w, http.StatusBadRequest, vllmTooLong(window, n, most))
	}
	return true
}

func vllmTooLong(window, prompt, most int) string {
	return fmt.Sprintf("This model's maximum context length is %d tokens. However, you requested %d tokens (%d in the "+
		"messages, %d in the completion). Please reduce the length of the messages or completion.", window, prompt+most,
		prompt, most)
}

func sglangTooLong(window, prompt, most int) string {
	return fmt.Sprintf("Requested token count exceeds the model's maximum context length of %d tokens. You requested a "+
		"total of %d tokens: %d tokens from the input messages and %d tokens for the completion. Please reduce the number "+
		"of tokens in the input messages or the completion to fit within the limit.", window, prompt+most, prompt, most)
}
