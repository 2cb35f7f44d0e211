package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
)

// apiError is an OpenAI-shaped error: {"error":{"message","type","param","code"}}.
type apiError struct {
	status  int
	message string
	kind    string // OpenAI's type: invalid_request_error, server_error, ...
	param   string // offending field; "" is null on the wire
	code    string // machine-readable; "" is null on the wire
}

func (e *apiError) Error() string { return e.message }

type errorBody struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

type errorEnvelope struct {
	Error errorBody `json:"error"`
}

func (e *apiError) envelope() errorEnvelope {
	orNull := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	return errorEnvelope{errorBody{Message: e.message, Type: e.kind, Param: orNull(e.param), Code: orNull(e.code)}}
}

// badRequest is a 400 about one field; param may be empty when the body as a whole is at fault.
func badRequest(param, format string, args ...any) *apiError {
	return &apiError{
		status:  http.StatusBadRequest,
		message: fmt.Sprintf(format, args...),
		kind:    "invalid_request_error",
		param:   param,
	}
}

// engineFailure is a 500: the request was good and the engine was not.
func engineFailure(err error) *apiError {
	return &apiError{
		status: http.StatusInternalServerError, kind: "server_error", code: "engine_error",
		message: fmt.Sprintf("The engine failed on this request: %v.", err),
	}
}

// tooLong is the 400 for a prompt that does not fit. Clients parse its two numbers, so their places
// ("maximum context length is N tokens", "you requested M tokens") are part of the wire format.
func tooLong(param string, limit, prompt, completion int) *apiError {
	e := badRequest(param, "This model's maximum context length is %d tokens. However, you requested %d tokens (%d in "+
		"the prompt, %d for the completion). Shorten the prompt or lower max_tokens.",
		limit, prompt+completion, prompt, completion)
	e.code = "context_length_exceeded"
	return e
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	data, err := marshal(v)
	if err != nil {
		// Only a number that JSON cannot carry gets here; the client must still learn of it.
		status = http.StatusInternalServerError
		data, _ = marshal(engineFailure(fmt.Errorf("the answer cannot be written as JSON: %w", err)).envelope())
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n'))
}

// marshal is json.Marshal without the escapes for HTML, which would hide "<user>" from a reader.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func writeError(w http.ResponseWriter, e *apiError) {
	if e.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	writeJSON(w, e.status, e.envelope())
}
