package safetensors

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
)

// Tensor is one tensor to write: Data holds its elements as the format stores them, little-endian and row-major.
type Tensor struct {
	Name  string
	DType DType
	Shape []int // empty for a scalar
	Data  []byte
}

// Write writes a file of tensors to w. Wide dtypes go first, in the order given among equals, and the header is padded
// to a multiple of 8 bytes, so that every tensor starts at a multiple of its element; nil metadata leaves __metadata__
// out. The same arguments give the same bytes. Errors name the tensor that the format cannot hold; nothing is written
// then.
func Write(w io.Writer, metadata map[string]string, tensors ...Tensor) error {
	sorted := slices.Clone(tensors)
	slices.SortStableFunc(sorted, func(a, b Tensor) int { return b.DType.Bits() - a.DType.Bits() })
	header, err := headerOf(metadata, sorted)
	if err != nil {
		return err
	}
	for _, t := range sorted {
		if size, _ := t.size(); size != len(t.Data) {
			return fmt.Errorf("tensor %q of dtype %q and shape %v has %d bytes, and its data %d; make them agree", t.Name,
				t.DType, t.Shape, size, len(t.Data))
		}
	}
	buffered := bufio.NewWriter(w)
	if _, err := buffered.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(header)))); err != nil {
		return fmt.Errorf("writing the header length of a safetensors file: %w", err)
	}
	if _, err := buffered.Write(header); err != nil {
		return fmt.Errorf("writing the header of a safetensors file: %w", err)
	}
	for _, t := range sorted {
		if _, err := buffered.Write(t.Data); err != nil {
			return fmt.Errorf("writing tensor %q: %w", t.Name, err)
		}
	}
	if err := buffered.Flush(); err != nil {
		return fmt.Errorf("writing the end of a safetensors file: %w", err)
	}
	return nil
}

// WriteFile writes a file beside path and renames it, so that nobody ever sees half of it.
func WriteFile(path string, metadata map[string]string, tensors ...Tensor) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("a file beside %q cannot be made: %w", path, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if err := Write(f, metadata, tensors...); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("closing the file for %q: %w", path, err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("moving the written file to %q: %w", path, err)
	}
	return nil
}

// headerOf returns the header of tensors that follow each other in this order, padded with spaces.
func headerOf(metadata map[string]string, tensors []Tensor) ([]byte, error) {
	var out bytes.Buffer
	put := func(name string, value any) error {
		if out.Len() > 0 {
			out.WriteByte(',')
		} else {
			out.WriteByte('{')
		}
		for i, v := range []any{name, value} {
			raw, err := json.Marshal(v)
			if err != nil {
				return fmt.Errorf("tensor %q cannot be described in JSON: %w", name, err)
			}
			if i > 0 {
				out.WriteByte(':')
			}
			out.Write(raw)
		}
		return nil
	}
	if metadata != nil {
		if err := put("__metadata__", metadata); err != nil {
			return nil, err
		}
	}
	seen, at := map[string]bool{"__metadata__": true}, 0
	for _, t := range tensors {
		if seen[t.Name] {
			return nil, fmt.Errorf("tensor name %q is taken; give every tensor a name of its own, and none %q", t.Name,
				"__metadata__")
		}
		seen[t.Name] = true
		size, err := t.size()
		if err != nil {
			return nil, err
		}
		entry := struct {
			DType   DType  `json:"dtype"`
			Shape   []int  `json:"shape"`
			Offsets [2]int `json:"data_offsets"`
		}{t.DType, append([]int{}, t.Shape...), [2]int{at, at + size}}
		if err := put(t.Name, entry); err != nil {
			return nil, err
		}
		at += size
	}
	if out.Len() == 0 {
		out.WriteByte('{')
	}
	out.WriteByte('}')
	for out.Len()%8 != 0 {
		out.WriteByte(' ')
	}
	if out.Len() > maxHeader {
		return nil, fmt.Errorf("the header of %d tensors has %d bytes, more than the format's limit of %d; write several "+
			"files", len(tensors), out.Len(), maxHeader)
	}
	return out.Bytes(), nil
}

// size is the number of bytes that dtype and shape ask for.
func (t Tensor) size() (int, error) {
	width := t.DType.Bits()
	if width == 0 {
		return 0, fmt.Errorf("tensor %q has dtype %q; the format has %s", t.Name, t.DType, knownDTypes())
	}
	n := uint64(width)
	for _, d := range t.Shape {
		if d < 0 {
			return 0, fmt.Errorf("tensor %q has shape %v; no dimension may be negative", t.Name, t.Shape)
		}
		hi, lo := bits.Mul64(n, uint64(d))
		if hi != 0 || lo > 1<<62 {
			return 0, fmt.Errorf("tensor %q has shape %v, more elements than a file can hold; check the shape", t.Name, t.Shape)
		}
		n = lo
	}
	if n%8 != 0 {
		return 0, fmt.Errorf("tensor %q of dtype %q and shape %v has %d bits; write whole bytes", t.Name, t.DType, t.Shape, n)
	}
	return int(n / 8), nil
}
