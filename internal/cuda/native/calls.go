package native

import (
	"fmt"

	"github.com/assay-suite/assay/internal/cuda"
)

// Alloc allocates device memory.
func (d *Device) Alloc(bytes int) (cuda.Ptr, error) {
	h, err := d.made("cuMemAlloc_v2", uintptr(bytes))
	return cuda.Ptr(h), err
}

// Free frees device memory.
func (d *Device) Free(p cuda.Ptr) error { return d.call("cuMemFree_v2", uintptr(p)) }

// Upload copies to the device. The worker's stream is a blocking one, which waits for it.
func (d *Device) Upload(to cuda.Ptr, from []byte) error {
	if len(from) == 0 {
		return nil
	}
	var p pins
	defer p.end()
	return d.call("cuMemcpyHtoD_v2", uintptr(to), data(&p, from), uintptr(len(from)))
}

// Download copies from the device and waits.
func (d *Device) Download(to []byte, from cuda.Ptr) error {
	if len(to) == 0 {
		return nil
	}
	var p pins
	defer p.end()
	return d.call("cuMemcpyDtoH_v2", data(&p, to), uintptr(from), uintptr(len(to)))
}

// Fill sets bytes on a stream.
func (d *Device) Fill(to cuda.Ptr, value byte, bytes int, stream cuda.Handle) error {
	return d.call("cuMemsetD8Async", uintptr(to), uintptr(value), uintptr(bytes), uintptr(stream))
}

// Copy copies within the device on a stream.
func (d *Device) Copy(to, from cuda.Ptr, bytes int, stream cuda.Handle) error {
	return d.call("cuMemcpyDtoDAsync_v2", uintptr(to), uintptr(from), uintptr(bytes), uintptr(stream))
}

// made calls a function whose first argument takes the handle that it makes.
func (d *Device) made(call string, args ...uintptr) (cuda.Handle, error) {
	var p pins
	defer p.end()
	var h uintptr
	err := d.call(call, append([]uintptr{address(&p, &h)}, args...)...)
	return cuda.Handle(h), err
}

// Stream makes a blocking stream: copies to and from the host are ordered with it.
func (d *Device) Stream() (cuda.Handle, error) { return d.made("cuStreamCreate", 0) }

// Sync waits for a stream.
func (d *Device) Sync(stream cuda.Handle) error {
	return d.call("cuStreamSynchronize", uintptr(stream))
}

// Launch launches; more than 48 KiB of dynamic shared memory is asked for first.
func (d *Device) Launch(l cuda.Launch, stream cuda.Handle) error {
	if l.Shared > plainShared && l.Shared > d.largest[l.Function] {
		if err := d.call("cuFuncSetAttribute", uintptr(l.Function), functionShared, uintptr(l.Shared)); err != nil {
			return fmt.Errorf("%d bytes of shared memory for %s: %w", l.Shared, l.Entry, err)
		}
		d.largest[l.Function] = l.Shared
	}
	var p pins
	defer p.end()
	bits, at := make([]uint64, len(l.Params)), make([]uintptr, len(l.Params))
	for i, param := range l.Params {
		bits[i] = param.Bits // little-endian: the lowest bytes come first
		at[i] = address(&p, &bits[i])
	}
	args := make([]uintptr, 0, 11)
	args = append(args, uintptr(l.Function))
	for _, n := range [6]int{l.Grid[0], l.Grid[1], l.Grid[2], l.Block[0], l.Block[1], l.Block[2]} {
		args = append(args, uintptr(n))
	}
	return d.call("cuLaunchKernel", append(args, uintptr(l.Shared), uintptr(stream), data(&p, at), 0)...)
}

// captureLocal is CU_STREAM_CAPTURE_MODE_THREAD_LOCAL.
const captureLocal = 1

// Capture begins to record what is launched on a stream.
func (d *Device) Capture(stream cuda.Handle) error {
	return d.call("cuStreamBeginCapture_v2", uintptr(stream), captureLocal)
}

// EndCapture makes a graph that can be replayed.
func (d *Device) EndCapture(stream cuda.Handle) (cuda.Handle, error) {
	var p pins
	defer p.end()
	var graph uintptr
	if err := d.call("cuStreamEndCapture", uintptr(stream), address(&p, &graph)); err != nil {
		return 0, err
	}
	h, err := d.made("cuGraphInstantiateWithFlags", graph, 0)
	if err != nil {
		return 0, err
	}
	return h, d.call("cuGraphDestroy", graph)
}

// Replay launches a graph.
func (d *Device) Replay(graph, stream cuda.Handle) error {
	return d.call("cuGraphLaunch", uintptr(graph), uintptr(stream))
}

// DropGraph frees a graph.
func (d *Device) DropGraph(graph cuda.Handle) error {
	return d.call("cuGraphExecDestroy", uintptr(graph))
}

// Event makes an event that keeps time.
func (d *Device) Event() (cuda.Handle, error) { return d.made("cuEventCreate", 0) }

// Record notes the time on a stream.
func (d *Device) Record(event, stream cuda.Handle) error {
	return d.call("cuEventRecord", uintptr(event), uintptr(stream))
}

// Elapsed is the time between two events that have passed, in microseconds.
func (d *Device) Elapsed(from, to cuda.Handle) (float64, error) {
	var p pins
	defer p.end()
	var ms float32
	err := d.call("cuEventElapsedTime", address(&p, &ms), uintptr(from), uintptr(to))
	return float64(ms) * 1e3, err
}
