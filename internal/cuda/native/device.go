package native

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/assay-suite/assay/internal/cuda"
)

// Device is a GPU by the CUDA driver API.
type Device struct {
	lib      *Library
	compiler *Compiler // nil where NVRTC is not there
	missing  error     // why
	about    cuda.About
	largest  map[cuda.Handle]int // dynamic shared memory that a function was allowed so far
}

var _ cuda.Device = (*Device)(nil)

// Attributes of a device and of a function (cuda.h, CUdevice_attribute, CUfunction_attribute).
const (
	capabilityMajor = 75
	capabilityMinor = 76
	functionShared  = 8 // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
	plainShared     = 48 << 10
)

// OpenDevice opens the device of an ordinal and makes its primary context current on the calling thread. nvrtc is the
// path of NVRTC, empty for its usual places; without NVRTC .ptx and .cubin can still be loaded.
func OpenDevice(ordinal int, nvrtc string) (*Device, error) {
	lib, err := Open("the CUDA driver", "libcuda.so.1", "libcuda.so")
	if err != nil {
		return nil, err
	}
	d := &Device{lib: lib, largest: map[cuda.Handle]int{}}
	if err := d.call("cuInit", 0); err != nil {
		return nil, err
	}
	if err := d.open(ordinal); err != nil {
		return nil, err
	}
	if d.compiler, d.missing = OpenCompiler(nvrtc); d.missing == nil {
		d.about.Compiler = d.compiler.Version()
	}
	return d, nil
}

func (d *Device) open(ordinal int) error {
	var p pins
	defer p.end()
	var version, count, device, major, minor int32
	var context uintptr
	name := make([]byte, 256)
	if err := errors.Join(d.call("cuDriverGetVersion", address(&p, &version)),
		d.call("cuDeviceGetCount", address(&p, &count))); err != nil {
		return err
	}
	if ordinal < 0 || ordinal >= int(count) {
		return fmt.Errorf("there is no CUDA device %d; the driver lists %d, numbered from 0", ordinal, count)
	}
	for _, step := range []func() error{
		func() error { return d.call("cuDeviceGet", address(&p, &device), uintptr(ordinal)) },
		func() error { return d.call("cuDeviceGetName", data(&p, name), uintptr(len(name)), uintptr(device)) },
		func() error {
			return d.call("cuDeviceGetAttribute", address(&p, &major), capabilityMajor, uintptr(device))
		},
		func() error {
			return d.call("cuDeviceGetAttribute", address(&p, &minor), capabilityMinor, uintptr(device))
		},
		func() error { return d.call("cuDevicePrimaryCtxRetain", address(&p, &context), uintptr(device)) },
		func() error { return d.call("cuCtxSetCurrent", context) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	before, _, _ := bytes.Cut(name, []byte{0})
	d.about = cuda.About{
		Name: string(before), Major: int(major), Minor: int(minor),
		Driver: fmt.Sprintf("CUDA driver %d.%d", version/1000, version%1000/10),
	}
	return nil
}

// call calls the driver; a code other than 0 is a *cuda.Error with the driver's own name and sentence.
func (d *Device) call(name string, args ...uintptr) error {
	code, err := d.lib.Call(name, args...)
	if err != nil || code == 0 {
		return err
	}
	var p pins
	defer p.end()
	var word, sentence uintptr
	e := &cuda.Error{Call: name, Code: code, Name: "CUDA_ERROR"}
	if _, err := d.lib.Call("cuGetErrorName", uintptr(code), address(&p, &word)); err == nil && word != 0 {
		e.Name = goString(word)
	}
	if _, err := d.lib.Call("cuGetErrorString", uintptr(code), address(&p, &sentence)); err == nil && sentence != 0 {
		e.Text = goString(sentence)
	}
	return e
}

// About is what was found when the device was opened.
func (d *Device) About() cuda.About { return d.about }

// options of cuModuleLoadDataEx (cuda.h, CUjit_option).
const (
	jitErrorLog     = 5
	jitErrorLogSize = 6
)

// Build compiles .cu text for this device and loads it; .ptx and .cubin are loaded as they are.
func (d *Device) Build(s cuda.Source) (cuda.Handle, string, error) {
	image, log := s.Text, ""
	switch filepath.Ext(s.Path) {
	case ".cu":
		if d.compiler == nil {
			return 0, "", d.missing
		}
		var err error
		image, log, err = d.compiler.Compile(s.Path, s.Text, fmt.Sprintf("%d%d", d.about.Major, d.about.Minor), s.Options)
		if err != nil {
			return 0, log, err
		}
	case ".ptx":
		image = append(bytes.Clone(image), 0)
	case ".cubin":
	default:
		return 0, "", fmt.Errorf("the source %q is none of .cu, .ptx, .cubin", s.Path)
	}
	var p pins
	defer p.end()
	var module uintptr
	said := make([]byte, 16<<10)
	keys, values := []int32{jitErrorLog, jitErrorLogSize}, []uintptr{data(&p, said), uintptr(len(said))}
	err := d.call("cuModuleLoadDataEx", address(&p, &module), data(&p, image), 2, data(&p, keys), data(&p, values))
	if e, ok := errors.AsType[*cuda.Error](err); ok {
		before, _, _ := bytes.Cut(said, []byte{0})
		e.Log = string(before)
	}
	return cuda.Handle(module), log, err
}

// Function finds an entry.
func (d *Device) Function(module cuda.Handle, entry string) (cuda.Handle, error) {
	var p pins
	defer p.end()
	var f uintptr
	if err := d.call("cuModuleGetFunction", address(&p, &f), uintptr(module), text(&p, entry)); err != nil {
		return 0, fmt.Errorf(`entry %q (declared extern "C"?): %w`, entry, err)
	}
	return cuda.Handle(f), nil
}
