package tape

import (
	"context"
	"errors"
	"fmt"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// ErrStale says that a case asks for something else than when the tape was taken: its inputs are drawn otherwise now.
var ErrStale = errors.New("the case's calls have changed since the tape was taken")

// Replayer is a candidate that answers a row's calls in their order from the tape.
type Replayer struct {
	tape Tape
	row  Row
	next int
}

// Replay makes a candidate of a row.
func (t Tape) Replay(r Row) *Replayer { return &Replayer{tape: t, row: r} }

// Hello is the recorded worker's.
func (r *Replayer) Hello(context.Context) (bench.Hello, error) {
	can := bench.Capability{Modes: []string{"eager", "graph"}, MadeFor: r.row.MadeFor}
	return bench.Hello{
		Name: r.tape.Worker, Version: r.tape.Release, Device: r.tape.Device,
		Ops: map[string]bench.Capability{r.row.Op: can},
	}, nil
}

// Run answers the next call. A call beyond the last, or with other inputs than were recorded, is ErrStale.
func (r *Replayer) Run(_ context.Context, call bench.Call) (bench.Reply, error) {
	if r.next >= len(r.row.Answers) {
		return bench.Reply{}, fmt.Errorf("call %d of %q: %w", r.next+1, r.row.Case, ErrStale)
	}
	a := r.row.Answers[r.next]
	r.next++
	inputs, err := Digest(call)
	if err != nil {
		return bench.Reply{}, err
	}
	if inputs != a.Inputs {
		return bench.Reply{}, fmt.Errorf("call %d of %q: %w", r.next, r.row.Case, ErrStale)
	}
	if a.Same != nil {
		if *a.Same < 0 || *a.Same >= r.next {
			return bench.Reply{}, fmt.Errorf("call %d of %q repeats answer %d, which is none", r.next, r.row.Case, *a.Same)
		}
		a = r.row.Answers[*a.Same]
	}
	reply := bench.Reply{Outputs: map[string]bench.Storage{}, Path: r.row.Path}
	for name, o := range a.Outputs {
		if reply.Outputs[name], err = bench.StorageOf(o.DType, o.Data); err != nil {
			return bench.Reply{}, fmt.Errorf("output %q of %q: %w", name, r.row.Case, err)
		}
	}
	return reply, nil
}
