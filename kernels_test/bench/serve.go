package bench

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/assay-suite/assay/internal/candidate"
)

// Serve makes a worker process of a candidate: it answers the protocol on in and out until in ends.
func Serve(ctx context.Context, in io.Reader, out io.Writer, c Candidate) error {
	said, err := c.Hello(ctx)
	if err != nil {
		return err
	}
	return candidate.Serve(ctx, in, out, said, func(ctx context.Context, w candidate.Call) (candidate.Reply, error) {
		call, err := fromWire(w)
		if err != nil {
			return candidate.Reply{}, err
		}
		r, err := c.Run(ctx, call)
		if err != nil {
			if errors.Is(err, ErrUnsupported) {
				err = fmt.Errorf("%w: %w", candidate.ErrUnsupported, err)
			}
			return candidate.Reply{}, err
		}
		reply := candidate.Reply{Seconds: r.Seconds, Path: r.Path, Digests: r.Digests, Times: r.Times}
		if reply.Outputs, err = storages(call, r.Outputs); err != nil {
			return reply, err
		}
		for i, outputs := range r.Batch {
			one, err := storages(call.BatchWith[i], outputs)
			if err != nil {
				return reply, err
			}
			reply.Batch = append(reply.Batch, one)
		}
		return reply, nil
	})
}

// storages are the outputs of a call as bytes.
func storages(call Call, outputs map[string]Storage) (map[string]candidate.Storage, error) {
	out := map[string]candidate.Storage{}
	for name, s := range outputs {
		data, err := encode(s.DType, s.Data)
		if err != nil {
			return nil, fmt.Errorf("output %q: %w", name, err)
		}
		shape := call.Outputs[name].Shape
		if product(shape) != len(s.Data) {
			shape = []int{len(s.Data)} // a faulty kernel's own shape: the reader says what is wrong
		}
		out[name] = candidate.Storage{DType: s.DType, Shape: shape, Data: data}
	}
	return out, nil
}
