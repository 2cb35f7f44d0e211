package candidate

import (
	"errors"
	"fmt"
	"strings"
)

// ErrUnsupported is wrapped by errors of calls that a worker does not offer: no result, and no fault of the worker.
var ErrUnsupported = errors.New("unsupported")

// Kind is what a worker did wrong.
type Kind string

// The kinds of an *Error.
const (
	KindStart   Kind = "start"   // the command cannot be run
	KindHello   Kind = "hello"   // the first answer is missing, late or of another protocol
	KindTimeout Kind = "timeout" // no answer within the limit
	KindExit    Kind = "exit"    // the process ended in the middle of a call, or closed its standard output
	KindLine    Kind = "line"    // a line that is no answer: not JSON, a field missing, too long
	KindID      Kind = "id"      // an answer to another call
	// an output that is missing, damaged, too large, of another dtype or shape, or not asked for
	KindOutput Kind = "output"
	KindFailed Kind = "failed" // the worker itself said that the call failed
	KindEnd    Kind = "end"    // did not end when its standard input did, or ended with a failure
)

// Error says what a worker did in place of answering. It is an error of the worker, not a wrong result.
type Error struct {
	Kind    Kind
	Case    string // empty outside of a call
	Problem string // what happened, with the value, and what to do
	Stderr  string // the last of what the worker wrote to standard error, at most 2 KiB
	Err     error  // cause; may be nil
}

// Error is one sentence, followed by the worker's own last words where there are any.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("worker")
	if e.Case != "" {
		fmt.Fprintf(&b, ", case %q", e.Case)
	}
	fmt.Fprintf(&b, ": %s", e.Problem)
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	if e.Stderr != "" {
		fmt.Fprintf(&b, "; its standard error ends with:\n%s", e.Stderr)
	}
	return b.String()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

func problem(kind Kind, err error, format string, args ...any) *Error {
	return &Error{Kind: kind, Problem: fmt.Sprintf(format, args...), Err: err}
}
