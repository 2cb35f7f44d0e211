package endpoint

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Waiting is a wait that the server asked for: it is loading, or it said when to come again.
type Waiting struct {
	Reason string        // the server's words
	For    time.Duration // this wait
	So     time.Duration // waited for this request before
	Most   time.Duration // Limits.Patience
}

// ShowWaits returns an OnWait that tells w of a wait, at most every 15 seconds over all requests.
func ShowWaits(w io.Writer) func(Waiting) {
	var mu sync.Mutex
	var last time.Time
	return func(wait Waiting) {
		mu.Lock()
		defer mu.Unlock()
		if now := time.Now(); last.IsZero() || now.Sub(last) >= 15*time.Second {
			last = now
			fmt.Fprintf(w, "waiting for the server (%s): %s so far, %s at most\n", wait.Reason, wait.So.Round(time.Second),
				wait.Most)
		}
	}
}

// loadingPoll is the time between two looks at a server that is loading and does not say when to come again.
const loadingPoll = 5 * time.Second

// again decides on another attempt after a failure. What the server asks to wait for is bounded by Limits.Patience,
// everything else by Limits.MaxTries.
func (t *transport) again(err error, host string, c *call) error {
	a, ok := errors.AsType[*againError](err)
	switch {
	case !ok:
		return err
	case a.after == nil || t.limits.MaxTries == 1:
		if c.failures++; c.failures >= t.limits.MaxTries {
			return backoff.Permanent(a.err)
		}
		return err
	case c.waited+a.after.Duration > t.limits.Patience:
		if s, is := errors.AsType[*StatusError](a.err); is && s.loading() {
			return backoff.Permanent(&UnreachableError{Host: host, Err: s, Waited: c.waited})
		}
		return backoff.Permanent(fmt.Errorf("endpoint: after waiting %s, as the server asked: %w", c.waited, a.err))
	}
	if t.onWait != nil {
		reason := a.err.Error()
		if s, is := errors.AsType[*StatusError](a.err); is {
			reason = fmt.Sprintf("status %d: %s", s.Status, shorten(s.Message, 80))
		}
		t.onWait(Waiting{Reason: reason, For: a.after.Duration, So: c.waited, Most: t.limits.Patience})
	}
	c.waited += a.after.Duration
	return err
}

// loading reports whether the server says that its model is not in memory yet.
func (e *StatusError) loading() bool {
	switch e.effective() {
	case http.StatusServiceUnavailable, http.StatusInternalServerError:
		return loadingWords.MatchString(e.Message)
	}
	return false
}
