package native

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/assay-suite/assay/internal/cuda"
)

// Compiler is NVRTC. It needs neither a GPU nor a driver.
type Compiler struct{ lib *Library }

// OpenCompiler loads NVRTC: from path where it is not empty, else by its usual names, from CUDA_HOME and where the
// loader looks.
func OpenCompiler(path string) (*Compiler, error) {
	names := []string{path}
	if path == "" {
		names = []string{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}
		for _, home := range []string{os.Getenv("CUDA_HOME"), "/usr/local/cuda"} {
			if home != "" {
				names = append(names, filepath.Join(home, "lib64", "libnvrtc.so"))
			}
		}
	}
	lib, err := Open("NVRTC, which compiles .cu sources (pip install nvidia-cuda-nvrtc has it; name its libnvrtc.so by "+
		"-nvrtc)", names...)
	if err != nil {
		return nil, err
	}
	return &Compiler{lib}, nil
}

// Version is "NVRTC 12.9".
func (c *Compiler) Version() string {
	var p pins
	defer p.end()
	var major, minor int32
	if _, err := c.lib.Call("nvrtcVersion", address(&p, &major), address(&p, &minor)); err != nil {
		return "NVRTC"
	}
	return fmt.Sprintf("NVRTC %d.%d", major, minor)
}

func (c *Compiler) check(call string, args ...uintptr) error {
	code, err := c.lib.Call(call, args...)
	if err != nil || code == 0 {
		return err
	}
	e := &cuda.Error{Call: call, Code: code, Name: "NVRTC_ERROR"}
	if at, err := c.lib.Symbol("nvrtcGetErrorString"); err == nil {
		e.Name = goString(callAddress(at, uintptr(code)))
	}
	return e
}

// Compile compiles CUDA C++ into an image for one compute capability, "90" or "100a". log is what the compiler said, of
// a compilation that succeeded too. What does not compile is a *cuda.Error with the log.
func (c *Compiler) Compile(name string, source []byte, capability string, options []string) (image []byte, log string,
	err error,
) {
	var p pins
	defer p.end()
	var program uintptr
	if err := c.check("nvrtcCreateProgram", address(&p, &program), text(&p, string(source)), text(&p, name), 0, 0,
		0); err != nil {
		return nil, "", err
	}
	defer func() { _ = c.check("nvrtcDestroyProgram", address(&p, &program)) }() // nothing is lost by it
	var list []uintptr
	if !slices.ContainsFunc(options, func(o string) bool { return strings.HasPrefix(o, "--gpu-architecture") }) {
		options = append([]string{"--gpu-architecture=sm_" + capability}, options...)
	}
	for _, o := range append([]string{"--std=c++17"}, options...) {
		list = append(list, text(&p, o))
	}
	failed := c.check("nvrtcCompileProgram", program, uintptr(len(list)), data(&p, list))
	said, err := c.read(program, "nvrtcGetProgramLogSize", "nvrtcGetProgramLog")
	if err != nil {
		return nil, "", err
	}
	log = string(bytes.TrimRight(said, "\x00\n"))
	if e, ok := failed.(*cuda.Error); ok { //nolint:errorlint // check makes it
		e.Log = log
		return nil, log, e
	}
	if failed != nil {
		return nil, log, failed
	}
	image, err = c.read(program, "nvrtcGetCUBINSize", "nvrtcGetCUBIN")
	return image, log, err
}

func (c *Compiler) read(program uintptr, size, get string) ([]byte, error) {
	var p pins
	defer p.end()
	var n uint64
	if err := c.check(size, program, address(&p, &n)); err != nil {
		return nil, err
	}
	out := make([]byte, n)
	if n == 0 {
		return out, nil
	}
	return out, c.check(get, program, data(&p, out))
}
