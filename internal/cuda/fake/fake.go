// Package fake is a CUDA device without a GPU, for tests: kernels are Go functions that are registered under the names
// of entries, launches run when the stream is waited for, and every failure that the worker must handle can be ordered.
//
// What it shows is the worker's own behaviour. It says nothing about a kernel in CUDA C++.
package fake

import (
	"fmt"
	"maps"

	"github.com/assay-suite/assay/internal/cuda"
)

// Kernel computes a launch. Addresses among the parameters are read and written through m.
type Kernel func(m *Memory, l cuda.Launch)

// Faults are what goes wrong.
type Faults struct {
	NoLibrary, NoDevice bool
	CompileLog          string // of a .cu source, which does not compile
	BadImage            bool   // of a .ptx or .cubin
	Launch              int    // code that every launch answers with
	Sync                int    // code that the first wait after a launch answers with; sticky ones stay
	Memory              int    // bytes in all; 0 is no limit
	NoCapture           bool   // launches cannot be captured
}

// Device is the fake; it implements cuda.Device.
type Device struct {
	kernels map[string]Kernel
	faults  Faults
	memory  Memory
	used    int
	dead    *cuda.Error // sticky

	names   map[cuda.Handle]string // functions
	last    cuda.Handle
	queue   []cuda.Launch
	capture bool
	graphs  map[cuda.Handle][]cuda.Launch

	// Freed are the allocations that were given back, as they were then.
	Freed [][]byte
	// Replays and Launches count what ran.
	Replays, Launches int
}

var _ cuda.Device = (*Device)(nil)

// Open opens the fake device.
func Open(kernels map[string]Kernel, faults Faults) (*Device, error) {
	switch {
	case faults.NoLibrary:
		return nil, fmt.Errorf("the CUDA driver library libcuda.so.1 cannot be loaded: no such file")
	case faults.NoDevice:
		return nil, &cuda.Error{Call: "cuInit", Code: cuda.NoDevice, Name: "CUDA_ERROR_NO_DEVICE"}
	}
	return &Device{
		kernels: kernels, faults: faults, names: map[cuda.Handle]string{}, graphs: map[cuda.Handle][]cuda.Launch{},
		memory: Memory{blocks: map[cuda.Ptr][]byte{}, next: 1 << 20},
	}, nil
}

// About is a device of its own kind.
func (d *Device) About() cuda.About {
	return cuda.About{Name: "fake GPU", Major: 9, Minor: 0, Driver: "fake driver", Compiler: "fake compiler"}
}

func fails(call string, code int, name string) *cuda.Error {
	return &cuda.Error{Call: call, Code: code, Name: name}
}

// codes are the names of the codes that tests order.
var codes = map[int]string{
	1: "CUDA_ERROR_INVALID_VALUE", 700: "CUDA_ERROR_ILLEGAL_ADDRESS", 719: "CUDA_ERROR_LAUNCH_FAILED",
	701: "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
}

// Build accepts any source.
func (d *Device) Build(cuda.Source) (cuda.Handle, string, error) {
	if d.faults.CompileLog != "" {
		return 0, d.faults.CompileLog, &cuda.Error{
			Call: "nvrtcCompileProgram", Code: 6, Name: "NVRTC_ERROR_COMPILATION", Log: d.faults.CompileLog,
		}
	}
	if d.faults.BadImage {
		return 0, "", fails("cuModuleLoadDataEx", cuda.InvalidImage, "CUDA_ERROR_INVALID_IMAGE")
	}
	d.last++
	return d.last, "", d.alive()
}

func (d *Device) alive() error {
	if d.dead != nil {
		return d.dead
	}
	return nil
}

// Function finds a registered kernel.
func (d *Device) Function(_ cuda.Handle, entry string) (cuda.Handle, error) {
	if d.kernels[entry] == nil {
		return 0, &cuda.Error{
			Call: "cuModuleGetFunction", Code: cuda.FunctionMissing, Name: "CUDA_ERROR_NOT_FOUND", Text: entry,
		}
	}
	d.last++
	d.names[d.last] = entry
	return d.last, d.alive()
}

// large is the size from which memory only stands for itself: what is overwritten or copied to take times.
const large = 1 << 24

