package engine

import (
	"fmt"
	"io"
	"net/http"
	"sync"
)

// transport serves an engine without a network. It keeps connections as a client would: a request takes an idle one.
type transport struct {
	h    http.Handler
	mu   sync.Mutex
	idle []int
	made int
}

// Transport returns an http.RoundTripper that answers from the engine in this process.
func (e *Engine) Transport() http.RoundTripper { return &transport{h: e} }

func (t *transport) take() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.idle); n > 0 {
		c := t.idle[n-1]
		t.idle = t.idle[:n-1]
		return c
	}
	t.made++
	return t.made
}

func (t *transport) put(c int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.idle = append(t.idle, c)
}

// RoundTrip runs the handler in a goroutine and returns as soon as it has written its header.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	conn := t.take()
	in := r.Clone(r.Context())
	in.RemoteAddr, in.RequestURI = fmt.Sprintf("mem:%d", conn), r.URL.RequestURI()
	if in.Body == nil {
		in.Body = http.NoBody
	}
	body, out := io.Pipe()
	w := &memWriter{header: http.Header{}, out: out, ready: make(chan struct{})}
	go func() {
		defer t.put(conn)
		t.h.ServeHTTP(w, in)
		w.WriteHeader(http.StatusOK)
		_ = in.Body.Close()
		_ = out.Close()
	}()
	select {
	case <-w.ready:
	case <-r.Context().Done():
		_ = body.CloseWithError(r.Context().Err())
		return nil, r.Context().Err()
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", w.status, http.StatusText(w.status)), StatusCode: w.status, Proto: "HTTP/1.1",
		ProtoMajor: 1, ProtoMinor: 1, Header: w.sent, Body: body, ContentLength: -1, Request: r,
	}, nil
}

type memWriter struct {
	header, sent http.Header
	out          *io.PipeWriter
	once         sync.Once
	ready        chan struct{}
	status       int
}

func (w *memWriter) Header() http.Header { return w.header }

func (w *memWriter) WriteHeader(status int) {
	w.once.Do(func() {
		w.status, w.sent = status, w.header.Clone()
		close(w.ready)
	})
}

func (w *memWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.out.Write(b)
}

// Flush is there for the handler; nothing is buffered.
func (w *memWriter) Flush() {}
