package engine

import (
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
)

// apiError is a refusal in the words of the server that is modelled.
type apiError struct {
	status  int
	message string
	kind    string
	retry   int // seconds of Retry-After
}

func (e *Engine) refuse(w http.ResponseWriter, a apiError) {
	if a.retry > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(a.retry))
	}
	kind := a.kind
	if kind == "" {
		kind = "invalid_request_error"
	}
	var body any
	switch e.p.Server {
	case "sglang":
		body = map[string]any{
			"object": "error", "message": a.message, "type": "BadRequestError", "param": nil,
			"code": a.status,
		}
	case "tgi":
		body = map[string]any{"error": a.message, "error_type": "validation"}
	default:
		body = map[string]any{"error": map[string]any{"message": a.message, "type": kind, "param": nil, "code": a.status}}
	}
	send(w, a.status, body)
}

func send(w http.ResponseWriter, status int, v any) {
	b, err := encode(v)
	if err != nil {
		status, b = http.StatusInternalServerError, []byte(`{"error":{"message":"the answer cannot be written as JSON"}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b)
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

type usageJSON struct {
	Prompt     int          `json:"prompt_tokens"`
	Completion int          `json:"completion_tokens"`
	Total      int          `json:"total_tokens"`
	Details    *detailsJSON `json:"prompt_tokens_details,omitempty"`
}

type detailsJSON struct {
	Cached int `json:"cached_tokens"`
}

type tokenJSON struct {
	Token   string    `json:"token"`
	Logprob float64   `json:"logprob"`
	Bytes   []int     `json:"bytes"`
	Top     []topJSON `json:"top_logprobs"`
}

type topJSON struct {
	Token   string  `json:"token"`
	Logprob float64 `json:"logprob"`
	Bytes   []int   `json:"bytes"`
}

type logprobsJSON struct {
	Content []tokenJSON `json:"content"`
}

type functionJSON struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

type callJSON struct {
	Index    *int         `json:"index,omitempty"`
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function functionJSON `json:"function"`
}

type messageJSON struct {
	Role      string     `json:"role,omitempty"`
	Content   *string    `json:"content"`
	Reasoning string     `json:"reasoning_content,omitempty"`
	Calls     []callJSON `json:"tool_calls,omitempty"`
}

type deltaJSON struct {
	Role      string     `json:"role,omitempty"`
	Content   *string    `json:"content,omitempty"`
	Reasoning string     `json:"reasoning_content,omitempty"`
	Calls     []callJSON `json:"tool_calls,omitempty"`
}

type choiceJSON struct {
	Index    int          `json:"index"`
	Message  *messageJSON `json:"message,omitempty"`
	Delta    *deltaJSON   `json:"delta,omitempty"`
	Text     *string      `json:"text,omitempty"`
	Logprobs any          `json:"logprobs"`
	Finish   *string      `json:"finish_reason"`
}

type answerJSON struct {
	ID      string       `json:"id"`
	Object  string       `json:"object"`
	Created int64        `json:"created"`
	Model   string       `json:"model"`
	Choices []choiceJSON `json:"choices"`
	Usage   *usageJSON   `json:"usage,omitempty"`
}

func byteList(s string) []int {
	out := make([]int, len(s))
	for i := range len(s) {
		out[i] = int(s[i])
	}
	return out
}

// number keeps a log-probability within what JSON can carry.
func number(lp float64) float64 {
	switch {
	case math.IsNaN(lp), lp < -9999:
		return -9999
	case lp > 9999:
		return 9999
	}
	return lp
}

func (m *machine) tokenJSON(e emitted) tokenJSON {
	text := m.lex.print(e.tok)
	out := tokenJSON{Token: valid(text), Logprob: number(e.lp), Bytes: byteList(text), Top: make([]topJSON, len(e.top))}
	for i, a := range e.top {
		text := m.lex.print(a.tok)
		out.Top[i] = topJSON{valid(text), number(a.lp), byteList(text)}
	}
	return out
}
