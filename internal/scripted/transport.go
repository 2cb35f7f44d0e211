package scripted

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
)

// Transport is an http.RoundTripper that calls the engine without sockets: streams arrive as they are written, a
// closed body or a cancelled request reaches the engine as a client that left. All requests share one connection (so
// one replica) until CloseIdleConnections. It works in a testing/synctest bubble.
type Transport struct {
	engine  *Engine
	handler http.Handler
	conn    atomic.Uint64
}

// Transport returns a client transport with a connection of its own.
func (e *Engine) Transport() *Transport { return e.TransportOver(e) }

// TransportOver is Transport for a handler around the engine, such as one with wire quirks.
func (e *Engine) TransportOver(h http.Handler) *Transport {
	t := &Transport{engine: e, handler: h}
	t.CloseIdleConnections()
	return t
}

// CloseIdleConnections makes the next request the first of a new connection.
func (t *Transport) CloseIdleConnections() {
	t.engine.mu.Lock()
	defer t.engine.mu.Unlock()
	t.engine.conns++
	t.conn.Store(t.engine.conns)
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	in := r.Clone(ctx)
	in.RemoteAddr = "in-process:" + strconv.FormatUint(t.conn.Load(), 10)
	if in.Body == nil {
		in.Body = http.NoBody
	}
	pr, pw := io.Pipe()
	w := &pipeWriter{header: http.Header{}, pw: pw, ready: make(chan struct{})}
	go func() {
		defer cancel()
		t.handler.ServeHTTP(w, in)
		_ = in.Body.Close()
		w.WriteHeader(http.StatusOK)
		_ = pw.Close()
	}()
	select {
	case <-w.ready:
	case <-r.Context().Done():
		_ = pr.CloseWithError(r.Context().Err())
		return nil, r.Context().Err()
	}
	stop := context.AfterFunc(r.Context(), func() { _ = pr.CloseWithError(r.Context().Err()) })
	return &http.Response{
		StatusCode: w.status, Status: strconv.Itoa(w.status) + " " + http.StatusText(w.status),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: w.sent, ContentLength: -1, Request: r,
		Body: &pipeBody{PipeReader: pr, cancel: cancel, stop: stop},
	}, nil
}

type pipeWriter struct {
	header, sent http.Header
	pw           *io.PipeWriter
	once         sync.Once
	status       int
	ready        chan struct{}
}

func (w *pipeWriter) Header() http.Header { return w.header }

func (w *pipeWriter) WriteHeader(status int) {
	w.once.Do(func() {
		w.status, w.sent = status, w.header.Clone()
		close(w.ready)
	})
}

func (w *pipeWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.pw.Write(p)
}

// Flush implements http.Flusher: a pipe holds nothing back.
func (w *pipeWriter) Flush() { w.WriteHeader(http.StatusOK) }

type pipeBody struct {
	*io.PipeReader
	cancel context.CancelFunc
	stop   func() bool
}

// Close tells the handler that its client left, unless it is done.
func (b *pipeBody) Close() error {
	b.stop()
	b.cancel()
	return b.PipeReader.Close()
}
