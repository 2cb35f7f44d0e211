package kernels

import (
	"context"
	"fmt"
	"sync"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/internal/job"
)

// Worker is a candidate in a process of its own that speaks the worker protocol (adapters/README.md; the Python side is
// adapters/python). The words of the command line are separated by white space and kept together by quotes, leading
// NAME=value words are its environment, and there is no shell. The process is started by the first call to it and ends
// with ctx, or at the end of the Test or Run that was given it. A worker that does not start is a usage error, code 2.
func Worker(ctx context.Context, commandLine string) bench.Candidate {
	return &worker{life: ctx, line: commandLine}
}

type worker struct {
	life context.Context
	line string

	lock sync.Mutex
	proc *bench.Worker
}

func (w *worker) process() (*bench.Worker, error) {
	w.lock.Lock()
	defer w.lock.Unlock()
	if w.proc != nil {
		return w.proc, nil
	}
	p, err := bench.StartWorker(w.life, w.line)
	if err != nil {
		return nil, job.UsageError{Err: fmt.Errorf("the worker %q does not start: %w", w.line, err)}
	}
	w.proc = p
	return p, nil
}

// Hello starts the worker and asks it what it offers.
func (w *worker) Hello(ctx context.Context) (bench.Hello, error) {
	p, err := w.process()
	if err != nil {
		return bench.Hello{}, err
	}
	return p.Hello(ctx)
}

// Run sends a call to it.
func (w *worker) Run(ctx context.Context, call bench.Call) (bench.Reply, error) {
	p, err := w.process()
	if err != nil {
		return bench.Reply{}, err
	}
	return p.Run(ctx, call)
}

// end ends the process and returns the end of what it wrote to standard error. The next call starts another one.
func (w *worker) end() (stderr string, err error) {
	w.lock.Lock()
	defer w.lock.Unlock()
	if w.proc == nil {
		return "", nil
	}
	p := w.proc
	w.proc = nil
	stderr = p.Stderr()
	return stderr, p.Close()
}
