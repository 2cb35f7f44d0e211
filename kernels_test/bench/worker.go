package bench

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/assay-suite/assay/internal/candidate"
)

// Worker is a candidate in a process of its own, which speaks the worker protocol (adapters/README.md). It is started
// again where a call killed it.
type Worker struct{ w *candidate.Worker }

// StartWorker starts a worker and asks it what it offers. The words of the command line are separated by white space
// and kept together by quotes, leading NAME=value words are its environment, and there is no shell. It runs until Close
// or until ctx ends.
func StartWorker(ctx context.Context, commandLine string) (*Worker, error) {
	w, err := candidate.Start(ctx, commandLine, candidate.Options{})
	if err != nil {
		return nil, err
	}
	return &Worker{w}, nil
}

// Close ends the process and removes what it exchanged with us.
func (c *Worker) Close() error { return c.w.Close() }

// Stderr is the end of what the worker wrote to standard error so far.
func (c *Worker) Stderr() string { return c.w.Stderr() }

// Hello is what the worker said when it was started.
func (c *Worker) Hello(context.Context) (Hello, error) { return c.w.Hello(), nil }

// Run sends the call over the worker protocol.
func (c *Worker) Run(ctx context.Context, call Call) (Reply, error) {
	wire, err := toWire(call)
	if err != nil {
		return Reply{}, err
	}
	said, err := c.w.Run(ctx, wire)
	switch {
	case errors.Is(err, candidate.ErrUnsupported):
		return Reply{}, fmt.Errorf("%w: %w", ErrUnsupported, err)
	case err != nil:
		return Reply{}, err
	}
	reply := Reply{
		Outputs: map[string]Storage{}, Seconds: said.Seconds, Path: said.Path, Digests: said.Digests, Times: said.Times,
	}
	for name, s := range said.Outputs {
		data, err := decode(s.DType, s.Data)
		if err != nil {
			return Reply{}, fmt.Errorf("output %q: %w", name, err)
		}
		reply.Outputs[name] = Storage{s.DType, data}
	}
	for _, outputs := range said.Batch {
		one := map[string]Storage{}
		for name, s := range outputs {
			data, err := decode(s.DType, s.Data)
			if err != nil {
				return Reply{}, fmt.Errorf("output %q of a companion: %w", name, err)
			}
			one[name] = Storage{s.DType, data}
		}
		reply.Batch = append(reply.Batch, one)
	}
	return reply, nil
}

// toWire is the call as bytes. The phase travels as an attribute, where a worker finds it with the others.
func toWire(call Call) (candidate.Call, error) {
	wire := candidate.Call{
		Op: call.Op, Case: call.Case, Mode: call.Mode, Repeat: call.Repeat, Time: call.Time, Attrs: map[string]any{},
		Storage: map[string]candidate.Storage{}, Views: map[string]candidate.View{}, Outputs: map[string]candidate.Output{},
	}
	maps.Copy(wire.Attrs, call.Attrs)
	if call.Phase != "" {
		wire.Attrs["phase"] = call.Phase
	}
	for name, s := range call.Storage {
		data, err := encode(s.DType, s.Data)
		if err != nil {
			return wire, fmt.Errorf("call of %q: storage %q: %w", call.Op, name, err)
		}
		wire.Storage[name] = candidate.Storage{DType: s.DType, Shape: []int{len(s.Data)}, Data: data}
	}
	for name, v := range call.Views {
		wire.Views[name] = candidate.View(v)
	}
	for name, o := range call.Outputs {
		wire.Outputs[name] = candidate.Output(o)
	}
	if call.CaptureWith != nil {
		first, err := toWire(*call.CaptureWith)
		if err != nil {
			return wire, err
		}
		wire.CaptureWith = &first
	}
	for _, other := range call.BatchWith {
		one, err := toWire(other)
		if err != nil {
			return wire, err
		}
		wire.BatchWith = append(wire.BatchWith, one)
	}
	return wire, nil
}

// fromWire is a request as a call: the worker's side.
func fromWire(w candidate.Call) (Call, error) {
	c := Call{
		Op: w.Op, Case: w.Case, Mode: w.Mode, Repeat: w.Repeat, Time: w.Time, Attrs: Attrs{},
		Storage: map[string]Storage{}, Views: map[string]View{}, Outputs: map[string]Output{},
	}
	for name, v := range w.Attrs {
		if n, ok := v.(int); ok {
			v = float64(n)
		}
		c.Attrs[name] = v
	}
	if phase, ok := c.Attrs["phase"].(string); ok {
		c.Phase = phase
	}
	for name, s := range w.Storage {
		data, err := decode(s.DType, s.Data)
		if err != nil {
			return c, fmt.Errorf("storage %q: %w", name, err)
		}
		c.Storage[name] = Storage{s.DType, data}
	}
	for name, v := range w.Views {
		c.Views[name] = View(v)
	}
	for name, o := range w.Outputs {
		c.Outputs[name] = Output(o)
	}
	for _, other := range w.BatchWith {
		one, err := fromWire(other)
		if err != nil {
			return c, err
		}
		c.BatchWith = append(c.BatchWith, one)
	}
	return c, nil
}
