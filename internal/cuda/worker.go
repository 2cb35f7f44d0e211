package cuda

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/assay-suite/assay/internal/candidate"
	"github.com/assay-suite/assay/internal/cuda/manifest"
	"github.com/assay-suite/assay/kernels_test/protocol"
)

// Kernel is a manifest with the text or image of its source.
type Kernel struct {
	Manifest manifest.Manifest
	Source   []byte
}

// Worker answers calls with the kernels of manifests, on one device. It answers one call at a time.
type Worker struct {
	thread  *thread
	device  Device
	about   About
	stream  Handle
	kernels []Kernel
	built   map[int]module // by index of kernels
	flush   *flush
	ceiling *protocol.Ceilings
	lost    error // of the context, sticky
}

type module struct {
	handle Handle
	err    error
}

// New opens the device and says what the kernels need. open is called on the worker's thread.
func New(open func() (Device, error), kernels []Kernel) (*Worker, error) {
	if len(kernels) == 0 {
		return nil, errors.New("there is no manifest, so there is no kernel to serve; name at least one *.manifest")
	}
	w := &Worker{thread: newThread(), kernels: kernels, built: map[int]module{}}
	err := w.thread.do(func() (err error) {
		if w.device, err = open(); err != nil {
			return err
		}
		w.about = w.device.About()
		w.stream, err = w.device.Stream()
		return err
	})
	if err != nil {
		w.thread.end()
		return nil, err
	}
	return w, nil
}

// Close ends the worker's thread. The driver frees what a process leaves.
func (w *Worker) Close() { w.thread.end() }

// Run answers one call; it is what candidate.Serve asks for. Errors wrap candidate.ErrUnsupported where no manifest
// computes the call.
func (w *Worker) Run(_ context.Context, c candidate.Call) (reply candidate.Reply, err error) {
	if w.lost != nil {
		return reply, fmt.Errorf("the device context was lost in an earlier call; start a new process: %w", w.lost)
	}
	if len(c.BatchWith) > 0 {
		return reply, fmt.Errorf("several cases in one launch are not in this worker: %w", candidate.ErrUnsupported)
	}
	err = w.thread.do(func() error {
		var err error
		reply, err = w.answer(c)
		return err
	})
	if Sticky(err) {
		w.lost = err
	}
	return reply, err
}

// choose finds the first manifest that computes a call.
func (w *Worker) choose(c candidate.Call) (int, *manifest.Bound, error) {
	var why []string
	for i, k := range w.kernels {
		if k.Manifest.Operator != c.Op {
			continue
		}
		ins, outs := map[string]manifest.Tensor{}, map[string]manifest.Tensor{}
		for name, o := range operands(c, k.Manifest.Strided) {
			ins[name] = o.tensor
		}
		for name, o := range c.Outputs {
			outs[name] = manifest.Tensor{DType: o.DType, Shape: o.Shape, Strides: contiguous(o.Shape)}
		}
		bound, err := k.Manifest.Bind(ins, outs, c.Attrs)
		if err == nil {
			return i, bound, nil
		}
		why = append(why, fmt.Sprintf("%s: %v", k.Manifest.Path, err))
	}
	if why == nil {
		return 0, nil, fmt.Errorf("no manifest is of operator %q: %w", c.Op, candidate.ErrUnsupported)
	}
	return 0, nil, fmt.Errorf("%s: %w", strings.Join(why, "; "), candidate.ErrUnsupported)
}

// module builds the source of a manifest once; a source that does not build fails every call with the same log.
func (w *Worker) module(i int) (Handle, error) {
	if m, ok := w.built[i]; ok {
		return m.handle, m.err
	}
	k := w.kernels[i]
	s := Source{Path: k.Manifest.Source, Text: k.Source, Options: k.Manifest.Options}
	for _, l := range k.Manifest.Launch {
		s.Entries = append(s.Entries, l.Entry)
	}
	handle, _, err := w.device.Build(s)
	if err != nil {
		err = fmt.Errorf("building %s for compute capability %d.%d: %w", s.Path, w.about.Major, w.about.Minor, err)
	}
	w.built[i] = module{handle, err}
	return handle, err
}

