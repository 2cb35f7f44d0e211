package cuda

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/assay-suite/assay/internal/candidate"
	"github.com/assay-suite/assay/internal/cuda/manifest"
	"github.com/assay-suite/assay/safetensors"
)

// operand is what a call holds of one operand, ready to upload: bytes of a storage or of a packed copy, and where in
// them its first element lies.
type operand struct {
	storage string // name of the buffer; operands that overlap share one
	dtype   string
	data    []byte
	offset  int // bytes
	tensor  manifest.Tensor
}

// operands lists the operands of a call: every view, and every storage that no view looks into. An operand whose
// strides the manifest never mentions is packed without gaps.
func operands(c candidate.Call, strided func(string) bool) map[string]operand {
	out, viewed := map[string]operand{}, map[string]bool{}
	for _, v := range c.Views {
		viewed[v.Storage] = true
	}
	for _, name := range slices.Sorted(maps.Keys(c.Views)) {
		v := c.Views[name]
		s := c.Storage[v.Storage]
		width := safetensors.DType(s.DType).Bits() / 8
		o := operand{
			storage: v.Storage, dtype: s.DType, data: s.Data, offset: v.Offset * width,
			tensor: manifest.Tensor{DType: s.DType, Shape: v.Shape, Strides: v.Strides},
		}
		if !strided(name) {
			o.storage, o.offset, o.data = name, 0, packed(s.Data, width, v)
			o.tensor.Strides = contiguous(v.Shape)
		}
		out[name] = o
	}
	for name, s := range c.Storage {
		if !viewed[name] {
			out[name] = operand{
				storage: name, dtype: s.DType, data: s.Data,
				tensor: manifest.Tensor{DType: s.DType, Shape: s.Shape, Strides: contiguous(s.Shape)},
			}
		}
	}
	return out
}

// packed copies the elements of a view in row-major order.
func packed(data []byte, width int, v candidate.View) []byte {
	n := 1
	for _, d := range v.Shape {
		n *= d
	}
	out := make([]byte, 0, n*width)
	index := make([]int, len(v.Shape))
	for range n {
		at := v.Offset
		for d, i := range index {
			at += i * v.Strides[d]
		}
		out = append(out, data[at*width:(at+1)*width]...)
		for d := len(index) - 1; d >= 0; d-- {
			if index[d]++; index[d] < v.Shape[d] {
				break
			}
			index[d] = 0
		}
	}
	return out
}

func contiguous(shape []int) []int {
	out, step := make([]int, len(shape)), 1
	for d := len(shape) - 1; d >= 0; d-- {
		out[d] = step
		step *= max(shape[d], 1)
	}
	return out
}

// prefilled is an output before the call.
func prefilled(name string, o candidate.Output) ([]byte, error) {
	bits, err := o.Bits()
	width := safetensors.DType(o.DType).Bits() / 8
	if err != nil || width == 0 {
		return nil, fmt.Errorf("output %q of dtype %q cannot be prefilled: %w", name, o.DType, err)
	}
	n := 1
	for _, d := range o.Shape {
		n *= d
	}
	var word [8]byte
	binary.LittleEndian.PutUint64(word[:], bits)
	out := make([]byte, 0, n*width)
	for range n {
		out = append(out, word[:width]...)
	}
	return out, nil
}
