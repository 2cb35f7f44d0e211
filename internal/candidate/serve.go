package candidate

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/assay-suite/assay/safetensors"
)

// Serve is the worker's side of the protocol: it greets, answers one line after the other with run, and returns at the
// end of in. With it a Go program is a worker. An error of run is answered as a failure, as unsupported where it wraps
// ErrUnsupported; an error of Serve itself says that in or out broke.
func Serve(ctx context.Context, in io.Reader, out io.Writer, hello Hello,
	run func(ctx context.Context, c Call) (Reply, error),
) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 64<<10), 4<<20)
	answer := json.NewEncoder(out)
	for lines.Scan() {
		var request callLine
		if err := json.Unmarshal(lines.Bytes(), &request); err != nil {
			return fmt.Errorf("a request is no line of the protocol: %w", err)
		}
		var said any
		switch request.Op {
		case "hello":
			said = helloLine{Protocol, hello}
		default:
			said = serveCall(ctx, request, run)
		}
		if err := answer.Encode(said); err != nil {
			return fmt.Errorf("the answer to %q cannot be written: %w", request.Op, err)
		}
	}
	return lines.Err()
}

// serveCall answers one call.
func serveCall(ctx context.Context, request callLine, run func(context.Context, Call) (Reply, error)) replyLine {
	ok := true
	answer := replyLine{ID: &request.ID, OK: &ok}
	reply, err := computeCall(ctx, request, run)
	if err == nil {
		err = writeOutputs(request.Write, reply.Outputs)
	}
	for i, name := range request.BatchWith {
		if err == nil && i >= len(reply.Batch) {
			err = fmt.Errorf("%d companions were asked for and %d computed", len(request.BatchWith), len(reply.Batch))
		}
		if err == nil {
			err = writeOutputs(request.Cases[name].Write, reply.Batch[i])
		}
	}
	if err != nil {
		ok = false
		if answer.Kind, answer.Message = "failed", err.Error(); errors.Is(err, ErrUnsupported) {
			answer.Kind = "unsupported"
		}
		return answer
	}
	answer.Seconds, answer.Path, answer.Digests, answer.Times = reply.Seconds, reply.Path, reply.Digests, reply.Times
	return answer
}

func computeCall(ctx context.Context, request callLine, run func(context.Context, Call) (Reply, error)) (Reply, error) {
	c, err := readPayload(request.payload)
	if err != nil {
		return Reply{}, err
	}
	c.Op, c.Case, c.Mode, c.Repeat, c.Time = request.Op, request.Case, request.Mode, request.Repeat, request.Time
	if name := request.CaptureWith; name != "" {
		first, err := readPayload(request.Cases[name])
		if err != nil {
			return Reply{}, err
		}
		first.Op, first.Case = request.Op, name
		c.CaptureWith = &first
	}
	for _, name := range request.BatchWith {
		other, err := readPayload(request.Cases[name])
		if err != nil {
			return Reply{}, err
		}
		other.Op, other.Case = request.Op, name
		c.BatchWith = append(c.BatchWith, other)
	}
	return run(ctx, c)
}

// readPayload reads what a call consists of.
func readPayload(p payload) (_ Call, err error) {
	c := Call{Attrs: p.Attrs, Views: p.Views, Outputs: p.Outputs, Storage: map[string]Storage{}}
	f, err := safetensors.Open(p.Inputs)
	if err != nil {
		return c, fmt.Errorf("the inputs cannot be read: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for _, name := range f.Names() {
		info, _ := f.Tensor(name)
		data, err := f.Bytes(name)
		if err != nil {
			return c, fmt.Errorf("input %q cannot be read: %w", name, err)
		}
		c.Storage[name] = Storage{DType: string(info.DType), Shape: slices.Clone(info.Shape), Data: slices.Clone(data)}
	}
	return c, nil
}

func writeOutputs(path string, outputs map[string]Storage) error {
	var tensors []safetensors.Tensor
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		s := outputs[name]
		tensors = append(tensors, safetensors.Tensor{
			Name:  name,
			DType: safetensors.DType(s.DType),
			Shape: s.Shape,
			Data:  s.Data,
		})
	}
	return safetensors.WriteFile(path, nil, tensors...)
}
