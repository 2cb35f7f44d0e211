package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// writeWithin is how long one event may wait for a client that does not read.
const writeWithin = 30 * time.Second

// events writes server-sent events: `data: {json}`, a blank line, and `data: [DONE]` at the end.
type events struct {
	w  http.ResponseWriter
	rc *http.ResponseController
}

// newEvents sends the headers at once, so that a client can tell a long prefill from a dead server.
func newEvents(w http.ResponseWriter) *events {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	return &events{w: w, rc: http.NewResponseController(w)}
}

func (e *events) send(v any) error {
	data, err := marshal(v)
	if err != nil {
		return fmt.Errorf("an event cannot be written as JSON: %w", err)
	}
	return e.line(data)
}

func (e *events) line(data []byte) error {
	// Not every ResponseWriter has deadlines (a recorder has none); the write itself tells of trouble.
	_ = e.rc.SetWriteDeadline(time.Now().Add(writeWithin))
	if _, err := fmt.Fprintf(e.w, "data: %s\n\n", data); err != nil {
		return fmt.Errorf("the client went away: %w", err)
	}
	if err := e.rc.Flush(); err != nil {
		return fmt.Errorf("the client went away: %w", err)
	}
	return nil
}

// close ends the stream. A failure becomes an error event, as the status line is long gone.
func (e *events) close(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return // nobody listens
	}
	var api *apiError
	if err != nil && !errors.As(err, &api) {
		api = engineFailure(err)
	}
	if api != nil {
		_ = e.send(api.envelope())
	}
	_ = e.line([]byte("[DONE]"))
	_ = e.rc.SetWriteDeadline(time.Time{}) // the connection may serve further requests
}
