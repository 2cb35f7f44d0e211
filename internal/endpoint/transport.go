package endpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// call is what one request wants from the transport; it travels in the request's context because
// go-openai stands in between.
type call struct {
	extra map[string]any // fields set on top of what go-openai marshals; they win
	out   Exchange
	body  []byte // the complete answer, assembled when streamed
}

type callKey struct{}

// transport is the HTTPDoer under go-openai: it merges extra fields into the body, sets the key,
// limits silence and size, retries before the first byte, records, redacts, and hands back a complete
// body, assembled from the event stream where the server streamed.
type transport struct {
	base     http.RoundTripper
	limits   Limits
	redact   redactor
	key      string
	slots    chan struct{}
	retries  atomic.Int64
	requests atomic.Int64
}

// Do implements openai.HTTPDoer.
func (t *transport) Do(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	c, _ := ctx.Value(callKey{}).(*call)
	if c == nil {
		c = &call{}
	}
	body, err := mergeBody(req, c.extra)
	if err != nil {
		return nil, err
	}
	if t.slots != nil {
		select {
		case t.slots <- struct{}{}:
			defer func() { <-t.slots }()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	t.requests.Add(1)
	c.out = Exchange{Method: req.Method, URL: req.URL.String(), Request: body, Keyed: t.key != ""}

	policy := backoff.NewExponentialBackOff()
	policy.InitialInterval = 500 * time.Millisecond
	policy.MaxInterval = t.limits.MaxWait
	payload, err := backoff.Retry(ctx, func() ([]byte, error) {
		if c.out.Tries++; c.out.Tries > 1 {
			t.retries.Add(1)
		}
		return t.attempt(ctx, req, body, &c.out)
	}, backoff.WithBackOff(policy), backoff.WithMaxTries(uint(t.limits.MaxTries)), backoff.WithMaxElapsedTime(0))
	if err != nil {
		if again, ok := errors.AsType[*againError](err); ok {
			err = again.err
		}
		return nil, err
	}
	c.body = payload
	return &http.Response{
		Status: http.StatusText(http.StatusOK), StatusCode: http.StatusOK,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:  http.Header{"Content-Type": {"application/json"}},
		Body:    io.NopCloser(bytes.NewReader(payload)),
		Request: req, ContentLength: int64(len(payload)),
	}, nil
}

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

// attempt sends once and reads the whole answer. A permanent failure is wrapped for backoff.
func (t *transport) attempt(ctx context.Context, req *http.Request, body []byte, out *Exchange) ([]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	began := time.Now()
	watch := newWatch(t.limits, cancel)
	defer watch.stop()

	send := req.Clone(ctx)
	send.Body, send.ContentLength, send.GetBody = http.NoBody, 0, nil
	if body != nil {
		send.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil } // net/http repeats on a stale connection
		send.Body, _ = send.GetBody()
		send.ContentLength = int64(len(body))
	}
	send.Header.Del("Authorization")
	if t.key != "" {
		send.Header.Set("Authorization", "Bearer "+t.key)
	}
	res, err := t.base.RoundTrip(send)
	if err != nil {
		return nil, t.sendFailed(ctx, err, req.URL.Host)
	}
	defer func() { _ = res.Body.Close() }()

	out.Status = res.StatusCode
	out.Stream = strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream")
	in := &meter{r: res.Body, watch: watch, limit: t.limits.MaxBody, ctx: ctx}
	payload, err := t.read(in, out, res)
	out.Response = t.redact.bytes(in.kept.Bytes())
	out.Wait, out.Total = watch.waited(began), time.Since(began)
	if err != nil {
		return nil, err
	}
	return t.redact.bytes(payload), nil
}

// read takes the body apart by status and content type.
func (t *transport) read(in *meter, out *Exchange, res *http.Response) ([]byte, error) {
	if res.StatusCode < 200 || res.StatusCode > 299 {
		_, _ = io.Copy(io.Discard, io.LimitReader(in, 64<<10))
		return nil, t.statusFailed(res, in.kept.Bytes())
	}
	if out.Stream {
		payload, err := assemble(in)
		if s, ok := errors.AsType[*StatusError](err); ok {
			s.Status, s.Message = res.StatusCode, t.redact.text(s.Message)
		}
		if err != nil {
			return nil, backoff.Permanent(err)
		}
		return payload, nil
	}
	if _, err := io.Copy(io.Discard, in); err != nil {
		return nil, backoff.Permanent(cutOff(err, in.got))
	}
	payload := in.kept.Bytes()
	if msg, bad := errorObject(payload); bad {
		return nil, backoff.Permanent(&StatusError{Status: res.StatusCode, Message: t.redact.text(msg), Where: "body"})
	}
	return payload, nil
}

// sendFailed sorts failures before any byte: a limit, the caller's own cancellation, a connection lost
// on a server that was there (retried), and no server at all (not retried: it will not be there in a second).
func (t *transport) sendFailed(ctx context.Context, err error, host string) error {
	if cause := context.Cause(ctx); cause != nil {
		return backoff.Permanent(cause)
	}
	var op *net.OpError
	dial := errors.As(err, &op) && op.Op == "dial"
	if !dial && (errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) {
		return &againError{err: &TruncatedError{Why: "the connection was closed before the first byte: " + t.redact.text(err.Error())}}
	}
	return backoff.Permanent(&UnreachableError{Host: host, Err: err})
}

func (t *transport) statusFailed(res *http.Response, body []byte) error {
	msg, found := errorObject(body)
	if !found {
		msg = shorten(strings.TrimSpace(string(body)), 300)
	}
	if loc := res.Header.Get("Location"); res.StatusCode/100 == 3 && loc != "" {
		// Following would send the key to a host the user did not name.
		msg = fmt.Sprintf("it redirects to %q: set OPENAI_BASE_URL to the final address", loc)
	}
	failure := &StatusError{Status: res.StatusCode, Message: t.redact.text(msg), Where: "status"}
	switch res.StatusCode {
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
	default:
		return backoff.Permanent(failure)
	}
	again := &againError{err: failure}
	if wait, ok := retryAfter(res.Header.Get("Retry-After"), time.Now()); ok {
		if wait > t.limits.MaxWait {
			return backoff.Permanent(fmt.Errorf("endpoint: the server asks to wait %s, longer than the limit of %s: %w", wait, t.limits.MaxWait, failure))
		}
		again.after = &backoff.RetryAfterError{Duration: wait}
	}
	return again
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

// mergeBody returns the body with extra fields set. Keys come out sorted, so equal requests are equal bytes.
func mergeBody(req *http.Request, extra map[string]any) ([]byte, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return nil, nil
	}
	raw, err := io.ReadAll(req.Body)
	_ = req.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("endpoint: reading the request to send: %w", err)
	}
	if len(extra) == 0 {
		return raw, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, fmt.Errorf("endpoint: the request to send is no JSON object: %w", err)
	}
	for k, v := range extra {
		b, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("endpoint: extra request field %q: %w", k, err)
		}
		fields[k] = b
	}
	return json.Marshal(fields)
}

// errorObject finds an OpenAI-shaped error in a body that should be an answer.
func errorObject(body []byte) (string, bool) {
	var v struct {
		Error   json.RawMessage `json:"error"`
		Object  string          `json:"object"`
		Message string          `json:"message"`
	}
	if json.Unmarshal(body, &v) != nil {
		return "", false
	}
	if v.Object == "error" { // older vLLM
		return shorten(v.Message, 300), true
	}
	if len(v.Error) == 0 || string(v.Error) == "null" {
		return "", false
	}
	var e struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(v.Error, &e) == nil && e.Message != "" {
		return shorten(e.Message, 300), true
	}
	return shorten(string(v.Error), 300), true
}

func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "..."
}
