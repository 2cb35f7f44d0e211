package emulate

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/assay-suite/assay/internal/cuda"
)

var errNoTimes = errors.New("an emulated kernel has no times; run the worker on a GPU for them")

// Stream is the one there is.
func (d *Device) Stream() (cuda.Handle, error) { return 1, nil }

// Launch runs, or records while a graph is captured. A failure is kept for Sync.
func (d *Device) Launch(l cuda.Launch, _ cuda.Handle) error {
	if d.capture {
		d.recorded = append(d.recorded, l)
		return nil
	}
	if d.failed != nil {
		return nil
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	bits, at := make([]uint64, len(l.Params)+1), make([]uintptr, len(l.Params)+1)
	pin.Pin(&bits[0])
	pin.Pin(&at[0])
	for i, p := range l.Params {
		bits[i] = p.Bits
		at[i] = uintptr(unsafe.Pointer(&bits[i]))
	}
	geometry := new([6]uint32)
	pin.Pin(geometry)
	for i := range 3 {
		geometry[i], geometry[3+i] = uint32(l.Grid[i]), uint32(l.Block[i])
	}
	e := d.entries[l.Function-1]
	said, err := e.lib.CallText("emulated_"+e.name, uintptr(unsafe.Pointer(geometry)), uintptr(l.Shared),
		uintptr(unsafe.Pointer(&at[0])))
	if err == nil && said != "" {
		err = fmt.Errorf("%s: %s", l.Entry, said)
	}
	d.failed = err
	return nil
}

// Sync reports what a launch broke.
func (d *Device) Sync(cuda.Handle) error {
	err := d.failed
	d.failed = nil
	return err
}

// Capture begins to record.
func (d *Device) Capture(cuda.Handle) error {
	d.capture, d.recorded = true, nil
	return nil
}

// EndCapture gives what was recorded.
func (d *Device) EndCapture(cuda.Handle) (cuda.Handle, error) {
	d.last++
	d.graphs[d.last], d.capture = d.recorded, false
	return d.last, nil
}

// Replay runs what was recorded.
func (d *Device) Replay(graph, stream cuda.Handle) error {
	for _, l := range d.graphs[graph] {
		if err := d.Launch(l, stream); err != nil {
			return err
		}
	}
	return nil
}

// DropGraph forgets it.
func (d *Device) DropGraph(graph cuda.Handle) error {
	delete(d.graphs, graph)
	return nil
}

// Event is refused with times.
func (d *Device) Event() (cuda.Handle, error) { return 0, errNoTimes }

// Record is refused with times.
func (d *Device) Record(_, _ cuda.Handle) error { return errNoTimes }

// Elapsed is refused with times.
func (d *Device) Elapsed(_, _ cuda.Handle) (float64, error) { return 0, errNoTimes }
