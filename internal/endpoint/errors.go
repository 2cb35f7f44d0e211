package endpoint

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// UnreachableError says that no byte of an answer could be had: name not found, connection refused,
// TLS failed, connecting took too long. The suite maps it to exit code 4.
type UnreachableError struct {
	Host   string
	Err    error
	Waited time.Duration // above 0: the server was there, and loading all that time
}

func (e *UnreachableError) Error() string {
	if e.Waited > 0 {
		return fmt.Sprintf("endpoint: %s was still loading its model after %s: try again when it is ready: %v", e.Host,
			e.Waited, e.Err)
	}
	return fmt.Sprintf("endpoint: %s is unreachable: %v: is the server running, and is OPENAI_BASE_URL right?", e.Host,
		e.Err)
}
func (e *UnreachableError) Unwrap() error { return e.Err }

// StatusError is an answer that reports a failure: a status outside 2xx, or an error object inside a 200.
type StatusError struct {
	Status  int    // HTTP status of the answer
	Code    int    // HTTP code that the body gives, 0 for none; it decides where the status is 200
	Message string // the server's own words, bounded and redacted
	Where   string // "status", "body" (error object in a 200) or "stream" (error event in a 200)
	fits    Overflow
	After   time.Duration // of a gateway's timeout: from the request to it
	Alike   int           // of a gateway's timeout: earlier requests that were cut after the same time
}

func (e *StatusError) Error() string {
	switch {
	case e.Where != "status":
		return fmt.Sprintf("endpoint: the server answered %d but reports an error in its %s: %s", e.Status, e.Where,
			e.Message)
	case e.gateway():
		return fmt.Sprintf("endpoint: a proxy gave up after %s, before the server answered (status %d)%s: raise its read "+
			"timeout (nginx: proxy_read_timeout)", round(e.After), e.Status, alike(e.Alike))
	case e.Status == http.StatusUnauthorized, e.Status == http.StatusForbidden && !aboutField.MatchString(e.Message):
		return fmt.Sprintf("endpoint: the server refused the request with status %d: %s: check OPENAI_API_KEY", e.Status,
			e.Message)
	}
	return fmt.Sprintf("endpoint: the server answered status %d: %s", e.Status, e.Message)
}

// SilenceError says that the server sent nothing for longer than a limit.
type SilenceError struct {
	Phase string // "first byte" or "idle"
	Limit time.Duration
	Got   int64 // body bytes received before
}

func (e *SilenceError) Error() string {
	return fmt.Sprintf("endpoint: no data for %s (%s limit) after %d bytes of the answer", e.Limit, e.Phase, e.Got)
}

// TruncatedError says that the answer ended before it was complete. Nothing is true when a stream ended in due form
// without a single piece of an answer, as engines do that fail before the first token.
type TruncatedError struct {
	Got     int64
	Why     string
	Nothing bool
	After   time.Duration // from the request to the cut
	Alike   int           // earlier requests that were cut after the same time
}

func (e *TruncatedError) Error() string {
	if e.Alike > 0 {
		return fmt.Sprintf("endpoint: the answer was cut off after %d bytes and %s: %s%s: a proxy in between has a time "+
			"limit", e.Got, round(e.After), e.Why, alike(e.Alike))
	}
	return fmt.Sprintf("endpoint: the answer was cut off after %d bytes: %s", e.Got, e.Why)
}

// HistoryError is a refusal that is about the form of an earlier assistant turn: reasoning missing or under the wrong
// name, content null, empty or absent. The same request with another form may be accepted.
type HistoryError struct{ Refusal *StatusError }

func (e *HistoryError) Error() string {
	return fmt.Sprintf("%v: the form of an earlier assistant turn is refused: send its reasoning under the other name, "+
		"or its content in another form", e.Refusal)
}

// Unwrap returns the refusal.
func (e *HistoryError) Unwrap() error { return e.Refusal }

// TooLargeError says that the answer exceeds Limits.MaxBody.
type TooLargeError struct{ Limit int64 }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("endpoint: the answer is larger than %d bytes: raise Limits.MaxBody if that is expected", e.Limit)
}

// IsUnreachable reports whether err means that the endpoint cannot be reached at all.
func IsUnreachable(err error) bool {
	var u *UnreachableError
	return errors.As(err, &u)
}

// statusOf returns the HTTP status carried by err, 0 when there is none.
func statusOf(err error) int {
	if s, ok := errors.AsType[*StatusError](err); ok {
		return s.Status
	}
	return 0
}
