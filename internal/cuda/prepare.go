package cuda

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/assay-suite/assay/internal/candidate"
	"github.com/assay-suite/assay/internal/cuda/manifest"
	"github.com/assay-suite/assay/safetensors"
)

// prepared is a call in device memory: its buffers, what they hold before a launch, and the launches.
type prepared struct {
	d       Device
	stream  Handle
	buffers map[string]*buffer // by storage, output or scratch
	start   map[string][]byte  // what each holds before the first launch
	outputs map[string]candidate.Output
	launch  []Launch
}

// kernels gives the function of an entry.
type kernels func(entry string) (Handle, error)

// prepare lays a call out on the device. The caller frees it, also after an error.
func prepare(d Device, stream Handle, c candidate.Call, m manifest.Manifest, b *manifest.Bound, find kernels) (
	*prepared, error,
) {
	p := &prepared{
		d: d, stream: stream, buffers: map[string]*buffer{}, start: map[string][]byte{}, outputs: c.Outputs,
	}
	address := map[string]Ptr{}
	for name, o := range operands(c, m.Strided) {
		if err := p.place(o.storage, name, o.dtype, o.data); err != nil {
			return p, err
		}
		p.buffers[o.storage].sent = o.data
		address[name] = p.buffers[o.storage].data() + Ptr(o.offset)
	}
	for name, o := range c.Outputs {
		data, err := prefilled(name, o)
		if err == nil {
			err = p.place("output "+name, name, o.DType, data)
		}
		if err != nil {
			return p, err
		}
		address[name] = p.buffers["output "+name].data()
	}
	for _, o := range m.Scratch {
		shape, err := b.Sizes(o)
		if err != nil {
			return p, err
		}
		n := safetensors.DType(o.DType).Bits() / 8
		for _, size := range shape {
			if n *= size; n > 1<<36 {
				return p, fmt.Errorf("scratch %q of %v elements of %s is larger than 64 GiB", o.Name, shape, o.DType)
			}
		}
		if err := p.place("scratch "+o.Name, o.Name, o.DType, pattern(o.DType, n)); err != nil {
			return p, err
		}
		address[o.Name] = p.buffers["scratch "+o.Name].data()
	}
	var err error
	p.launch, err = launches(m, b, address, find)
	return p, err
}

func (p *prepared) place(key, name, dtype string, data []byte) error {
	if p.buffers[key] != nil {
		return nil
	}
	b, err := place(p.d, name, dtype, data)
	if b != nil {
		p.buffers[key], p.start[key] = b, data
	}
	return err
}

// launches computes what is launched. A grid without a block is left out.
func launches(m manifest.Manifest, b *manifest.Bound, address map[string]Ptr, find kernels) ([]Launch, error) {
	var out []Launch
	for _, l := range m.Launch {
		g, err := b.Geometry(l)
		if err != nil {
			return nil, err
		}
		f, err := find(l.Entry)
		if err != nil {
			return nil, err
		}
		one := Launch{Function: f, Entry: l.Entry, Grid: g.Grid, Block: g.Block, Shared: g.Shared}
		for _, a := range l.Args {
			if a.Operand != "" {
				one.Params = append(one.Params, Param{uint64(address[a.Operand]), 8}) // 0 where it is not given
				continue
			}
			bits, size, err := b.Number(a)
			if err != nil {
				return nil, fmt.Errorf("entry %s: %w", l.Entry, err)
			}
			one.Params = append(one.Params, Param{bits, size})
		}
		if !g.Empty() {
			out = append(out, one)
		}
	}
	return out, nil
}

// refill puts every buffer into the state before the first launch, guards too, with the operands of another call where
// from is not nil.
func (p *prepared) refill() error {
	for _, key := range slices.Sorted(maps.Keys(p.buffers)) {
		if err := p.buffers[key].fill(p.d, p.start[key]); err != nil {
			return err
		}
	}
	return nil
}

// change takes the operands of another call of the same shapes into the same memory.
func (p *prepared) change(ops map[string]operand) error {
	for name, o := range ops {
		b := p.buffers[o.storage]
		if b == nil || b.size != len(o.data) {
			return fmt.Errorf("%q is of another size in the case that the graph is captured with: %w", name,
				candidate.ErrUnsupported)
		}
		p.start[o.storage], b.sent = o.data, o.data
	}
	return nil
}

// enqueue launches everything without waiting.
func (p *prepared) enqueue() error {
	for _, l := range p.launch {
		if err := p.d.Launch(l, p.stream); err != nil {
			return fmt.Errorf("launching %s with grid %v and block %v: %w", l.Entry, l.Grid, l.Block, err)
		}
	}
	return nil
}

// graph captures the launches.
func (p *prepared) graph() (Handle, error) {
	if err := p.d.Capture(p.stream); err != nil {
		return 0, err
	}
	launched := p.enqueue()
	g, err := p.d.EndCapture(p.stream)
	if launched != nil {
		return 0, launched
	}
	return g, err
}

// sync waits for the device; what broke there is said to be of the launches.
func (p *prepared) sync() error {
	if err := p.d.Sync(p.stream); err != nil {
		var entries []string
		for _, l := range p.launch {
			entries = append(entries, l.Entry)
		}
		return fmt.Errorf("running %v: %w", entries, err)
	}
	return nil
}

// results reads every buffer back, compares guards and operands, and returns the outputs and a digest of their bits.
func (p *prepared) results() (map[string]candidate.Storage, string, error) {
	out, digest := map[string]candidate.Storage{}, sha256.New()
	for _, key := range slices.Sorted(maps.Keys(p.buffers)) {
		data, err := p.buffers[key].take(p.d)
		if err != nil {
			return nil, "", err
		}
		for name, o := range p.outputs {
			if key == "output "+name {
				out[name] = candidate.Storage{DType: o.DType, Shape: o.Shape, Data: data}
				_, _ = digest.Write(data) // a hash never fails
			}
		}
	}
	return out, hex.EncodeToString(digest.Sum(nil)), nil
}

func (p *prepared) free() error {
	var errs []error
	for _, b := range p.buffers {
		if b.base != 0 {
			errs = append(errs, b.free(p.d, p.stream))
		}
	}
	return errors.Join(errs...)
}
