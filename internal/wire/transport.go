package wire

import (
	"context"
	"io"
	"net/http"
	"sync"
)

// Transport answers requests in memory: no socket is opened, so that tests can run it on a fake clock. Each request
// is served by its own goroutine, which ends when the body is closed, read to its end or its context is done.
func (s *Server) Transport() http.RoundTripper { return memory{s} }

type memory struct{ h http.Handler }

func (m memory) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	pr, pw := io.Pipe()
	w := &pipeWriter{header: http.Header{}, ready: make(chan struct{}), out: pw}
	stop := context.AfterFunc(ctx, func() { _ = pw.CloseWithError(ctx.Err()) })
	served := r.Clone(ctx)
	if served.Body == nil {
		served.Body = http.NoBody
	}
	go func() {
		defer stop()
		m.h.ServeHTTP(w, served)
		w.WriteHeader(http.StatusOK)
		_ = pw.Close()
	}()
	select {
	case <-w.ready:
	case <-ctx.Done():
		cancel()
		return nil, r.Context().Err()
	}
	if w.aborted {
		cancel()
		return nil, io.ErrUnexpectedEOF
	}
	return &http.Response{
		Status: http.StatusText(w.status), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, Body: &pipeBody{pr, cancel}, ContentLength: -1, Request: r,
	}, nil
}

type pipeBody struct {
	*io.PipeReader
	cancel context.CancelFunc
}

func (b *pipeBody) Close() error {
	b.cancel()
	return b.PipeReader.Close()
}

// pipeWriter is the http.ResponseWriter of the memory transport.
type pipeWriter struct {
	header  http.Header
	once    sync.Once
	ready   chan struct{}
	out     *io.PipeWriter
	sent    http.Header
	status  int
	aborted bool
}

func (w *pipeWriter) Header() http.Header { return w.header }

func (w *pipeWriter) WriteHeader(status int) {
	w.once.Do(func() {
		w.sent, w.status = w.header.Clone(), status
		close(w.ready)
	})
}

func (w *pipeWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.out.Write(p)
}

// Flush implements http.Flusher: nothing is held back.
func (w *pipeWriter) Flush() {}

func (w *pipeWriter) abort() {
	w.once.Do(func() {
		w.aborted = true
		close(w.ready)
	})
	_ = w.out.CloseWithError(io.ErrUnexpectedEOF)
}

// drop ends a connection without an end of the answer.
func drop(w http.ResponseWriter) {
	if m, ok := w.(*pipeWriter); ok {
		m.abort()
		return
	}
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_ = conn.Close()
	}
}
