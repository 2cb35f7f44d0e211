package server

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"strings"
	"time"
)

// Serve answers on ln until ctx ends, then takes no new connections, lets requests in flight finish for
// Config.Drain, cancels what is left, and returns once no request runs any more. It closes ln. The
// error is nil after an orderly end, and says so when requests had to be cut off.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx)) // requests outlive ctx by the drain
	defer cancel()
	hs := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		BaseContext:       func(net.Listener) context.Context { return work },
		ErrorLog:          log.New(lineWriter(s.cfg.Logf), "", 0),
	}
	served := make(chan error, 1)
	go func() { served <- hs.Serve(ln) }()
	select {
	case err := <-served:
		return fmt.Errorf("server: cannot serve on %s: %w", ln.Addr(), err)
	case <-ctx.Done():
	}
	deadline, stop := context.WithTimeout(work, s.cfg.Drain)
	defer stop()
	err := hs.Shutdown(deadline)
	if err != nil {
		cancel() // Close alone does not reach a handler whose client sent ahead
		_ = hs.Close()
	}
	if serveErr := <-served; !errors.Is(serveErr, http.ErrServerClosed) {
		return fmt.Errorf("server: serving on %s ended: %w", ln.Addr(), serveErr)
	}
	s.settle()
	if err != nil {
		return fmt.Errorf("server: requests still ran %v after the stop and were cut off: %w", s.cfg.Drain, err)
	}
	return nil
}

// settle waits for completion requests whose connection is already closed: each notices between two
// engine steps.
func (s *Server) settle() {
	for range cap(s.slots) {
		s.slots <- struct{}{}
	}
	for range cap(s.slots) {
		<-s.slots
	}
}

// lineWriter turns net/http's log into calls of Logf.
type lineWriter func(format string, args ...any)

func (w lineWriter) Write(p []byte) (int, error) {
	w("%s", strings.TrimRight(string(p), "\n"))
	return len(p), nil
}
