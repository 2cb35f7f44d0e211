package endpoint

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRetries(t *testing.T) {
	reset := &net.OpError{Op: "read", Err: io.EOF}
	refused := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	after := func(s string) http.Header { return http.Header{"Retry-After": {s}} }
	type reply struct {
		status int
		header http.Header
		err    error
	}
	for name, row := range map[string]struct {
		replies []reply // then 200
		tries   int
		waited  time.Duration // exact where Retry-After decides
		err     string
	}{
		"429-retry-after":       {[]reply{{429, after("7"), nil}, {429, after("5"), nil}}, 3, 12 * time.Second, ""},
		"503":                   {[]reply{{503, nil, nil}}, 2, 0, ""},
		"502":                   {[]reply{{502, nil, nil}}, 2, 0, ""},
		"500":                   {[]reply{{500, nil, nil}}, 1, 0, "status 500"},
		"504":                   {[]reply{{504, nil, nil}}, 1, 0, "status 504"},
		"reset":                 {[]reply{{0, nil, reset}}, 2, 0, ""},
		"429-longer-than-tries": {slices.Repeat([]reply{{429, after("1"), nil}}, 9), 10, 9 * time.Second, ""},
		"429-forever": {
			slices.Repeat([]reply{{429, after("60"), nil}}, 20),
			11,
			10 * time.Minute,
			"after waiting 10m0s, as the server asked: endpoint: the server answered status 429",
		},
		"asks-for-too-much": {[]reply{{503, after("3600"), nil}}, 1, 0, "longer than the limit"},
		"refused":           {[]reply{{0, nil, refused}}, 1, 0, "is unreachable"},
		"404":               {[]reply{{404, nil, nil}}, 1, 0, "status 404"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := 0
				c := newTest(t, func(*http.Request) (*http.Response, error) {
					if n++; n <= len(row.replies) {
						if r := row.replies[n-1]; r.err != nil {
							return nil, r.err
						} else {
							return respond(r.status, r.header, strings.NewReader("busy")), nil
						}
					}
					return respond(200, nil, strings.NewReader(plainAnswer)), nil
				}, Limits{})
				began := time.Now()
				a, err := c.Chat(t.Context(), hello())
				if row.err == "" {
					require.NoError(t, err)
				} else if err == nil || !strings.Contains(err.Error(), row.err) {
					t.Errorf("got error %v, want one with %q", err, row.err)
				}
				if a.Exchange.Tries != row.tries || c.Retries() != row.tries-1 {
					t.Errorf("%d tries and %d retries counted, want %d and %d", a.Exchange.Tries, c.Retries(), row.tries, row.tries-1)
				}
				if got := time.Since(began); row.waited > 0 && got != row.waited {
					t.Errorf("waited %s, the server asked for %s", got, row.waited)
				}
				if IsUnreachable(err) != (name == "refused") {
					t.Errorf("IsUnreachable(%v) = %v", err, IsUnreachable(err))
				}
			})
		})
	}
}

// drip is a body that gives one piece after each pause, then ends or falls silent until cancelled.
type drip struct {
	ctx    context.Context
	pause  time.Duration
	pieces []string
	silent bool
}

func (d *drip) Read(p []byte) (int, error) {
	wait := d.pause
	if len(d.pieces) == 0 {
		if !d.silent {
			return 0, io.EOF
		}
		wait = 1000 * time.Hour
	}
	select {
	case <-time.After(wait):
	case <-d.ctx.Done():
		return 0, d.ctx.Err()
	}
	n := copy(p, d.pieces[0])
	d.pieces = d.pieces[1:]
	return n, nil
}

// Silence ends a request; slowness does not.
func TestLimitsAreOnSilence(t *testing.T) {
	sse := http.Header{"Content-Type": {"text/event-stream"}}
	alive := make([]string, 500)
	for i := range alive {
		alive[i] = ":\n"
	}
	ok := `data: {"choices":[{"delta":{"content":"1"},"finish_reason":"stop"}]}` + "\n\n"
	for name, row := range map[string]struct {
		body  drip
		phase string // "" = must succeed
		took  time.Duration
	}{
		"slow-but-alive": {drip{pause: time.Minute, pieces: append(alive, ok)}, "", 501 * time.Minute},
		"first-byte":     {drip{silent: true}, "first byte", 15 * time.Minute},
		"idle": {
			drip{pause: time.Second, pieces: []string{":\n"}, silent: true},
			"idle",
			time.Second + 2*time.Minute,
		},
		"complete-then-quiet": {
			drip{pause: time.Second, pieces: []string{ok}, silent: true},
			"",
			time.Second + 5*time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newTest(t, func(r *http.Request) (*http.Response, error) {
					b := row.body
					b.ctx = r.Context()
					return respond(200, sse, &b), nil
				}, Limits{})
				began := time.Now()
				a, err := c.Chat(t.Context(), hello())
				var silence *SilenceError
				switch {
				case row.phase == "" && (err != nil || a.Text != "1"):
					t.Errorf("got %q, %v; want the answer", a.Text, err)
				case row.phase != "" && (!errors.As(err, &silence) || silence.Phase != row.phase):
					t.Errorf("got error %v, want silence in phase %q", err, row.phase)
				}
				if a.Exchange.Tries != 1 {
					t.Errorf("%d tries: a probe that is waited for may not be asked again", a.Exchange.Tries)
				}
				if got := time.Since(began); got != row.took {
					t.Errorf("took %s, want %s", got, row.took)
				}
			})
		})
	}
}

func TestCancelEndsTheWaitForASlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := New(Options{
			BaseURL:     "http://engine.test",
			MaxInFlight: 1,
			Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}),
		})
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		errs := make(chan error)
		for range 2 {
			go func() {
				_, err := c.Chat(ctx, hello())
				errs <- err
			}()
		}
		for range 2 {
			if err := <-errs; !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v, want the caller's deadline", err)
			}
		}
		if n := c.Requests(); n != 1 {
			t.Errorf("%d requests sent with one slot, want 1", n)
		}
	})
}
