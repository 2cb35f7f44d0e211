package candidate

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-suite/assay/safetensors"
)

// NaN returns the pattern that "nan" prefills outputs of a dtype with: a quiet NaN, where the format has room for it
// with a payload that no arithmetic produces. Not ok for dtypes without NaN.
func NaN(dtype string) (bits uint64, ok bool) {
	switch safetensors.DType(dtype) {
	case safetensors.F64:
		return 0x7ffc5a55a5a55a5a, true
	case safetensors.F32:
		return 0x7fc5a55a, true
	case safetensors.BF16:
		return 0x7fc5, true
	case safetensors.F16:
		return 0x7e5a, true
	case safetensors.F8E4M3, safetensors.F8E5M2:
		return 0x7f, true
	}
	return 0, false
}

// Bits returns what every element of the output holds before the call.
func (o Output) Bits() (uint64, error) {
	if o.Prefill == "nan" {
		bits, ok := NaN(o.DType)
		if !ok {
			return 0, fmt.Errorf("dtype %q has no NaN to prefill with; write 0x and the bits of an element", o.DType)
		}
		return bits, nil
	}
	digits, ok := strings.CutPrefix(o.Prefill, "0x")
	bits, err := strconv.ParseUint(digits, 16, 64)
	if !ok || err != nil {
		return 0, fmt.Errorf("prefill %q is neither \"nan\" nor 0x and the bits of an element", o.Prefill)
	}
	if width := safetensors.DType(o.DType).Bits(); width < 64 && bits>>width != 0 {
		return 0, fmt.Errorf("prefill %q does not fit into the %d bits of dtype %q", o.Prefill, width, o.DType)
	}
	return bits, nil
}

// Check returns an error for a call that no worker could answer: storages whose data do not fit their shape, views that
// leave their storage, outputs of sizes or prefills that do not exist.
func (c Call) Check() error {
	if c.Mode != "" && c.Mode != Eager && c.Mode != Graph {
		return c.wrong("mode %q is neither %q nor %q", c.Mode, Eager, Graph)
	}
	if c.CaptureWith != nil && c.Mode != Graph {
		return c.wrong("a case is given to capture with, and the mode is %q; use %q", c.Mode, Graph)
	}
	if c.Repeat < 0 {
		return c.wrong("repeat is %d; it may not be negative", c.Repeat)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Storage)) {
		s := c.Storage[name]
		if size, err := byteSize(s.DType, s.Shape); err != nil || size != len(s.Data) {
			return c.wrong("storage %q of dtype %q and shape %v has %d bytes of data and should have %d (%v)", name, s.DType,
				s.Shape, len(s.Data), size, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Views)) {
		v := c.Views[name]
		s, ok := c.Storage[v.Storage]
		if !ok {
			return c.wrong("view %q looks into storage %q, which the call does not have", name, v.Storage)
		}
		if err := v.check(elements(s.Shape)); err != nil {
			return c.wrong("view %q %v", name, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Outputs)) {
		o := c.Outputs[name]
		if _, err := byteSize(o.DType, o.Shape); err != nil {
			return c.wrong("output %q: %v", name, err)
		}
		if _, err := o.Bits(); err != nil {
			return c.wrong("output %q: %v", name, err)
		}
	}
	seen := map[string]bool{c.Case: true}
	for _, other := range c.companions() {
		if seen[other.Case] || other.Case == "" {
			return c.wrong("companion %q has the ID of another case or none; give each its own", other.Case)
		}
		seen[other.Case] = true
		if len(other.companions()) > 0 {
			return c.wrong("companion %q has companions itself", other.Case)
		}
		if other.Op != c.Op {
			return c.wrong("companion %q is a call of %q", other.Case, other.Op)
		}
		if err := other.Check(); err != nil {
			return err
		}
	}
	return nil
}

func (c Call) wrong(format string, args ...any) error {
	return fmt.Errorf("call of %q, case %q: %s", c.Op, c.Case, fmt.Sprintf(format, args...))
}

// companions are the other cases that a call needs.
func (c Call) companions() []Call {
	if c.CaptureWith == nil {
		return c.BatchWith
	}
	return append([]Call{*c.CaptureWith}, c.BatchWith...)
}

// check tells whether the view stays inside a storage of n elements.
func (v View) check(n int) error {
	if len(v.Shape) != len(v.Strides) {
		return fmt.Errorf("has shape %v and strides %v; give one stride for each dimension", v.Shape, v.Strides)
	}
	empty, size, last := slices.Contains(v.Shape, 0), 1, v.Offset
	for d, s := range v.Shape {
		switch {
		case s < 0 || v.Strides[d] < 0:
			return fmt.Errorf("has shape %v and strides %v; neither may be negative", v.Shape, v.Strides)
		case empty || s == 1:
			continue
		case size > maxElements/s:
			return fmt.Errorf("has shape %v, more than %d elements", v.Shape, maxElements)
		case v.Strides[d] > n/(s-1):
			return fmt.Errorf("has shape %v and strides %v and leaves its storage of %d elements", v.Shape, v.Strides, n)
		}
		size *= s
		last += (s - 1) * v.Strides[d]
	}
	if v.Offset < 0 || !empty && last >= n {
		return fmt.Errorf("reaches from element %d to %d of a storage of %d", v.Offset, last, n)
	}
	return nil
}

func elements(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// maxElements keeps sizes far from overflow; no operand of one call comes near.
const maxElements = 1 << 40

func byteSize(dtype string, shape []int) (int, error) {
	width := safetensors.DType(dtype).Bits()
	if width == 0 {
		return 0, fmt.Errorf("there is no dtype %q", dtype)
	}
	n := 1
	for _, d := range shape {
		if d < 0 || d > 0 && n > maxElements/d {
			return 0, fmt.Errorf("shape %v is negative or has more than %d elements", shape, maxElements)
		}
		n *= d
	}
	if n*width%8 != 0 {
		return 0, fmt.Errorf("%d elements of %q are not whole bytes", n, dtype)
	}
	return n * width / 8, nil
}

// FromFloat32s makes a flat F32 storage, NaN payloads kept.
func FromFloat32s(values []float32) Storage {
	s := Storage{DType: "F32", Shape: []int{len(values)}, Data: make([]byte, 0, 4*len(values))}
	for _, v := range values {
		s.Data = binary.LittleEndian.AppendUint32(s.Data, math.Float32bits(v))
	}
	return s
}

// Float32s returns the values of an F32 storage, NaN payloads kept.
func (s Storage) Float32s() ([]float32, error) {
	if s.DType != "F32" || len(s.Data)%4 != 0 {
		return nil, fmt.Errorf("a storage of dtype %q with %d bytes is not F32", s.DType, len(s.Data))
	}
	out := make([]float32, len(s.Data)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(s.Data[4*i:]))
	}
	return out, nil
}
