package endpoint

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"
)

// watch cancels an attempt when nothing arrives for too long: FirstByte until the first body byte
// (headers alone may come long before prefill ends), Idle from then on.
type watch struct {
	limits Limits
	timer  *time.Timer
	got    atomic.Int64
	first  time.Time
}

func newWatch(l Limits, cancel context.CancelCauseFunc) *watch {
	w := &watch{limits: l}
	w.timer = time.AfterFunc(l.FirstByte, func() {
		e := &SilenceError{Phase: "first byte", Limit: l.FirstByte}
		if n := w.got.Load(); n > 0 {
			e = &SilenceError{Phase: "idle", Limit: l.Idle, Got: n}
		}
		cancel(e)
	})
	return w
}

func (w *watch) saw(n int) {
	if w.got.Add(int64(n)) == int64(n) {
		w.first = time.Now()
	}
	w.timer.Reset(w.limits.Idle)
}

func (w *watch) stop() { w.timer.Stop() }

func (w *watch) waited(began time.Time) time.Duration {
	if w.first.IsZero() {
		return 0
	}
	return w.first.Sub(began)
}

// meter reads a body, keeps what was read, and turns limits into errors of their own kind.
type meter struct {
	r     io.Reader
	watch *watch
	limit int64
	got   int64
	kept  bytes.Buffer
	ctx   context.Context // of the attempt: its cause tells why a read was cut
}

func (m *meter) Read(p []byte) (int, error) {
	if room := m.limit - m.got; int64(len(p)) > room+1 {
		p = p[:room+1]
	}
	n, err := m.r.Read(p)
	if n > 0 {
		m.watch.saw(n)
		m.got += int64(n)
		m.kept.Write(p[:n])
	}
	if m.got > m.limit {
		return n, &TooLargeError{Limit: m.limit}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		if cause := context.Cause(m.ctx); cause != nil {
			err = cause
		}
	}
	return n, err
}

// cutOff names an error that ended an answer midway; limits and cancellation keep their own type.
func cutOff(err error, got int64) error {
	var silence *SilenceError
	var large *TooLargeError
	if errors.As(err, &silence) || errors.As(err, &large) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &TruncatedError{Got: got, Why: err.Error()}
}
