package quant

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/safetensors"
)

var (
	halfTypes = []safetensors.DType{safetensors.F16, safetensors.BF16, safetensors.F32}
	wordTypes = []safetensors.DType{safetensors.I32}
)

// ints is signed bytes, or fields packed along a row behind weight_packed (compressed-tensors).
func (f *finder) ints() bool {
	bits := f.params.Bits
	if bits <= 0 || bits > 8 {
		bits = 8
	}
	packed := f.Info.DType == safetensors.I32
	if !packed {
		if !f.codes(safetensors.I8) || !f.shape(1) {
			return false
		}
		f.elem = codec{kind: bytes8}
	} else {
		if !f.shape(1) || !f.unpackedShape(bits) {
			return false
		}
		f.elem = codec{kind: along, bits: bits, shift: -math.Exp2(float64(bits - 1))}
	}
	scale, ok := f.need(Scale, ".weight_scale")
	if !ok {
		return false
	}
	groups := 1
	if f.params.Group > 0 {
		groups = (f.Cols + f.params.Group - 1) / f.params.Group
	} else if f.params.Strategy == "" && len(scale.Shape) == 2 && scale.Shape[1] > 1 {
		groups = scale.Shape[1]
	}
	size := f.params.Group
	if size <= 0 {
		size = (f.Cols + groups - 1) / groups
	}
	shapes := [][]int{f.lead(f.Rows, groups)}
	f.scale = f.over(scale.Name, 1, size)
	if groups == 1 {
		shapes = append(shapes, f.lead(f.Rows))
		if f.params.Strategy == "tensor" || f.params.Strategy == "" {
			shapes = append(shapes, []int{1}, []int{})
		}
		if scale.Elements() == 1 {
			f.scale = f.over(scale.Name, f.Rows, f.Cols)
		}
	}
	f.scale.f, _ = floatOf(scale.DType)
	f.Detail = fmt.Sprintf("int%d, scale %s per %d", bits, scale.DType, size)
	if !f.fits(Scale, scale, halfTypes, shapes...) {
		return false
	}
	return f.intZeros(bits, packed, groups) && f.columnOrder(groups)
}

// unpackedShape takes rows and columns from weight_shape and holds them against the words that there are.
func (f *finder) unpackedShape(bits int) bool {
	shape, ok := f.need(Shape, ".weight_shape")
	if !ok {
		return false
	}
	raw, err := read(f.s, shape.Name, 0, shape.Size)
	var dims []int
	switch {
	case err == nil && shape.DType == safetensors.I64:
		for ; len(raw) >= 8; raw = raw[8:] {
			dims = append(dims, int(int64(binary.LittleEndian.Uint64(raw))))
		}
	case err == nil && shape.DType == safetensors.I32:
		for ; len(raw) >= 4; raw = raw[4:] {
			dims = append(dims, int(int32(binary.LittleEndian.Uint32(raw))))
		}
	}
	words := f.Info.Shape[len(f.Info.Shape)-1]
	if n := len(dims); n < 2 || dims[n-2] != f.Rows || dims[n-1] <= 0 || dims[n-1] > 1<<40 ||
		(dims[n-1]*bits+31)/32 != words {
		f.fault(Lies, Shape, shape.Name, "%s says %v, but %s has %v words of %d-bit codes; write the shape of the weight "+
			"before it was packed", shape.Name, dims, f.Name(), f.Info.Shape, bits)
		f.Cols = words * 32 / bits
		return true
	}
	f.Cols = dims[len(dims)-1]
	return true
}

func (f *finder) intZeros(bits int, packed bool, groups int) bool {
	name := f.parts[Zero]
	if name == "" {
		if !f.params.Symmetric && f.params.Layout == Int && f.params.Strategy != "" {
			_, ok := f.need(Zero, ".weight_zero_point")
			return ok
		}
		return true
	}
	zero, _ := f.s.Tensor(name)
	g := f.scale
	g.name, g.f, g.bits = name, format.Format{}, bits
	if !packed || zero.DType == safetensors.I8 {
		g.pack = signedByte
		shapes := [][]int{f.lead(f.Rows, groups), f.lead(f.Rows), {1}, {}}
		if !f.fits(Zero, zero, []safetensors.DType{safetensors.I8}, shapes...) {
			return false
		}
	} else {
		g.pack, g.shift = alongRows, -math.Exp2(float64(bits-1))
		if !f.fits(Zero, zero, wordTypes, f.lead((f.Rows*bits+31)/32, groups)) {
			return false
		}
	}
	f.zero = g
	return true
}

// columnOrder reads weight_g_idx: the group of every input.
func (f *finder) columnOrder(groups int) bool {
	if f.parts[Order] == "" {
		return true
	}
	order, ok := f.groupIndex(f.Cols, groups)
	f.order = order
	return ok
}

