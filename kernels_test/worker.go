package kernels

import (
	"context"
	"errors"
	"fmt"

	"github.com/assay-suite/assay/internal/candidate"
)

// workerCandidate answers calls with a worker process.
type workerCandidate struct{ w *candidate.Worker }

// FromWorker makes a candidate of a worker process.
func FromWorker(w *candidate.Worker) Candidate { return workerCandidate{w} }

// Hello is what the worker said when it was started.
func (c workerCandidate) Hello(context.Context) (Hello, error) {
	said := c.w.Hello()
	h := Hello{Name: said.Name, Version: said.Version, Device: said.Device, Ops: map[string]Capability{}}
	for op, o := range said.Ops {
		h.Ops[op] = Capability(o)
	}
	return h, nil
}

// Run sends the call over the worker protocol.
func (c workerCandidate) Run(ctx context.Context, call Call) (Reply, error) {
	wire := candidate.Call{
		Op: call.Op, Case: call.Case, Attrs: map[string]any{},
		Storage: map[string]candidate.Storage{}, Views: map[string]candidate.View{}, Outputs: map[string]candidate.Output{},
	}
	for name, v := range call.Attrs {
		wire.Attrs[name] = v
	}
	for name, s := range call.Storage {
		wire.Storage[name] = candidate.FromFloat32s(s.F32)
	}
	for name, v := range call.Views {
		wire.Views[name] = candidate.View(v)
	}
	for name, o := range call.Outputs {
		wire.Outputs[name] = candidate.Output(o)
	}
	said, err := c.w.Run(ctx, wire)
	switch {
	case errors.Is(err, candidate.ErrUnsupported):
		return Reply{}, fmt.Errorf("%w: %w", ErrUnsupported, err)
	case err != nil:
		return Reply{}, err
	}
	reply := Reply{Outputs: map[string]Storage{}, Seconds: said.Seconds, Path: said.Path}
	for name, s := range said.Outputs {
		values, err := s.Float32s()
		if err != nil {
			return Reply{}, fmt.Errorf("output %q: %w", name, err)
		}
		reply.Outputs[name] = Storage{s.DType, values}
	}
	return reply, nil
}
