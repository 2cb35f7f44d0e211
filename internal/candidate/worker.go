package candidate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"time"
)

// Worker is a worker that is started when it is needed. It answers one call at a time; it is safe for concurrent use.
type Worker struct {
	life   context.Context // of every process of this worker
	finish context.CancelFunc
	launch launcher
	opts   Options
	dir    string
	stderr *tail
	turn   chan struct{} // holds one token; what is below belongs to its holder

	proc     *process
	hello    Hello
	greeted  bool // hello is known
	answered bool // this process has answered a call
	failures int  // starts in a row that failed
	failed   error
	restarts int
	next     int
	closed   bool
}

// Start starts the worker of a command line and asks it what it offers. Words are separated by white space and kept
// together by quotes, leading NAME=value words are its environment, and there is no shell. The worker runs until Close
// or until ctx ends. Errors are those of the command line, and *Error of KindStart, KindHello, KindTimeout, KindExit
// and KindLine.
func Start(ctx context.Context, commandLine string, opts Options) (*Worker, error) {
	c, err := parse(commandLine)
	if err != nil {
		return nil, err
	}
	return startWith(ctx, c.launch, opts)
}

func startWith(ctx context.Context, launch launcher, opts Options) (*Worker, error) {
	opts = opts.withDefaults()
	dir, err := tempFolder(opts.Dir)
	if err != nil {
		return nil, err
	}
	life, finish := context.WithCancel(ctx)
	w := &Worker{
		life: life, finish: finish, launch: launch, opts: opts, dir: dir,
		stderr: &tail{limit: opts.Stderr}, turn: make(chan struct{}, 1),
	}
	if err := w.ensure(ctx); err != nil {
		finish()
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	w.turn <- struct{}{}
	return w, nil
}

// Hello is what the worker said when it was started.
func (w *Worker) Hello() Hello { return w.hello }

// Stderr is the end of what the worker's processes wrote to standard error so far, with notes of restarts.
func (w *Worker) Stderr() string { return w.stderr.String() }

// Restarts counts the processes after the first one.
func (w *Worker) Restarts() int {
	<-w.turn
	defer func() { w.turn <- struct{}{} }()
	return w.restarts
}

// Run sends one call and reads its outputs. Errors wrap ErrUnsupported where the worker does not offer the call, are an
// *Error where the worker broke, and name the field where the call itself is wrong; a ctx that ends is passed on.
func (w *Worker) Run(ctx context.Context, call Call) (_ Reply, err error) {
	if err := call.Check(); err != nil {
		return Reply{}, err
	}
	select {
	case <-w.turn:
	case <-ctx.Done():
		return Reply{}, fmt.Errorf("case %q waited for the worker: %w", call.Case, context.Cause(ctx))
	}
	defer func() { w.turn <- struct{}{} }()
	if w.closed {
		return Reply{}, fmt.Errorf("case %q: the worker is closed; start another", call.Case)
	}
	if err := w.offers(call); err != nil {
		return Reply{}, err
	}
	request, raw, remove, err := w.prepare(call)
	if err != nil {
		return Reply{}, inCase(err, call.Case)
	}
	defer func() { err = errors.Join(err, remove()) }()
	if err := w.ensure(ctx); err != nil {
		return Reply{}, inCase(err, call.Case)
	}
	mark := w.stderr.written()
	reply, err := w.exchange(ctx, call, request, raw)
	if err == nil || errors.Is(err, ErrUnsupported) {
		w.answered = true
		return reply, err
	}
	w.retire(fmt.Sprintf("case %q: %v", call.Case, err))
	if broken, ok := errors.AsType[*Error](err); ok {
		broken.Stderr = w.stderr.since(mark, 2<<10)
	}
	return Reply{}, inCase(err, call.Case)
}

func inCase(err error, id string) error {
	if broken, ok := errors.AsType[*Error](err); ok {
		broken.Case = id
		return err
	}
	return fmt.Errorf("case %q: %w", id, err)
}

// offers tells whether hello lists the operator and the mode.
func (w *Worker) offers(call Call) error {
	op, ok := w.hello.Ops[call.Op]
	if !ok {
		return fmt.Errorf("case %q: worker %q does not list operator %q: %w", call.Case, w.hello.Name, call.Op,
			ErrUnsupported)
	}
	mode := mode(call)
	if !slices.Contains(op.Modes, mode) && (mode != Eager || len(op.Modes) > 0) {
		return fmt.Errorf("case %q: worker %q lists modes %q for operator %q, not %q: %w", call.Case, w.hello.Name, op.Modes,
			call.Op, mode, ErrUnsupported)
	}
	return nil
}

func mode(call Call) string {
	if call.Mode == "" {
		return Eager
	}
	return call.Mode
}

// ensure makes sure that a process is there which owes no answer.
func (w *Worker) ensure(ctx context.Context) error {
	if w.proc != nil {
		select {
		case <-w.proc.done:
			w.retire("the process ended between two calls")
		default:
			if l, odd := w.proc.pending(); odd {
				w.retire(fmt.Sprintf("a line came that nobody asked for: %q", start(l.text)))
			}
		}
	}
	if w.proc != nil {
		return nil
	}
	if w.failures >= w.opts.Attempts {
		return problem(KindStart, w.failed, "%d starts in a row failed, and no other is tried; the last one", w.failures)
	}
	err := w.begin(ctx)
	if err != nil && ctx.Err() == nil && w.life.Err() == nil {
		w.failures++
		w.failed = err
	}
	return err
}

// begin starts a process and greets it.
func (w *Worker) begin(ctx context.Context) error {
	mark := w.stderr.written()
	p, err := w.launch(w.life, w.stderr) //nolint:contextcheck // a process outlives the call that starts it
	if err != nil {
		return problem(KindStart, err, "the worker's command cannot be started; check its path")
	}
	w.proc, w.answered = p, false
	hello, err := w.greet(ctx)
	if err != nil {
		w.retire(fmt.Sprintf("greeting: %v", err))
		if broken, ok := errors.AsType[*Error](err); ok {
			broken.Stderr = w.stderr.since(mark, 2<<10)
		}
		return err
	}
	if w.greeted {
		w.restarts++
	} else {
		w.hello, w.greeted = hello, true
	}
	w.failures, w.failed = 0, nil
	return nil
}

func (w *Worker) greet(ctx context.Context) (Hello, error) {
	request, err := json.Marshal(greeting{Op: "hello", Protocol: Protocol})
	if err != nil {
		return Hello{}, err
	}
	answer, err := w.ask(ctx, w.opts.First, request, isHello)
	if err != nil {
		return Hello{}, err
	}
	var said helloLine
	switch err := json.Unmarshal(answer, &said); {
	case err != nil:
		return Hello{}, problem(KindLine, err, "the answer to hello is %q", start(answer))
	case said.Protocol != Protocol:
		return Hello{}, problem(KindHello, nil, "it answers hello with protocol %d, and this is protocol %d", said.Protocol,
			Protocol)
	case said.Name == "" || len(said.Ops) == 0:
		return Hello{}, problem(KindHello, nil, "it answers hello with name %q and %d operators; give a name and at least "+
			"one", said.Name, len(said.Ops))
	case w.greeted && !reflect.DeepEqual(said.Hello, w.hello):
		return Hello{}, problem(KindHello, nil, "started again it says that it is %q %q, and it was %q %q or offered other "+
			"operators", said.Name, said.Version, w.hello.Name, w.hello.Version)
	}
	return said.Hello, nil
}

// isHello tells an answer to hello from what a worker printed before it served.
func isHello(line []byte) bool {
	var said map[string]json.RawMessage
	return json.Unmarshal(line, &said) == nil && said["protocol"] != nil
}

// anyLine is every line: a worker that serves prints nothing but answers.
func anyLine([]byte) bool { return true }

// ask asks the process with a limit.
func (w *Worker) ask(ctx context.Context, limit time.Duration, request []byte, answers func([]byte) bool) ([]byte,
	error,
) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	//nolint:contextcheck // two lives bound a call: the caller's and the worker's
	stop := context.AfterFunc(w.life, cancel)
	defer stop()
	answer, err := w.proc.ask(limited, request, answers, w.opts.Quiet, w.stderr)
	var broken *Error
	switch {
	case err == nil:
		return answer, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case w.life.Err() != nil:
		return nil, context.Cause(w.life) //nolint:contextcheck // as above
	case errors.As(err, &broken):
		return nil, err
	}
	return nil, problem(KindTimeout, nil, "no answer within %v; it was killed", limit)
}

// retire kills the process and notes why.
func (w *Worker) retire(why string) {
	w.proc.kill()
	_ = w.proc.stdin.Close() // it is dead
	<-w.proc.done
	w.proc = nil
	_, _ = fmt.Fprintf(w.stderr, "[assay: worker stopped: %.300s]\n", why)
}

// Close ends standard input, waits for the process to end, kills it otherwise, and removes the folder of tensor files.
// A second Close does nothing.
func (w *Worker) Close() error {
	<-w.turn
	defer func() { w.turn <- struct{}{} }()
	if w.closed {
		return nil
	}
	w.closed = true
	var err error
	switch {
	case w.proc == nil:
	case w.life.Err() != nil:
		w.retire("the context of the worker ended")
	default:
		err = w.proc.end(w.opts.Grace)
	}
	w.finish()
	return errors.Join(err, os.RemoveAll(w.dir))
}
