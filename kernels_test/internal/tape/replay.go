package tape

import (
	"context"
	"errors"
	"fmt"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// ErrStale says that a case asks for something else than when the tape was taken: its inputs are drawn otherwise now.
var ErrStale = errors.New("the case's calls have changed since the tape was taken")

// Replayer is a candidate that answers a row's calls from the tape.
type Replayer struct {
	tape  Tape
	row   Row
	asked map[string]int // how often, by the digest of a call
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

// Run answers a call by what was recorded of the same inputs: one answer after the other where they were asked for
// several times, and the first again after the last, since how often the judge asks again is not the tape's to say. A
// call with inputs that were not recorded is ErrStale.
func (r *Replayer) Run(_ context.Context, call bench.Call) (bench.Reply, error) {
	inputs, err := Digest(call)
	if err != nil {
		return bench.Reply{}, err
	}
	var same []int
	for i, a := range r.row.Answers {
		if a.Inputs == inputs {
			same = append(same, i)
		}
	}
	if len(same) == 0 {
		return bench.Reply{}, fmt.Errorf("%q: %w", r.row.Case, ErrStale)
	}
	if r.asked == nil {
		r.asked = map[string]int{}
	}
	at := same[r.asked[inputs]%len(same)]
	r.asked[inputs]++
	a := r.row.Answers[at]
	if a.Same != nil {
		if *a.Same < 0 || *a.Same >= at {
			return bench.Reply{}, fmt.Errorf("answer %d of %q repeats answer %d, which is none", at, r.row.Case, *a.Same)
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