// groupIndex reads the group of each of n inputs; nil where all are in order, so that no look-up is needed.
func (f *finder) groupIndex(n, groups int) ([]int, bool) {
	info, _ := f.s.Tensor(f.parts[Order])
	if !f.fits(Order, info, wordTypes, []int{n}) {
		return nil, false
	}
	raw, err := read(f.s, info.Name, 0, info.Size)
	if err != nil {
		f.fault(Missing, Order, info.Name, "%v", err)
		return nil, false
	}
	order := make([]int, n)
	for i := range order {
		order[i] = int(int32(binary.LittleEndian.Uint32(raw[4*i:])))
		if order[i] < 0 || order[i] >= groups {
			if order[i] == -1 && slices.Max(order[:i+1]) == -1 && i == 0 {
				return nil, true // compressed-tensors fills an unused index with -1
			}
			f.fault(Lies, Order, info.Name, "%s puts input %d into group %d of %d; convert the tensor again", info.Name, i,
				order[i], groups)
			return nil, false
		}
	}
	return order, true
}

// gptq: qweight [in*bits/32, out], scales [groups, out], qzeros [groups, out*bits/32], g_idx [in].
// Source: ModelCloud/GPTQModel and AutoGPTQ nn_modules/qlinear pack().
func (f *finder) gptq() bool {
	bits := f.params.Bits
	if bits == 0 {
		bits = 4
	}
	s := f.Info.Shape
	if len(s) != 2 {
		return false
	}
	f.Rows, f.Cols, f.InputMajor = s[0]*32/bits, s[1], true
	if f.parts[Order] != "" { // 3-bit codes may fill up the last words
		if info, ok := f.s.Tensor(f.parts[Order]); ok && len(info.Shape) == 1 && (info.Shape[0]*bits+31)/32 == s[0] {
			f.Rows = info.Shape[0]
		}
	}
	f.elem = codec{kind: down, bits: bits}
	scale, ok := f.need(Scale, ".scales")
	if !ok {
		return false
	}
	size := f.params.Group
	if size <= 0 {
		size = f.Rows
		if f.params.Group == 0 && len(scale.Shape) == 2 && scale.Shape[0] > 0 {
			size = (f.Rows + scale.Shape[0] - 1) / scale.Shape[0]
		}
	}
	f.scale = f.over(scale.Name, size, 1)
	f.scale.f, _ = floatOf(scale.DType)
	f.Detail = fmt.Sprintf("%d bits, scale %s per %d inputs", bits, scale.DType, size)
	if !f.fits(Scale, scale, halfTypes, []int{f.scale.rows, f.Cols}) || !f.packedZeros(bits, alongRow) {
		return false
	}
	f.zero.shift = float64(f.params.ZeroLess)
	if f.parts[Order] == "" {
		return true
	}
	order, ok := f.groupIndex(f.Rows, f.scale.rows)
	f.order = order
	return ok
}

// awq: qweight [in, out/8], scales [groups, out], qzeros [groups, out/8]. Source: casper-hansen/AutoAWQ
// awq/modules/linear/gemm.py from_linear.
func (f *finder) awq() bool {
	s := f.Info.Shape
	if len(s) != 2 {
		return false
	}
	f.Rows, f.Cols, f.InputMajor = s[0], 8*s[1], true
	f.elem = codec{kind: awqRow, bits: 4}
	scale, ok := f.need(Scale, ".scales")
	if !ok {
		return false
	}
	size := f.params.Group
	if size <= 0 {
		size = f.Rows
		if f.params.Group == 0 && len(scale.Shape) == 2 && scale.Shape[0] > 0 {
			size = (f.Rows + scale.Shape[0] - 1) / scale.Shape[0]
		}
	}
	f.scale = f.over(scale.Name, size, 1)
	f.scale.f, _ = floatOf(scale.DType)
	f.Detail = fmt.Sprintf("4 bits, scale %s per %d inputs", scale.DType, size)
	if !f.fits(Scale, scale, halfTypes, []int{f.scale.rows, f.Cols}) {
		return false
	}
	if f.params.Symmetric && f.parts[Zero] == "" {
		f.elem.shift = -8
		return true
	}
	return f.packedZeros(4, alongAWQ)
}

func (f *finder) packedZeros(bits int, pack packing) bool {
	zero, ok := f.need(Zero, ".qzeros")
	if !ok {
		return false
	}
	f.zero = f.scale
	f.zero.name, f.zero.f, f.zero.bits, f.zero.pack = zero.Name, format.Format{}, bits, pack
	return f.fits(Zero, zero, wordTypes, []int{f.scale.rows, (f.Cols*bits + 31) / 32})
}

