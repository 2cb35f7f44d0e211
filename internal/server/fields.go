package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// fields is a JSON object on its way to typed values. Names are matched exactly (encoding/json
// would ignore case), null counts as absent, and what nobody took is known afterwards.
type fields struct {
	raw   map[string]json.RawMessage
	taken map[string]bool
	err   *apiError // first failure
}

func parseFields(body []byte) (*fields, *apiError) {
	if trimmed := bytes.TrimSpace(body); len(trimmed) == 0 || trimmed[0] != '{' {
		return nil, badRequest("", "The request body must be a JSON object, got %s.", snippet(trimmed))
	}
	f := &fields{taken: map[string]bool{}}
	if err := json.Unmarshal(body, &f.raw); err != nil {
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			return nil, badRequest("", "The request body is not valid JSON: %v at byte %d.", syntax, syntax.Offset)
		}
		return nil, badRequest("", "The request body is not valid JSON: %v.", err)
	}
	return f, nil
}

// take decodes one field; ok is false when it is absent or null. A wrong type is remembered in f.err
// with a sentence that says what was wanted.
func take[T any](f *fields, name, wanted string) (v T, ok bool) {
	f.taken[name] = true
	raw, ok := f.raw[name]
	if !ok || string(raw) == "null" {
		return v, false
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		f.fail(badRequest(name, "%q must be %s, got %s.", name, wanted, snippet(raw)))
		var zero T
		return zero, false
	}
	return v, true
}

func (f *fields) fail(e *apiError) {
	if f.err == nil {
		f.err = e
	}
}

// within refuses a number outside [lo, hi].
func within[T int | float64](f *fields, name string, v, lo, hi T) {
	if v < lo || v > hi {
		f.fail(badRequest(name, "%q must be between %v and %v, got %v.", name, lo, hi, v))
	}
}

// refuse fails when an unsupported field asks for more than its neutral values. Ignoring it would
// answer another question than the one asked.
func (f *fields) refuse(name string, neutral ...string) {
	f.taken[name] = true
	raw, ok := f.raw[name]
	if !ok {
		return
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil { // cannot happen: the body parsed
		f.fail(badRequest(name, "%q is not valid JSON: %v.", name, err))
		return
	}
	if compact.String() == "null" || slices.Contains(neutral, compact.String()) {
		return
	}
	f.fail(badRequest(name, "%q is not supported by this server, got %s. Leave it out.", name, snippet(raw)))
}

// ignored names the top-level fields that nobody took, sorted. Like vLLM the server does not refuse
// them; unlike vLLM it says so, in a response header.
func (f *fields) ignored() []string {
	var names []string
	for name := range f.raw {
		if !f.taken[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// snippet shows the head of a client's value in an error sentence.
func snippet(raw []byte) string {
	const most = 60
	if len(raw) == 0 {
		return "nothing"
	}
	cut := raw
	if len(cut) > most {
		cut = cut[:most]
		for len(cut) > 0 && !utf8.Valid(cut) && len(cut) > most-utf8.UTFMax {
			cut = cut[:len(cut)-1]
		}
		return fmt.Sprintf("%s... (%d bytes)", bytes.ToValidUTF8(cut, []byte("?")), len(raw))
	}
	return string(bytes.ToValidUTF8(cut, []byte("?")))
}
