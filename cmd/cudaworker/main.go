// Command cudaworker is a worker of the protocol in adapters/README.md that launches CUDA kernels without Python: .cu
// text, .ptx or .cubin, each with a manifest. docs/cudaworker.md describes both.
//
//	cudaworker [-device 0] [-nvrtc libnvrtc.so] MANIFEST...     serve on a GPU
//	cudaworker -emulate g++ MANIFEST...                         serve on the CPU
//	cudaworker -compile 90,100 MANIFEST...                      compile only; needs no GPU
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/assay-suite/assay/internal/candidate"
	"github.com/assay-suite/assay/internal/cuda"
	"github.com/assay-suite/assay/internal/cuda/emulate"
	"github.com/assay-suite/assay/internal/cuda/manifest"
	"github.com/assay-suite/assay/internal/cuda/native"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is main: 0, 2 for a wrong command line or manifest, 4 where there is no device, 5 for what broke.
func run(args []string, in io.Reader, out, errs io.Writer) int {
	flags := flag.NewFlagSet("cudaworker", flag.ContinueOnError)
	flags.SetOutput(errs)
	flags.Usage = func() {
		_, _ = fmt.Fprintln(errs, "usage: cudaworker [flags] MANIFEST...   (docs/cudaworker.md)")
		flags.PrintDefaults()
	}
	device := flags.Int("device", 0, "number of the CUDA device")
	nvrtc := flags.String("nvrtc", "", "path of libnvrtc.so; empty: its usual places")
	cpu := flags.String("emulate", "", "run .cu sources on the CPU, compiled by this C++ compiler")
	capabilities := flags.String("compile", "", "compile for these compute capabilities, as in 90,100, and end")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	kernels, err := load(flags.Args())
	if err != nil {
		return ends(errs, 2, err)
	}
	if *capabilities != "" {
		if err := compileAll(out, *nvrtc, strings.Split(*capabilities, ","), kernels); err != nil {
			return ends(errs, 5, err)
		}
		return 0
	}
	open := func() (cuda.Device, error) { return native.OpenDevice(*device, *nvrtc) }
	if *cpu != "" {
		d, err := emulate.Open(*cpu)
		if err != nil {
			return ends(errs, 5, err)
		}
		defer func() { _ = d.Close() }() // a temporary folder
		open = func() (cuda.Device, error) { return d, nil }
	}
	return serve(open, kernels, in, out, errs)
}

func ends(errs io.Writer, code int, err error) int {
	_, _ = fmt.Fprintln(errs, "cudaworker:", err)
	return code
}

// load reads manifests and the sources beside them.
func load(paths []string) ([]cuda.Kernel, error) {
	var out []cuda.Kernel
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("the manifest cannot be read: %w", err)
		}
		m, err := manifest.Parse(filepath.Base(path), string(text))
		if err != nil {
			return nil, err
		}
		source, err := os.ReadFile(filepath.Join(filepath.Dir(path), m.Source))
		if err != nil {
			return nil, fmt.Errorf("%s: the source cannot be read: %w", m.Path, err)
		}
		out = append(out, cuda.Kernel{Manifest: m, Source: source})
	}
	return out, nil
}

// compileAll compiles every .cu source for every capability and says what each took.
func compileAll(out io.Writer, nvrtc string, capabilities []string, kernels []cuda.Kernel) error {
	c, err := native.OpenCompiler(nvrtc)
	if err != nil {
		return err
	}
	var failed []error
	for _, k := range kernels {
		m := k.Manifest
		if filepath.Ext(m.Source) != ".cu" {
			_, _ = fmt.Fprintf(out, "not compiled  %s: %s is an image\n", m.Path, m.Source)
			continue
		}
		for _, capability := range capabilities {
			image, log, err := c.Compile(m.Source, k.Source, capability, m.Options)
			if err == nil {
				err = lacks(image, m)
			}
			if err != nil {
				failed = append(failed, fmt.Errorf("%s for sm_%s: %w", m.Path, capability, err))
				continue
			}
			_, _ = fmt.Fprintf(out, "ok  %s sm_%s: %d bytes by %s %s\n", m.Path, capability, len(image), c.Version(), log)
		}
	}
	return errors.Join(failed...)
}

// lacks says which entry of a manifest an image does not have: its symbols are text in an ELF file.
func lacks(image []byte, m manifest.Manifest) error {
	for _, l := range m.Launch {
		if !strings.Contains(string(image), ".text."+l.Entry+"\x00") {
			return fmt.Errorf(`the image has no entry %q; declare it extern "C" __global__`, l.Entry)
		}
	}
	return nil
}

// serve answers calls until in ends.
func serve(open func() (cuda.Device, error), kernels []cuda.Kernel, in io.Reader, out, errs io.Writer) int {
	w, err := cuda.New(open, kernels)
	if err != nil {
		return ends(errs, 4, err)
	}
	defer w.Close()
	hello, err := w.Hello("cudaworker")
	if err != nil {
		return ends(errs, 2, err)
	}
	if err := candidate.Serve(context.Background(), in, out, hello, w.Run); err != nil {
		return ends(errs, 5, err)
	}
	return 0
}