// answer runs on the worker's thread.
func (w *Worker) answer(c candidate.Call) (reply candidate.Reply, err error) {
	i, bound, err := w.choose(c)
	if err != nil {
		return reply, err
	}
	began, m := time.Now(), w.kernels[i].Manifest
	handle, err := w.module(i)
	if err != nil {
		return reply, err
	}
	find := func(entry string) (Handle, error) { return w.device.Function(handle, entry) }
	first := c // what the buffers hold and the launches are computed of: where a graph is captured, its companion
	if c.CaptureWith != nil {
		if first = *c.CaptureWith; !sameShapes(first, c) {
			return reply, fmt.Errorf("the graph is captured with other shapes: %w", candidate.ErrUnsupported)
		}
		first.Mode = c.Mode
	}
	p, err := prepare(w.device, w.stream, first, m, bound, find)
	defer func() {
		if freed := p.free(); err == nil && freed != nil {
			err = fmt.Errorf("freeing the buffers of the call: %w", freed)
		}
	}()
	if err != nil {
		return reply, err
	}
	run := p.enqueue
	if c.Mode == candidate.Graph {
		graph, err := w.captured(p)
		if err != nil {
			return reply, err
		}
		defer func() { _ = w.device.DropGraph(graph) }() // what it would report, the free of the buffers reports
		if err := p.change(operands(c, m.Strided)); err != nil {
			return reply, err
		}
		run = func() error { return w.device.Replay(graph, w.stream) }
	}
	firstRun := 0.0
	for n := range max(c.Repeat, 1) {
		if err := w.once(p, run, &reply); err != nil {
			return reply, err
		}
		if n == 0 {
			firstRun = time.Since(began).Seconds()
		}
	}
	if c.Time > 0 {
		if reply.Times, err = w.measure(p, firstRun, c.Time); err != nil {
			return reply, err
		}
	}
	reply.Path = fmt.Sprintf("%s %s sm_%d%d", m.Path, m.Launch[0].Entry, w.about.Major, w.about.Minor)
	return reply, nil
}

// once runs the call from fresh memory and reads its results.
func (w *Worker) once(p *prepared, run func() error, reply *candidate.Reply) error {
	if err := p.refill(); err != nil {
		return err
	}
	began := time.Now()
	if err := run(); err != nil {
		return err
	}
	if err := p.sync(); err != nil {
		return err
	}
	seconds := time.Since(began).Seconds()
	outputs, digest, err := p.results()
	if err != nil {
		return err
	}
	if reply.Outputs = outputs; len(reply.Digests) == 0 || seconds < reply.Seconds {
		reply.Seconds = seconds
	}
	reply.Digests = append(reply.Digests, digest)
	return nil
}

// captured launches once, so that what is loaded lazily is loaded, and captures.
func (w *Worker) captured(p *prepared) (Handle, error) {
	if err := p.enqueue(); err != nil {
		return 0, err
	}
	if err := p.sync(); err != nil {
		return 0, err
	}
	return p.graph()
}

func sameShapes(a, b candidate.Call) bool {
	if len(a.Storage) != len(b.Storage) || len(a.Views) != len(b.Views) || len(a.Outputs) != len(b.Outputs) {
		return false
	}
	for name, s := range a.Storage {
		if len(s.Data) != len(b.Storage[name].Data) {
			return false
		}
	}
	for name, v := range a.Views {
		if fmt.Sprint(v) != fmt.Sprint(b.Views[name]) {
			return false
		}
	}
	for name, o := range a.Outputs {
		if fmt.Sprint(o) != fmt.Sprint(b.Outputs[name]) {
			return false
		}
	}
	return true
}
