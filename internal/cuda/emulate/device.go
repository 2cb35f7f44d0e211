// Package emulate runs .cu sources on the CPU: a C++ compiler compiles them with a header that makes fibers of threads,
// so that a kernel's indices, its barriers and its arithmetic in fp32 are judged where there is no GPU.
//
// Claimed: grid, block, shared memory, __syncthreads, warp shuffles and ballots, and atomics mean what they mean on a
// device; threads that wait at different barriers are an error; threads of a block run in another order from launch to
// launch, and dynamic shared memory holds NaN before a block. Not claimed: times, memory order between blocks,
// contraction into fused multiply-adds and approximations (both are exact here), tensor cores, inline PTX.
package emulate

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"unsafe"

	"github.com/assay-suite/assay/internal/cuda"
	"github.com/assay-suite/assay/internal/cuda/native"
)

// Device is the CPU as a device.
type Device struct {
	compiler string
	dir      string
	memory   map[cuda.Ptr][]byte
	pins     map[cuda.Ptr]*runtime.Pinner
	modules  []*native.Library
	entries  []entry
	graphs   map[cuda.Handle][]cuda.Launch
	capture  bool
	recorded []cuda.Launch
	failed   error // of a launch, reported where a device reports it: at the next wait
	last     cuda.Handle
}

type entry struct {
	lib  *native.Library
	name string
}

var _ cuda.Device = (*Device)(nil)

// Open names the C++ compiler, such as "g++".
func Open(compiler string) (*Device, error) {
	dir, err := os.MkdirTemp("", "assay-emulate-*")
	if err != nil {
		return nil, fmt.Errorf("no folder for compiled kernels: %w", err)
	}
	return &Device{
		compiler: compiler, dir: dir, memory: map[cuda.Ptr][]byte{}, pins: map[cuda.Ptr]*runtime.Pinner{},
		graphs: map[cuda.Handle][]cuda.Launch{},
	}, nil
}

// Close removes the compiled kernels.
func (d *Device) Close() error { return os.RemoveAll(d.dir) }

// About says that this is no GPU.
func (d *Device) About() cuda.About {
	return cuda.About{Name: "CPU, emulating CUDA", Driver: "emulation", Compiler: d.compiler + ", emulation"}
}

// Build compiles a .cu source.
func (d *Device) Build(s cuda.Source) (cuda.Handle, string, error) {
	if filepath.Ext(s.Path) != ".cu" {
		return 0, "", fmt.Errorf("%s is no .cu source: only those are emulated", s.Path)
	}
	sub, err := os.MkdirTemp(d.dir, "*")
	if err != nil {
		return 0, "", err
	}
	path, err := compile(d.compiler, sub, s)
	if err != nil {
		return 0, "", err
	}
	lib, err := native.Open("the emulated "+s.Path, path)
	if err != nil {
		return 0, "", err
	}
	d.modules = append(d.modules, lib)
	return cuda.Handle(len(d.modules)), "", nil
}

// Function finds an entry.
func (d *Device) Function(module cuda.Handle, name string) (cuda.Handle, error) {
	lib := d.modules[module-1]
	if _, err := lib.Symbol("emulated_" + name); err != nil {
		return 0, err
	}
	d.entries = append(d.entries, entry{lib, name})
	return cuda.Handle(len(d.entries)), nil
}

// Alloc allocates host memory at a multiple of 256 bytes.
func (d *Device) Alloc(n int) (cuda.Ptr, error) {
	const align = 256
	block := make([]byte, n+align)
	pin := &runtime.Pinner{}
	pin.Pin(&block[0])
	at := uintptr(unsafe.Pointer(&block[0]))
	skip := int(-at & (align - 1))
	p := cuda.Ptr(at) + cuda.Ptr(skip)
	d.memory[p], d.pins[p] = block[skip:skip+n], pin
	return p, nil
}

// Free gives it to the collector.
func (d *Device) Free(p cuda.Ptr) error {
	if pin := d.pins[p]; pin != nil {
		pin.Unpin()
	}
	delete(d.memory, p)
	delete(d.pins, p)
	return nil
}

func (d *Device) block(p cuda.Ptr, n int) ([]byte, error) {
	if b, ok := d.memory[p]; ok && len(b) >= n {
		return b[:n], nil
	}
	return nil, fmt.Errorf("no allocation of %d bytes begins at %#x", n, uint64(p))
}

// Upload copies.
func (d *Device) Upload(to cuda.Ptr, data []byte) error {
	b, err := d.block(to, len(data))
	copy(b, data)
	return err
}

// Download copies.
func (d *Device) Download(data []byte, from cuda.Ptr) error {
	b, err := d.block(from, len(data))
	copy(data, b)
	return err
}

// Fill sets bytes.
func (d *Device) Fill(to cuda.Ptr, value byte, n int, _ cuda.Handle) error {
	b, err := d.block(to, n)
	for i := range b {
		b[i] = value
	}
	return err
}

// Copy is refused with times.
func (d *Device) Copy(_, _ cuda.Ptr, _ int, _ cuda.Handle) error { return errNoTimes }
