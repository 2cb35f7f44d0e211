package candidate

import (
	"context"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// inMemory launches a worker that is a goroutine. It answers hello at once and call number i, counted over all
// processes, after delays[i]; a worker that is killed answers nothing more.
func inMemory(delays ...time.Duration) launcher {
	calls := 0
	return func(context.Context, io.Writer) (*process, error) {
		requests, stdin := io.Pipe()
		stdout, answers := io.Pipe()
		killed, kill := context.WithCancel(context.Background())
		p := newProcess(stdin, func() {
			kill()
			requests.Close()
			answers.Close()
		})
		go p.read(stdout)
		go func() {
			defer close(p.done)
			defer answers.Close()
			in := make([]byte, 4096)
			for n := 0; ; n++ {
				if _, err := requests.Read(in); err != nil {
					return
				}
				text := `{"protocol":1,"name":"memory","ops":{"copy":{}}}`
				if n > 0 {
					wait := delays[calls]
					calls++
					select {
					case <-time.After(wait):
					case <-killed.Done():
						return
					}
					text = fmt.Sprintf(`{"id":%d,"ok":true}`, calls)
				}
				if _, err := fmt.Fprintln(answers, text); err != nil {
					return
				}
			}
		}()
		return p, nil
	}
}

// The limits MUST be the protocol's: 300 s for the first call of every process, 60 s for the others.
func TestLimits(t *testing.T) {
	for name, c := range map[string]struct {
		delays []time.Duration
		late   []bool
	}{
		"just in time":    {[]time.Duration{299 * time.Second, 59 * time.Second}, []bool{false, false}},
		"first too late":  {[]time.Duration{301 * time.Second}, []bool{true}},
		"second too late": {[]time.Duration{time.Second, 61 * time.Second}, []bool{false, true}},
		"first after a restart": {
			[]time.Duration{time.Second, 61 * time.Second, 299 * time.Second, 61 * time.Second},
			[]bool{false, true, false, true},
		},
		"late twice, then works": {
			[]time.Duration{400 * time.Second, 400 * time.Second, time.Second},
			[]bool{true, true, false},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				w, err := startWith(context.WithoutCancel(t.Context()), inMemory(c.delays...), Options{Dir: dir})
				require.NoError(t, err)
				first := true
				for i, late := range c.late {
					began := time.Now()
					_, err := w.Run(t.Context(), Call{Op: "copy", Case: "c"})
					took := time.Since(began)
					want := min(c.delays[i], 60*time.Second)
					if first {
						want = min(c.delays[i], 300*time.Second)
					}
					assert.Equal(t, want, took, "call %d", i)
					first = late
					if !late {
						assert.NoError(t, err)
						continue
					}
					var broken *Error
					require.ErrorAs(t, err, &broken)
					assert.Equal(t, KindTimeout, broken.Kind)
				}
				require.NoError(t, w.Close())
			})
		})
	}
}

// A caller's own, shorter deadline is the caller's error.
func TestDeadlineOfCaller(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w, err := startWith(context.WithoutCancel(t.Context()), inMemory(20*time.Second, time.Second), Options{Dir: dir})
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err = w.Run(ctx, Call{Op: "copy", Case: "c"})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		var broken *Error
		assert.NotErrorAs(t, err, &broken)
		require.NoError(t, w.Close())
	})
}
