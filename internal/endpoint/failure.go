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
// that the body has no choices, so that a lone message or detail is an error too. The message is neither redacted
// nor bounded: redact first, because a key that is cut in two is found no more.
func (f failure) reported(bare bool) (msg string, code int, bad bool) {
	switch {
	case word(f.Object) == "error": // older vLLM
		return word(f.Message), httpCode(f.Code), true
	case present(f.Error):
		var e struct {
			Message json.RawMessage `json:"message"`
			Code    json.RawMessage `json:"code"`
		}
		if json.Unmarshal(f.Error, &e) == nil && present(e.Message) {
			return word(e.Message), httpCode(e.Code), true
		}
		return word(f.Error), httpCode(f.Code), true
	case bare && present(f.Detail):
		return word(f.Detail), httpCode(f.Code), true
	case bare && present(f.Message) && present(f.Code):
		return word(f.Message), httpCode(f.Code), true
	}
	return "", 0, false
}

// errorObject finds a reported error in a whole body.
func errorObject(body []byte) (msg string, code int, bad bool) {
	if !mayReport(body) {
		return "", 0, false
	}
	var v struct {
		failure
		Choices json.RawMessage `json:"choices"`
	}
	if err := json.Unmarshal(body, &v); err != nil && !oddType(err) {
		return "", 0, false
	}
	return v.reported(!present(v.Choices))
}

// mayReport says whether a body may have the fields or the text of a failure, in any case and spelling. Long lists of
// tokens have none, and a look at the quotes is much cheaper than reading their JSON.
func mayReport(body []byte) bool {
	for {
		i := bytes.IndexByte(body, '"')
		if i < 0 {
			return false
		}
		body = body[i+1:]
		for _, word := range []string{"error", "message", "detail"} {
			at := body[:min(len(word), len(body))]
			if bytes.EqualFold(at, []byte(word)) || bytes.IndexByte(at, '\\') >= 0 {
				return true
			}
		}
	}
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

// httpCode reads a code given as a number or in a string; 0 when it is neither.
func httpCode(raw json.RawMessage) int {
	n, err := strconv.Atoi(word(raw))
	if err != nil || n < 100 || n > 599 {
		return 0
	}
	return n
}
