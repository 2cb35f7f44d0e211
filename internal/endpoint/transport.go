package endpoint

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// call is what one request wants from the transport; it travels in the request's context because
// go-openai stands in between.
type call struct {
	fields   map[string]any // set on top of what go-openai marshals; they win
	answer   bool           // the body is a completion: read it into reply
	history  bool           // a turn is the assistant's
	stream   bool           // an event stream was asked for
	fresh    bool           // on a connection of its own
	sink     func(io.Reader) error
	failures int // attempts that may be repeated and that the server did not ask to wait after
	waited   time.Duration
	out      Exchange
	body     []byte // the complete answer where answer is false
	reply    *reply
}

type callKey struct{}

// transport is the HTTPDoer under go-openai: it merges extra fields into the body, sets the key,
// limits silence and size, retries before the first byte, records, redacts, and reads the answer itself,
// because go-openai's types cannot tell absent from zero. go-openai gets an empty answer in return.
type transport struct {
	base     http.RoundTripper
	fresh    http.RoundTripper // keeps no connection
	limits   Limits
	redact   redactor
	key      string
	slots    chan struct{}
	onWait   func(Waiting)
	cuts     cuts
	dialects dialects
	names    names
	retries  atomic.Int64
	sheds    atomic.Int64
	requests atomic.Int64
}

// Do implements openai.HTTPDoer.
func (t *transport) Do(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	c, _ := ctx.Value(callKey{}).(*call)
	if c == nil {
		c = &call{}
	}
	body, err := mergeBody(req, c.fields)
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
	kept := t.redact.bytes(body)
	c.out = Exchange{
		Method:   req.Method,
		URL:      req.URL.String(),
		Request:  kept,
		Redacted: !bytes.Equal(kept, body),
		Keyed:    t.key != "",
	}

	policy := backoff.NewExponentialBackOff()
	policy.InitialInterval = 500 * time.Millisecond
	policy.MaxInterval = t.limits.MaxWait
	_, err = backoff.Retry(ctx, func() (struct{}, error) {
		if c.out.Tries++; c.out.Tries > 1 {
			t.retries.Add(1)
		}
		return struct{}{}, t.again(t.attempt(ctx, req, body, c), req.URL.Host, c)
	}, backoff.WithBackOff(policy), backoff.WithMaxElapsedTime(0))
	if err != nil {
		return nil, plainError(err)
	}
	back := c.body
	if c.answer {
		back = []byte(`{"choices":[]}`) // a stream of the library is closed unread
	}
	return &http.Response{
		Status: http.StatusText(http.StatusOK), StatusCode: http.StatusOK,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:  http.Header{"Content-Type": {"application/json"}},
		Body:    io.NopCloser(bytes.NewReader(back)),
		Request: req, ContentLength: int64(len(back)),
	}, nil
}

// attempt sends once and reads the whole answer. A permanent failure is wrapped for backoff.
func (t *transport) attempt(ctx context.Context, req *http.Request, body []byte, c *call) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	began := time.Now()
	watch := newWatch(t.limits, len(body), cancel)
	defer watch.stop()

	send := req.Clone(ctx)
	send.Body, send.ContentLength, send.GetBody = http.NoBody, 0, nil
	if body != nil {
		// net/http repeats on a stale connection
		send.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		send.Body, _ = send.GetBody()
		send.ContentLength = int64(len(body))
	}
	send.Header.Del("Authorization")
	if t.key != "" {
		send.Header.Set("Authorization", "Bearer "+t.key)
	}
	base := t.base
	if c.fresh {
		base = t.fresh
	}
	res, err := base.RoundTrip(send)
	if err != nil {
		return t.cuts.seen(t.sendFailed(ctx, err, req.URL.Host, time.Since(began)), time.Since(began))
	}
	defer func() { _ = res.Body.Close() }()

	c.out.Status, c.out.Server = res.StatusCode, shorten(t.redact.text(res.Header.Get("Server")), 80)
	c.out.Stream, c.out.Comments = false, 0
	err = t.cuts.seen(t.read(&meter{r: res.Body, watch: watch, ctx: ctx}, c, res), time.Since(began))
	c.out.Wait, c.out.First, c.out.Total = since(began, watch.first), since(began, watch.text), time.Since(began)
	return err
}

// read takes the body apart by status and content type.
func (t *transport) read(in *meter, c *call, res *http.Response) error {
	if res.StatusCode < 200 || res.StatusCode > 299 {
		b, _ := in.whole(64 << 10) // of a refusal, whatever can be had
		c.out.Response = t.redact.bytes(b)
		return t.statusFailed(res, b, c)
	}
	if c.sink != nil {
		if err := c.sink(in); err != nil {
			return backoff.Permanent(err)
		}
		return nil
	}
	lines := bufio.NewReader(in)
	if !c.answer || !isStream(res, lines, c.stream) {
		in.r = io.MultiReader(ahead(lines), in.r)
		b, err := in.whole(t.limits.MaxBody)
		c.out.Response = t.redact.bytes(b)
		if err != nil {
			return backoff.Permanent(err)
		}
		return t.whole(b, c, res.StatusCode)
	}
	c.out.Stream = true
	s := &sse{in: in, lines: lines, limit: t.limits.MaxBody}
	r := &reply{stream: true, redact: t.redact}
	err := s.read(r, in.watch.said)
	c.out.Comments, c.out.Events = s.comments, r.events
	c.out.Response = t.redact.stream(s.kept.Bytes(), r)
	if err != nil {
		return t.bodyFailed(err, res.StatusCode, c)
	}
	c.reply = r
	return nil
}

func (t *transport) whole(b []byte, c *call, status int) error {
	if !c.answer {
		if msg, code, bad := errorObject(b); bad {
			return t.bodyFailed(&StatusError{Message: msg, Code: code, Where: "body"}, status, c)
		}
		c.body = t.redact.bytes(b)
		return nil
	}
	r := &reply{redact: t.redact}
	if err := r.add(b); err != nil {
		return t.bodyFailed(err, status, c)
	}
	c.reply = r
	return nil
}

// isStream decides by content type and, where a stream was asked for, by what the body begins with: not every server
// names the type.
func isStream(res *http.Response, lines *bufio.Reader, asked bool) bool {
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		return true
	}
	if !asked {
		return false
	}
	b, _ := lines.Peek(1) // an error comes again at the read that follows
	return len(b) == 1 && (b[0] == 'd' || b[0] == ':' || b[0] == 'e' || b[0] == 'i')
}

// ahead returns what a peek has read.
func ahead(lines *bufio.Reader) io.Reader {
	b, _ := lines.Peek(lines.Buffered()) // never fails: the bytes are there
	return bytes.NewReader(append([]byte(nil), b...))
}