// state is what bitsandbytes writes beside 4-bit codes. Source: bitsandbytes functional.py QuantState.as_dict.
type state struct {
	Type   string  `json:"quant_type"`
	Block  int     `json:"blocksize"`
	Shape  []int   `json:"shape"`
	Nested int     `json:"nested_blocksize"`
	Offset float64 `json:"nested_offset"`
}

func (f *finder) bnb4() bool {
	info, ok := f.need(State, ".weight.quant_state.bitsandbytes__nf4")
	if !ok {
		return false
	}
	raw, err := read(f.s, info.Name, 0, min(info.Size, 1<<16))
	var st state
	if err == nil {
		err = json.Unmarshal(raw, &st)
	}
	if err != nil || len(st.Shape) != 2 || st.Block <= 0 || st.Shape[0] <= 0 || st.Shape[1] <= 0 || st.Shape[1]%2 != 0 ||
		int64(st.Shape[0])*int64(st.Shape[1]) != 2*f.Info.Size {
		f.fault(Lies, State, info.Name, "%s does not describe %s: it gives shape %v in blocks of %d, and the codes are %d "+
			"bytes; quantise the tensor again", info.Name, f.Name(), st.Shape, st.Block, f.Info.Size)
		return false
	}
	f.Rows, f.Cols = st.Shape[0], st.Shape[1]
	values, ok := f.small(Table, ".weight.quant_map", 16)
	if !ok {
		return false
	}
	f.elem = codec{kind: table, bits: 4, table: values, order: slices.Sorted(slices.Values(values))}
	absmax, ok := f.need(Scale, ".weight.absmax")
	if !ok {
		return false
	}
	n := (f.Rows*f.Cols + st.Block - 1) / st.Block
	f.scale = grid{name: absmax.Name, flat: st.Block, rows: f.Rows, cols: 1, blockRows: 1, blockCols: f.Cols}
	f.Detail = fmt.Sprintf("%s, absmax %s per %d", st.Type, absmax.DType, st.Block)
	if absmax.DType != safetensors.U8 {
		f.scale.f, _ = floatOf(absmax.DType)
		return f.fits(Scale, absmax, factorType, []int{n})
	}
	if !f.fits(Scale, absmax, nil, []int{n}) || st.Nested <= 0 {
		return false
	}
	f.scale.f = format.E8M0 // one byte; the table decides
	nest := &nested{block: st.Nested, offset: st.Offset}
	if nest.table, ok = f.small(NestedMap, ".weight.nested_quant_map", 256); !ok {
		return false
	}
	nest.absmax, ok = f.small(NestedMax, ".weight.nested_absmax", (n+st.Nested-1)/st.Nested)
	f.scale.nested = nest
	return ok
}

// small reads a part of n fp32 values.
func (f *finder) small(part Part, suffix string, n int) ([]float64, bool) {
	info, ok := f.need(part, suffix)
	if !ok || !f.fits(part, info, factorType, []int{n}) {
		return nil, false
	}
	raw, err := read(f.s, info.Name, 0, info.Size)
	if err != nil {
		return nil, false
	}
	v, err := format.DecodeBytes(format.FP32, raw)
	return v, err == nil
}

// bnb8 is LLM.int8: rows of signed bytes, SCB their absmax. Source: bitsandbytes int8_vectorwise_dequant.
func (f *finder) bnb8() bool {
	f.elem = codec{kind: bytes8}
	scale, ok := f.need(Scale, ".SCB")
	if !ok {
		return false
	}
	f.scale = f.over(scale.Name, 1, f.Cols)
	f.scale.f, _ = floatOf(scale.DType)
	f.scale.factor, f.Detail = 1.0/127, "int8, absmax per row"
	return f.fits(Scale, scale, factorType, []int{f.Rows})
}

// mlx packs bits-wide fields along a row; value = code x scale + bias. Source: mlx ops.quantize.
func (f *finder) mlx() bool {
	bits := f.params.Bits
	scale, ok := f.need(Scale, ".scales")
	if !ok || bits <= 0 || bits > 8 || f.params.Group <= 0 {
		return false
	}
	if !f.shape(1) {
		return false
	}
	words := f.Cols
	f.Cols = words * 32 / bits
	f.elem = codec{kind: along, bits: bits}
	f.scale = f.over(scale.Name, 1, f.params.Group)
	f.scale.f, _ = floatOf(scale.DType)
	f.Detail = fmt.Sprintf("%d bits, scale and bias %s per %d", bits, scale.DType, f.params.Group)
	if !f.fits(Scale, scale, halfTypes, f.lead(f.Rows, f.scale.cols)) {
		return false
	}
	bias, ok := f.need(Offset, ".biases")
	if !ok || !f.fits(Offset, bias, halfTypes, f.lead(f.Rows, f.scale.cols)) {
		return false
	}
	f.bias = f.scale
	f.bias.name = bias.Name
	f.bias.f, _ = floatOf(bias.DType)
	return true
}
