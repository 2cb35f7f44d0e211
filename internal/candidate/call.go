package candidate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// prepare writes the inputs of a call into a folder of its own and returns the request; remove removes the folder.
func (w *Worker) prepare(call Call) (_ callLine, _ []byte, remove func() error, err error) {
	w.next++
	dir := filepath.Join(w.dir, strconv.Itoa(w.next))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return callLine{}, nil, nil, fmt.Errorf("the folder of tensor files cannot be used: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	request, err := w.request(dir, call)
	if err != nil {
		return callLine{}, nil, nil, err
	}
	raw, err := json.Marshal(request)
	if err != nil {
		return callLine{}, nil, nil, fmt.Errorf("the call cannot be written as JSON, check its attributes: %w", err)
	}
	return request, raw, func() error { return os.RemoveAll(dir) }, nil
}

// exchange sends a request to the process and reads the answer and the outputs.
func (w *Worker) exchange(ctx context.Context, call Call, request callLine, raw []byte) (Reply, error) {
	limit := w.opts.Timeout
	if !w.answered {
		limit = w.opts.First
	}
	answer, err := w.ask(ctx, limit, raw, anyLine)
	if err != nil {
		return Reply{}, err
	}
	said, err := accept(answer, request)
	if err != nil {
		return Reply{}, err
	}
	reply := Reply{Seconds: said.Seconds, Path: said.Path, Digests: said.Digests, Times: said.Times}
	if reply.Outputs, err = readOutputs(request.Write, call.Outputs); err != nil {
		return Reply{}, err
	}
	for _, other := range call.BatchWith {
		outputs, err := readOutputs(request.Cases[other.Case].Write, other.Outputs)
		if err != nil {
			return Reply{}, fmt.Errorf("case %q in the same launch: %w", other.Case, err)
		}
		reply.Batch = append(reply.Batch, outputs)
	}
	return reply, nil
}

// request writes the inputs of a call and of its companions into dir and returns the line.
func (w *Worker) request(dir string, call Call) (callLine, error) {
	lay := func(c Call, name string, writes bool) (payload, error) {
		p := payload{
			Attrs: c.Attrs, Views: c.Views, Outputs: c.Outputs,
			Inputs: filepath.Join(dir, name+"in.safetensors"),
		}
		if writes {
			p.Write = filepath.Join(dir, name+"out.safetensors")
		}
		if err := writeInputs(p.Inputs, c.Storage); err != nil {
			return payload{}, fmt.Errorf("the inputs of case %q cannot be written: %w", c.Case, err)
		}
		return p, nil
	}
	own, err := lay(call, "", true)
	if err != nil {
		return callLine{}, err
	}
	line := callLine{
		ID: w.next, Op: call.Op, Case: call.Case, Mode: mode(call), Repeat: max(call.Repeat, 1), Time: call.Time,
		payload: own,
	}
	for i, other := range call.companions() {
		captured := call.CaptureWith != nil && i == 0
		p, err := lay(other, fmt.Sprintf("%d-", i), !captured)
		if err != nil {
			return callLine{}, err
		}
		if line.Cases == nil {
			line.Cases = map[string]payload{}
		}
		line.Cases[other.Case] = p
		if captured {
			line.CaptureWith = other.Case
		} else {
			line.BatchWith = append(line.BatchWith, other.Case)
		}
	}
	return line, nil
}

// accept reads an answer and tells whether it is one to this request.
func accept(answer []byte, request callLine) (replyLine, error) {
	var said replyLine
	if err := json.Unmarshal(answer, &said); err != nil {
		return said, problem(KindLine, err, "the answer is %q, which is no JSON object of the protocol; print nothing else "+
			"to standard output", start(answer))
	}
	switch {
	case said.ID == nil || said.OK == nil:
		return said, problem(KindLine, nil, "the answer %q lacks \"id\" or \"ok\"", start(answer))
	case *said.ID != request.ID:
		return said, problem(KindID, nil, "the answer has id %d, and the call had %d", *said.ID, request.ID)
	case !*said.OK && said.Kind == "unsupported":
		return said, fmt.Errorf("case %q: the worker says %q: %w", request.Case, said.Message, ErrUnsupported)
	case !*said.OK:
		return said, problem(KindFailed, nil, "it answers with kind %q: %s", said.Kind, said.Message)
	case said.Seconds < 0:
		return said, problem(KindLine, nil, "the answer took %v seconds; time cannot be negative", said.Seconds)
	case len(said.Digests) != request.Repeat && (request.Repeat > 1 || len(said.Digests) > 0):
		return said, problem(KindLine, nil, "the answer has %d digests for %d runs; give one for each", len(said.Digests),
			request.Repeat)
	}
	return said, nil
}
