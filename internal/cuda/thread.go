package cuda

import (
	"fmt"
	"runtime"
)

// thread runs functions one after another on one operating system thread: a CUDA context is current on a thread.
type thread struct {
	work chan func()
}

// newThread starts the thread; it ends with the channel.
func newThread() *thread {
	t := &thread{work: make(chan func())}
	go func() {
		runtime.LockOSThread()
		for f := range t.work {
			f()
		}
	}()
	return t
}

// do runs f there and waits. A panic of f is an error.
func (t *thread) do(f func() error) (err error) {
	done := make(chan struct{})
	t.work <- func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("the worker itself broke: %v", p)
			}
		}()
		err = f()
	}
	<-done
	return err
}

func (t *thread) end() { close(t.work) }
