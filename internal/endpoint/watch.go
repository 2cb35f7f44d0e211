package endpoint

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"
)

// watch cancels an attempt when nothing arrives for too long: the first-byte limit until the first body byte
// (headers alone may come long before prefill ends), Idle from then on, and Linger, which further bytes do not
// extend, once the answer is complete.
type watch struct {
	limits Limits
	timer  *time.Timer
	got    atomic.Int64
	ending atomic.Bool
	first  time.Time // first body byte
	text   time.Time // first piece of an answer
}

// newWatch begins to wait for the first byte of an answer to size bytes of request.
func newWatch(l Limits, size int, cancel context.CancelCauseFunc) *watch {
	w := &watch{limits: l}
	wait := l.FirstByte + time.Duration(size/1024)*l.Prefill
	w.timer = time.AfterFunc(wait, func() {
		e := &SilenceError{Phase: "first byte", Limit: wait}
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
	if !w.ending.Load() {
		w.timer.Reset(w.limits.Idle)
	}
}

// linger gives the rest of a complete answer d more, once.
func (w *watch) linger(d time.Duration) {
	if !w.ending.Swap(true) || d < w.limits.Linger {
		w.timer.Reset(d)
	}
}

func (w *watch) lingering() bool { return w.ending.Load() }

func (w *watch) said() {
	if w.text.IsZero() {
		w.text = time.Now()
	}
}

func (w *watch) stop() { w.timer.Stop() }

// since is the time from began to at, 0 when at never came.
func since(began, at time.Time) time.Duration {
	if at.IsZero() {
		return 0
	}
	return at.Sub(began)
}

// meter reads a body, counts, tells the watch, and names what cut a read.
type meter struct {
	r     io.Reader
	watch *watch
	got   int64
	ctx   context.Context // of the attempt: its cause tells why a read was cut
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if n > 0 {
		m.watch.saw(n)
		m.got += int64(n)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		if cause := context.Cause(m.ctx); cause != nil {
			err = cause
		}
	}
	return n, err
}

// whole reads everything up to a limit.
func (m *meter) whole(limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(m, limit+1))
	switch {
	case int64(len(b)) > limit:
		return b[:limit], &TooLargeError{Limit: limit}
	case err != nil:
		return b, cutOff(err, m.got)
	}
	return b, nil
}

// cutOff names an error that ended an answer midway; limits and cancellation keep their own type.
func cutOff(err error, got int64) error {
	var silence *SilenceError
	if errors.As(err, &silence) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &TruncatedError{Got: got, Why: err.Error()}
}
