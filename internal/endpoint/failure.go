package endpoint

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// failure is the shapes in which servers report an error inside a body that should be an answer.
type failure struct {
	Error   json.RawMessage `json:"error"`
	Object  json.RawMessage `json:"object"`
	Message json.RawMessage `json:"message"`
	Detail  json.RawMessage `json:"detail"`
	Code    json.RawMessage `json:"code"`
}

// reported returns what the server says went wrong and the code it gives inside the body, 0 for none. bare says
// that the body has no choices, so that a lone message or detail is an error too.
func (f failure) reported(bare bool) (msg string, code int, bad bool) {
	switch {
	case word(f.Object) == "error": // older vLLM
		return shorten(word(f.Message), 300), number(f.Code), true
	case present(f.Error):
		var e struct {
			Message json.RawMessage `json:"message"`
			Code    json.RawMessage `json:"code"`
		}
		if json.Unmarshal(f.Error, &e) == nil && present(e.Message) {
			return shorten(word(e.Message), 300), number(e.Code), true
		}
		return shorten(word(f.Error), 300), number(f.Code), true
	case bare && present(f.Detail):
		return shorten(word(f.Detail), 300), number(f.Code), true
	case bare && present(f.Message) && present(f.Code):
		return shorten(word(f.Message), 300), number(f.Code), true
	}
	return "", 0, false
}

// errorObject finds a reported error in a whole body.
func errorObject(body []byte) (msg string, code int, bad bool) {
	var v struct {
		failure
		Choices json.RawMessage `json:"choices"`
	}
	if err := json.Unmarshal(body, &v); err != nil && !oddType(err) {
		return "", 0, false
	}
	return v.reported(!present(v.Choices))
}

// present is false for an absent field, null, and false, which one server sends as "no error".
func present(raw json.RawMessage) bool {
	s := string(bytes.TrimSpace(raw))
	return s != "" && s != "null" && s != "false" && s != `""`
}

// word is the text of a JSON string, or the JSON itself.
func word(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// number reads a code given as a number or in a string; 0 when it is neither.
func number(raw json.RawMessage) int {
	n, err := strconv.Atoi(word(raw))
	if err != nil || n < 100 || n > 599 {
		return 0
	}
	return n
}