// Alloc gives memory of zeros.
func (d *Device) Alloc(n int) (cuda.Ptr, error) {
	if d.faults.Memory > 0 && d.used+n > d.faults.Memory {
		return 0, fails("cuMemAlloc", cuda.OutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY")
	}
	p := d.memory.next
	d.memory.next += cuda.Ptr(n+511) / 256 * 256
	d.memory.blocks[p] = make([]byte, min(n, large))
	d.used += n
	return p, d.alive()
}

// Free keeps a copy of what is freed.
func (d *Device) Free(p cuda.Ptr) error {
	if n := len(d.memory.blocks[p]); n < large {
		d.Freed = append(d.Freed, d.memory.blocks[p])
	}
	d.used -= len(d.memory.blocks[p])
	delete(d.memory.blocks, p)
	return d.alive()
}

// Upload copies data into device memory.
func (d *Device) Upload(to cuda.Ptr, data []byte) error {
	if copy(d.memory.bytes(to, len(data)), data) < len(data) {
		return fails("cuMemcpyHtoD", 1, codes[1])
	}
	return d.alive()
}

// Download copies device memory out.
func (d *Device) Download(data []byte, from cuda.Ptr) error {
	if copy(data, d.memory.bytes(from, len(data))) < len(data) {
		return fails("cuMemcpyDtoH", 1, codes[1])
	}
	return d.alive()
}

// Fill sets bytes, at once.
func (d *Device) Fill(to cuda.Ptr, value byte, n int, _ cuda.Handle) error {
	if n < large {
		b := d.memory.bytes(to, n)
		for i := range b {
			b[i] = value
		}
	}
	return d.alive()
}

// Copy does nothing: only times are taken of it.
func (d *Device) Copy(_, _ cuda.Ptr, _ int, _ cuda.Handle) error { return d.alive() }

// Stream makes a stream.
func (d *Device) Stream() (cuda.Handle, error) {
	d.last++
	return d.last, nil
}

// Launch queues.
func (d *Device) Launch(l cuda.Launch, _ cuda.Handle) error {
	if code := d.faults.Launch; code != 0 {
		return fails("cuLaunchKernel", code, codes[code])
	}
	if d.capture && d.faults.NoCapture {
		return fails("cuLaunchKernel", cuda.CaptureFailed, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED")
	}
	d.queue = append(d.queue, l)
	return d.alive()
}

// Sync runs what was queued.
func (d *Device) Sync(cuda.Handle) error {
	if d.dead != nil {
		return d.dead
	}
	for _, l := range d.queue {
		d.Launches++
		d.kernels[d.names[l.Function]](&d.memory, l)
		code := d.faults.Sync
		if d.memory.broken {
			code = cuda.IllegalAddress
		}
		if code != 0 {
			d.dead = fails("cuStreamSynchronize", code, codes[code])
			return d.dead
		}
	}
	d.queue = nil
	return nil
}

// Capture begins to record launches.
func (d *Device) Capture(cuda.Handle) error {
	d.capture, d.queue = true, nil
	return d.alive()
}

// EndCapture gives what was recorded.
func (d *Device) EndCapture(cuda.Handle) (cuda.Handle, error) {
	d.last++
	d.graphs[d.last] = d.queue
	d.capture, d.queue = false, nil
	return d.last, d.alive()
}

// Replay queues what was recorded.
func (d *Device) Replay(graph, _ cuda.Handle) error {
	d.Replays++
	d.queue = append(d.queue, d.graphs[graph]...)
	return d.alive()
}

// DropGraph forgets a graph.
func (d *Device) DropGraph(graph cuda.Handle) error {
	maps.DeleteFunc(d.graphs, func(g cuda.Handle, _ []cuda.Launch) bool { return g == graph })
	return d.alive()
}

// Event makes an event.
func (d *Device) Event() (cuda.Handle, error) {
	d.last++
	return d.last, nil
}

// Record does nothing.
func (d *Device) Record(_, _ cuda.Handle) error { return d.alive() }

// Elapsed is the number of launches so far, so that samples differ.
func (d *Device) Elapsed(_, _ cuda.Handle) (float64, error) { return float64(d.Launches), d.alive() }
