package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// againError marks a failure that may be retried; backoff's own error for Retry-After has no cause.
type againError struct {
	err   error
	after *backoff.RetryAfterError // nil: the exponential policy decides
}

func (e *againError) Error() string { return e.err.Error() }
func (e *againError) Unwrap() []error {
	if e.after == nil {
		return []error{e.err}
	}
	return []error{e.err, e.after}
}

func plainError(err error) error {
	if again, ok := errors.AsType[*againError](err); ok {
		return again.err
	}
	return err
}

// sendFailed sorts failures before any byte: a limit, the caller's own cancellation, a connection lost
// on a server that was there (retried), and no server at all (not retried: it will not be there in a second).
// A connection lost after a while is not retried either: it may be a proxy that gave up during prefill, and then the
// engine is still at work on the first request.
func (t *transport) sendFailed(ctx context.Context, err error, host string, after time.Duration) error {
	if cause := context.Cause(ctx); cause != nil {
		return backoff.Permanent(cause)
	}
	var op *net.OpError
	dial := errors.As(err, &op) && op.Op == "dial"
	if !dial && (errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF)) {
		lost := &TruncatedError{Why: "the connection was closed before the first byte: " + t.redact.text(err.Error())}
		if after > t.limits.Connect {
			return backoff.Permanent(lost)
		}
		return &againError{err: lost}
	}
	return backoff.Permanent(&UnreachableError{Host: host, Err: err})
}

// statusFailed sorts statuses outside 2xx. Only the way to the server is retried: overload and loading, because the
// request was not begun, and a gateway that did not reach the engine. A 500 of the engine is a finding, and a
// gateway's timeout means that the engine may still be at work: asking again would double its load.
func (t *transport) statusFailed(res *http.Response, body []byte, c *call) error {
	msg, code, found := errorObject(body)
	if !found {
		msg = strings.TrimSpace(string(body))
	}
	if loc := res.Header.Get("Location"); res.StatusCode/100 == 3 && loc != "" {
		// Following would send the key to a host the user did not name.
		msg = fmt.Sprintf("it redirects to %q: set OPENAI_BASE_URL to the final address", loc)
	}
	failure := &StatusError{
		Status:  res.StatusCode,
		Code:    code,
		Message: shorten(t.redact.text(msg), 300),
		Where:   "status",
		fits:    fitsOf(body),
	}
	shed := failure.shed()
	if shed {
		t.sheds.Add(1)
		c.out.Sheds++
	}
	if c.answer && unparsedWords.MatchString(failure.Message) && res.StatusCode == http.StatusInternalServerError {
		c.reply = &reply{redact: t.redact, events: 1, notes: []Note{{NoteUnparsed, failure.Message}}}
		return nil
	}
	if !shed && res.StatusCode != http.StatusBadGateway {
		return backoff.Permanent(aboutTurns(failure, c))
	}
	again := &againError{err: failure}
	if wait, ok := retryAfter(res.Header.Get("Retry-After"), time.Now()); ok {
		if wait > t.limits.MaxWait {
			return backoff.Permanent(fmt.Errorf("endpoint: the server asks to wait %s, longer than the limit of %s: %w", wait,
				t.limits.MaxWait, failure))
		}
		again.after = &backoff.RetryAfterError{Duration: wait}
	} else if failure.loading() {
		again.after = &backoff.RetryAfterError{Duration: loadingPoll}
	}
	return again
}

// bodyFailed sorts what a 200 holds instead of an answer. Overload inside a 200 is retried as outside, once nothing
// of an answer has come.
func (t *transport) bodyFailed(err error, status int, c *call) error {
	s, ok := errors.AsType[*StatusError](err)
	if !ok {
		return backoff.Permanent(err)
	}
	s.Status, s.Message = status, shorten(t.redact.text(s.Message), 300)
	if s.shed() {
		t.sheds.Add(1)
		c.out.Sheds++
		if c.out.Events == 0 {
			return &againError{err: s}
		}
	}
	return backoff.Permanent(aboutTurns(s, c))
}

// aboutTurns makes a *HistoryError of a refusal that is about an assistant turn, where the request had one.
func aboutTurns(s *StatusError, c *call) error {
	if _, long := OverflowOf(s); long {
		return s
	}
	code := s.effective()
	if c.history && (code == http.StatusBadRequest || code == http.StatusUnprocessableEntity) &&
		aboutHistory.MatchString(s.Message) {
		return &HistoryError{s}
	}
	return s
}

// unparsedWords is llama.cpp's refusal to parse what the model wrote: the engine has answered, and the answer is wrong.
var unparsedWords = regexp.MustCompile(`(?i)output that does not match the expected .*\bformat\b`)

// fitsOf reads the numbers that llama.cpp gives beside its message.
func fitsOf(body []byte) Overflow {
	var v struct {
		Error struct {
			Type   string `json:"type"`
			Prompt *int   `json:"n_prompt_tokens"`
			Window *int   `json:"n_ctx"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &v) != nil {
		return Overflow{}
	}
	return Overflow{Prompt: known(v.Error.Prompt), Window: known(v.Error.Window)}
}

// retryAfter reads both forms of the header (RFC 9110, section 10.2.3).
func retryAfter(h string, now time.Time) (time.Duration, bool) {
	if h == "" {
		return 0, false
	}
	if s, err := strconv.Atoi(strings.TrimSpace(h)); err == nil && s >= 0 && s < 1<<30 {
		return time.Duration(s) * time.Second, true
	}
	if at, err := http.ParseTime(h); err == nil {
		return max(0, at.Sub(now)), true
	}
	return 0, false
}

func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "..."
}
