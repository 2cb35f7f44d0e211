package gguf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/assay-suite/assay/numerics/format"
)

// Value types of the metadata and tensor types. Source: ggml docs/gguf.md, version 3.
const (
	typeUint32  = 4
	typeInt32   = 5
	typeFloat32 = 6
	typeBool    = 7
	typeString  = 8
	typeArray   = 9

	tensorF32  = 0
	tensorF16  = 1
	tensorBF16 = 30

	alignment = 32
)

// file is a GGUF file in the making: metadata in order, then tensors.
type file struct {
	keys    int
	meta    bytes.Buffer
	tensors []tensor
}

// tensor is row-major with the given shape, outermost first as in a checkpoint; GGUF names the dimensions the other way
// round.
type tensor struct {
	name  string
	shape []int
	kind  int
	data  []byte
}

func put(b *bytes.Buffer, v any) { _ = binary.Write(b, binary.LittleEndian, v) } // a bytes.Buffer does not fail

func putString(b *bytes.Buffer, s string) {
	put(b, uint64(len(s)))
	b.WriteString(s)
}

// set adds a metadata field: string, bool, uint32, float32, []string or []int32.
func (f *file) set(key string, value any) error {
	f.keys++
	b := &f.meta
	putString(b, key)
	array := func(kind uint32, n int) {
		put(b, uint32(typeArray))
		put(b, kind)
		put(b, uint64(n))
	}
	switch v := value.(type) {
	case string:
		put(b, uint32(typeString))
		putString(b, v)
	case bool:
		put(b, uint32(typeBool))
		put(b, v)
	case uint32:
		put(b, uint32(typeUint32))
		put(b, v)
	case float32:
		put(b, uint32(typeFloat32))
		put(b, v)
	case []string:
		array(typeString, len(v))
		for _, s := range v {
			putString(b, s)
		}
	case []int32:
		array(typeInt32, len(v))
		put(b, v)
	default:
		return fmt.Errorf("gguf: metadata %q has a value of type %T, which is not written", key, value)
	}
	return nil
}

// add adds a tensor in a storage type; it fails when a value does not fit it.
func (f *file) add(name string, shape []int, values []float64, kind int) error {
	n := 1
	for _, d := range shape {
		n *= d
	}
	if n != len(values) {
		return fmt.Errorf("gguf: %s has %d values for the shape %v", name, len(values), shape)
	}
	data, err := encode(values, kind)
	if err != nil {
		return fmt.Errorf("gguf: %s: %w", name, err)
	}
	f.tensors = append(f.tensors, tensor{name, shape, kind, data})
	return nil
}

func encode(values []float64, kind int) ([]byte, error) {
	if kind == tensorF32 {
		data := make([]byte, 0, 4*len(values))
		for _, v := range values {
			if math.Abs(v) > math.MaxFloat32 {
				return nil, fmt.Errorf("%v does not fit fp32", v)
			}
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(v)))
		}
		return data, nil
	}
	f := format.BF16
	if kind == tensorF16 {
		f = format.FP16
	}
	data := make([]byte, 0, 2*len(values))
	for _, v := range values {
		code := f.Encode(v, format.RN, format.Overflow)
		if math.IsInf(f.Decode(code), 0) {
			return nil, fmt.Errorf("%v does not fit %s", v, f.Name)
		}
		data = binary.LittleEndian.AppendUint16(data, uint16(code))
	}
	return data, nil
}

// bytes is the whole file.
func (f *file) bytes() []byte {
	var b bytes.Buffer
	b.WriteString("GGUF")
	put(&b, uint32(3))
	put(&b, uint64(len(f.tensors)))
	put(&b, uint64(f.keys))
	b.Write(f.meta.Bytes())
	at := uint64(0)
	for _, t := range f.tensors {
		putString(&b, t.name)
		put(&b, uint32(len(t.shape)))
		for i := range t.shape {
			put(&b, uint64(t.shape[len(t.shape)-1-i]))
		}
		put(&b, uint32(t.kind))
		put(&b, at)
		at += uint64((len(t.data) + alignment - 1) / alignment * alignment)
	}
	pad(&b)
	for _, t := range f.tensors {
		b.Write(t.data)
		pad(&b)
	}
	return b.Bytes()
}

func pad(b *bytes.Buffer) {
	for b.Len()%alignment != 0 {
		b.WriteByte(0)
	}
}
