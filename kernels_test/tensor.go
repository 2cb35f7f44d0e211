package kernels

import (
	"fmt"
	"math"
	"slices"

	"github.com/assay-suite/assay/oracle"
)

// Storage is a flat piece of memory that views look into. DType is the safetensors name; F32 is the only one so far, and
// its values are in F32.
type Storage struct {
	DType string
	F32   []float32
}

// View is a tensor inside a storage: element (i, j, ...) lies at Offset + i·Strides[0] + j·Strides[1] + ..., counted in
// elements.
type View struct {
	Storage        string
	Offset         int
	Shape, Strides []int
}

// Len is the number of elements.
func (v View) Len() int {
	n := 1
	for _, d := range v.Shape {
		n *= d
	}
	return n
}

// each calls f with the storage index of every element in row-major order.
func (v View) each(f func(i, at int)) {
	n := v.Len()
	index := make([]int, len(v.Shape))
	at := v.Offset
	for i := range n {
		f(i, at)
		for d := len(index) - 1; d >= 0; d-- {
			index[d]++
			at += v.Strides[d]
			if index[d] < v.Shape[d] {
				break
			}
			at -= index[d] * v.Strides[d]
			index[d] = 0
		}
	}
}

// check tells whether the view stays inside a storage of n elements.
func (v View) check(name string, n int) error {
	if len(v.Shape) != len(v.Strides) {
		return fmt.Errorf("view %q has shape %v and strides %v; give one stride for each dimension", name, v.Shape, v.Strides)
	}
	last := v.Offset
	for d, s := range v.Shape {
		if s < 0 || v.Strides[d] < 0 {
			return fmt.Errorf("view %q has shape %v and strides %v; neither may be negative", name, v.Shape, v.Strides)
		}
		last += max(s-1, 0) * v.Strides[d]
	}
	if v.Len() > 0 && (v.Offset < 0 || last >= n) {
		return fmt.Errorf("view %q reaches element %d of a storage of %d", name, last, n)
	}
	return nil
}

// mat gathers a view as a matrix: the first dimension is rows, the others are folded into columns. A view of one
// dimension is one row.
func mat(s Storage, v View) oracle.Mat {
	rows, cols := 1, v.Len()
	if len(v.Shape) > 1 {
		rows, cols = v.Shape[0], 1
		for _, d := range v.Shape[1:] {
			cols *= d
		}
	}
	m := oracle.NewMat(rows, cols)
	if v.Len() == 0 {
		return m
	}
	if len(v.Shape) > 1 && slices.Equal(v.Strides[1:], contiguous(v.Shape)[1:]) {
		for t := range rows { // dense rows, without index arithmetic
			first := v.Offset + t*v.Strides[0]
			for i, x := range s.F32[first : first+cols] {
				m.Data[t*cols+i] = float64(x)
			}
		}
		return m
	}
	v.each(func(i, at int) { m.Data[i] = float64(s.F32[at]) })
	return m
}

// wide converts to float64, keeping NaN payloads.
func wide(v []float32) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}

// narrow rounds to float32.
func narrow(v []float64) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return out
}

// sameBits32 tells where two pieces of memory first differ, -1 if nowhere.
func sameBits32(a, b []float32) int {
	if len(a) != len(b) {
		return min(len(a), len(b))
	}
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			return i
		}
	}
	return -1
}

// contiguous returns row-major strides.
func contiguous(shape []int) []int {
	strides := make([]int, len(shape))
	step := 1
	for d := len(shape) - 1; d >= 0; d-- {
		strides[d] = step
		step *= max(shape[d], 1)
	}
	return strides
}

// clone copies a storage.
func (s Storage) clone() Storage { return Storage{s.DType, slices.Clone(s.F32)} }
