package suite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// ErrInterrupted is the cause of a context that a signal ended.
var ErrInterrupted = errors.New("interrupted")

// grace is how long a job may take to write what it has, once it was told to stop.
const grace = 30 * time.Second

// interruptible are the jobs that want to be told of a signal.
var interruptible struct {
	sync.Mutex
	stop []context.CancelCauseFunc
}

// Interruptible is the context of a job that writes a report of what it has when SIGINT or SIGTERM ends it: the context
// is then done, with ErrInterrupted as its cause, and the job gives its own Verdict. A second signal, or half a minute,
// ends the process at once.
func Interruptible(ctx context.Context) context.Context {
	ctx, stop := context.WithCancelCause(ctx)
	interruptible.Lock()
	defer interruptible.Unlock()
	interruptible.stop = append(interruptible.stop, stop)
	return ctx
}

// tell ends the contexts of all jobs and reports whether there was one.
func tell() bool {
	interruptible.Lock()
	defer interruptible.Unlock()
	for _, stop := range interruptible.stop {
		stop(ErrInterrupted)
	}
	return len(interruptible.stop) > 0
}

// onSignal makes an interrupt end the run as inconclusive, with its verdict line, instead of silently.
func onSignal() (stop func()) {
	c := make(chan os.Signal, 2)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	go func() {
		sig, ok := <-c
		if !ok {
			return
		}
		if tell() {
			select {
			case _, again := <-c:
				if !again { // the job has ended by itself
					return
				}
			case <-time.After(grace):
			}
		}
		finish(Inconclusive, fmt.Sprintf("inconclusive: interrupted (%s) after %d results", sig, len(Results())))
	}()
	return func() { signal.Stop(c); close(c) }
}
