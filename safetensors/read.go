package safetensors

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// lookup finds a tensor or says what to do.
func (f *File) lookup(name string) (Info, error) {
	i, ok := f.index[name]
	if !ok {
		return Info{}, fmt.Errorf("safetensors: %s: tensor %q is not among the %d tensors of the file; Names lists them: %w",
			f.name, clip(name), len(f.tensors), ErrNoTensor)
	}
	return f.tensors[i], nil
}

// read fills a new slice with n bytes from absolute offset at.
func (f *File) read(info Info, at, n int64) ([]byte, error) {
	if n > math.MaxInt {
		return nil, fmt.Errorf("safetensors: %s: tensor %q: %d bytes do not fit into this machine's memory; read it by "+
			"Rows or Section", f.name, clip(info.Name), n)
	}
	buf := make([]byte, n)
	if got, err := f.r.ReadAt(buf, at); got < len(buf) {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("safetensors: %s: tensor %q: byte %d cannot be read; the file was changed after it was "+
			"opened, or the disk failed: %w", f.name, clip(info.Name), at+int64(got), err)
	}
	return buf, nil
}

// Bytes reads the stored bytes of one tensor: little-endian, row-major, packed for F4 and F6.
func (f *File) Bytes(name string) ([]byte, error) {
	info, err := f.lookup(name)
	if err != nil {
		return nil, err
	}
	return f.read(info, info.Offset, info.Size)
}

// Rows reads rows from (included) to to (excluded) of the leading dimension, and no other byte.
// It fails for a scalar, for a range outside [0, Shape[0]], and for F4 or F6 rows that do not start
// and end on a byte.
func (f *File) Rows(name string, from, to int) ([]byte, error) {
	info, err := f.lookup(name)
	if err != nil {
		return nil, err
	}
	if len(info.Shape) == 0 {
		return nil, fmt.Errorf("safetensors: %s: tensor %q is a scalar and has no rows; use Bytes", f.name, name)
	}
	if from < 0 || to < from || to > info.Shape[0] {
		return nil, fmt.Errorf("safetensors: %s: tensor %q has rows 0 to %d; [%d, %d) is not a range of them", f.name, name,
			info.Shape[0], from, to)
	}
	// Cannot overflow: readHeader refused every shape whose non-zero dimensions exceed 63 bits.
	row, _ := sizeBits(info.DType, info.Shape[1:])
	first, last := int64(from)*row, int64(to)*row
	if first%8 != 0 || last%8 != 0 {
		return nil, fmt.Errorf("safetensors: %s: tensor %q: rows [%d, %d) of %d bits (%s) do not start and end on a byte; "+
			"widen the range to even rows or use Bytes", f.name, name, from, to, row, info.DType)
	}
	return f.read(info, info.Offset+first/8, (last-first)/8)
}

// Section gives the tensor's bytes as a reader, for tensors too large to hold.
func (f *File) Section(name string) (*io.SectionReader, error) {
	info, err := f.lookup(name)
	if err != nil {
		return nil, err
	}
	return io.NewSectionReader(f.r, info.Offset, info.Size), nil
}

// Float32s reads an F32 tensor. Other dtypes are an error: numerics/format decodes them.
func (f *File) Float32s(name string) ([]float32, error) {
	return decode(f, name, func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }, F32)
}

// Float64s reads an F64 tensor. Other dtypes are an error: numerics/format decodes them.
func (f *File) Float64s(name string) ([]float64, error) {
	return decode(f, name, func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }, F64)
}

// Int64s reads an I64, I32, I16 or I8 tensor, or a U32, U16 or U8 one, widened without loss.
// U64 is refused, because it may not fit.
func (f *File) Int64s(name string) ([]int64, error) {
	info, _ := f.Tensor(name)
	var widen func(b []byte) int64
	switch info.DType {
	case I8:
		widen = func(b []byte) int64 { return int64(int8(b[0])) }
	case U8:
		widen = func(b []byte) int64 { return int64(b[0]) }
	case I16:
		widen = func(b []byte) int64 { return int64(int16(binary.LittleEndian.Uint16(b))) }
	case U16:
		widen = func(b []byte) int64 { return int64(binary.LittleEndian.Uint16(b)) }
	case I32:
		widen = func(b []byte) int64 { return int64(int32(binary.LittleEndian.Uint32(b))) }
	case U32:
		widen = func(b []byte) int64 { return int64(binary.LittleEndian.Uint32(b)) }
	default: // any other dtype is refused below
		widen = func(b []byte) int64 { return int64(binary.LittleEndian.Uint64(b)) }
	}
	return decode(f, name, widen, I64, I32, I16, I8, U32, U16, U8)
}

// decode reads a tensor of one of the accepted dtypes element by element.
func decode[T any](f *File, name string, one func([]byte) T, accepted ...DType) ([]T, error) {
	info, err := f.lookup(name)
	if err != nil {
		return nil, err
	}
	fits := false
	for _, d := range accepted {
		fits = fits || d == info.DType
	}
	if !fits {
		return nil, fmt.Errorf("safetensors: %s: tensor %q is %s, and this reader takes %v only; decode Bytes with "+
			"numerics/format", f.name, name, info.DType, accepted)
	}
	raw, err := f.read(info, info.Offset, info.Size)
	if err != nil {
		return nil, err
	}
	width := info.DType.Bits() / 8
	out := make([]T, len(raw)/width)
	for i := range out {
		out[i] = one(raw[i*width:])
	}
	return out, nil
}
