package cuda

import (
	"errors"
	"fmt"
	"slices"

	"github.com/assay-suite/assay/kernels_test/protocol"
)

const (
	flushBytes = 256 << 20 // several times the L2 cache of any device (H200: 50 MiB, B200: 126 MiB)
	warmUps    = 3
	leastTimed = 20
	copyBytes  = 512 << 20
)

// flush is memory that is overwritten before every sample: it empties the L2 cache, and keeps the device busy while the
// host queues what is timed, so that no gap of the host is in it.
type flush struct {
	at       Ptr
	from, to Handle // events
}

// measure times the launches of a call that has run: a graph of them where they can be captured, at least 20 samples by
// the device's events, after warm-up. first is the seconds of the first run with compilation.
func (w *Worker) measure(p *prepared, first float64, repeats int) (_ *protocol.Times, err error) {
	if err := p.refill(); err != nil {
		return nil, err
	}
	run, how := p.enqueue, "events"
	graph, err := p.graph()
	switch {
	case err == nil:
		defer func() { err = errors.Join(err, w.device.DropGraph(graph)) }()
		run, how = func() error { return w.device.Replay(graph, w.stream) }, "graph"
	case !uncapturable(err):
		return nil, fmt.Errorf("capturing the launches to time them: %w", err)
	}
	out := &protocol.Times{First: first, How: how, Launches: len(p.launch)}
	for i := range warmUps + max(repeats, leastTimed) {
		us, err := w.sample(run)
		if err != nil {
			return nil, fmt.Errorf("timing: %w", err)
		}
		if i >= warmUps {
			out.Samples = append(out.Samples, us)
		}
	}
	if _, _, err := p.results(); err != nil {
		return nil, fmt.Errorf("after the timed runs: %w", err)
	}
	if w.ceiling == nil {
		c, err := w.ceilings()
		if err != nil {
			return nil, fmt.Errorf("measuring the copy bandwidth: %w", err)
		}
		w.ceiling = &c
	}
	out.Ceilings = *w.ceiling
	return out, nil
}

// sample is the time of one run in microseconds.
func (w *Worker) sample(run func() error) (float64, error) {
	d := w.device
	if w.flush == nil {
		f, err := newFlush(d)
		if err != nil {
			return 0, err
		}
		w.flush = f
	}
	from, to := w.flush.from, w.flush.to
	for _, step := range []func() error{
		func() error { return d.Fill(w.flush.at, 0, flushBytes, w.stream) },
		func() error { return d.Record(from, w.stream) },
		run,
		func() error { return d.Record(to, w.stream) },
		func() error { return d.Sync(w.stream) },
	} {
		if err := step(); err != nil {
			return 0, err
		}
	}
	return d.Elapsed(from, to)
}

func newFlush(d Device) (*flush, error) {
	at, err := d.Alloc(flushBytes)
	if err != nil {
		return nil, fmt.Errorf("%d bytes to overwrite the L2 cache with: %w", flushBytes, err)
	}
	from, err := d.Event()
	if err != nil {
		return nil, err
	}
	to, err := d.Event()
	return &flush{at, from, to}, err
}

// ceilings measures what a copy from device memory to device memory reaches: bytes read and written, median of ten.
// There is no matrix product in this worker, so the peaks of products are 0, not measured.
func (w *Worker) ceilings() (out protocol.Ceilings, err error) {
	d := w.device
	a, err := d.Alloc(copyBytes)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, d.Free(a)) }()
	b, err := d.Alloc(copyBytes)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, d.Free(b)) }()
	var samples []float64
	for range warmUps + 10 {
		us, err := w.sample(func() error { return d.Copy(b, a, copyBytes, w.stream) })
		if err != nil {
			return out, err
		}
		samples = append(samples, us)
	}
	samples = samples[warmUps:]
	slices.Sort(samples)
	out.CopyGBs = 2 * copyBytes / samples[len(samples)/2] / 1e3
	return out, nil
}
