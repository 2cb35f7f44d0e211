package bench

import (
	"fmt"
	"math"
	"slices"

	"github.com/assay-suite/assay/oracle"
)

// Storage is a flat piece of memory that views look into: values of a dtype, each representable in it.
type Storage struct {
	DType string
	Data  []float64
}

func (s Storage) clone() Storage { return Storage{s.DType, slices.Clone(s.Data)} }

// View is a tensor inside a storage: element (i, j, ...) lies at Offset + i·Strides[0] + j·Strides[1] + ..., counted
// in elements.
type View struct {
	Storage        string
	Offset         int
	Shape, Strides []int
}

// Len is the number of elements.
func (v View) Len() int { return product(v.Shape) }

func product(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// Each calls f with the storage index of every element in row-major order.
func (v View) Each(f func(i, at int)) {
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

// Tensor is an operand as a kernel in this process gets it: dense, row-major.
type Tensor struct {
	Shape []int
	Data  []float64
}

// Dim is the size of dimension d, 1 beyond the last.
func (t Tensor) Dim(d int) int {
	if d < len(t.Shape) {
		return t.Shape[d]
	}
	return 1
}

// Mat is the tensor as a matrix: the first dimension is rows, the others are folded into columns. One dimension is one
// row.
func (t Tensor) Mat() oracle.Mat {
	rows, cols := 1, len(t.Data)
	if len(t.Shape) > 1 {
		rows, cols = t.Shape[0], product(t.Shape[1:])
	}
	return oracle.Mat{Rows: rows, Cols: cols, Data: t.Data}
}

// Row is step i of the first dimension.
func (t Tensor) Row(i int) []float64 {
	n := product(t.Shape[1:])
	return t.Data[i*n : (i+1)*n]
}

// Ints are the values as whole numbers.
func (t Tensor) Ints() []int {
	out := make([]int, len(t.Data))
	for i, v := range t.Data {
		out[i] = int(v)
	}
	return out
}

// Bytes are the values as bytes.
func (t Tensor) Bytes() []byte {
	out := make([]byte, len(t.Data))
	for i, v := range t.Data {
		out[i] = byte(int(v))
	}
	return out
}

// gather reads a view.
func gather(s Storage, v View) Tensor {
	t := Tensor{Shape: slices.Clone(v.Shape), Data: make([]float64, v.Len())}
	if v.Len() == 0 {
		return t
	}
	if slices.Equal(v.Strides, contiguous(v.Shape)) {
		copy(t.Data, s.Data[v.Offset:])
		return t
	}
	v.Each(func(i, at int) { t.Data[i] = s.Data[at] })
	return t
}

// differ tells where two pieces of memory first differ in bits, -1 if nowhere.
func differ(a, b []float64) int {
	if len(a) != len(b) {
		return min(len(a), len(b))
	}
	for i := range a {
		if math.Float64bits(a[i]) != math.Float64bits(b[i]) {
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
