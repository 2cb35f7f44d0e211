package quant

import (
	"fmt"
	"slices"

	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/safetensors"
)

var (
	fp8Types   = []safetensors.DType{safetensors.F8E4M3, safetensors.F8E5M2}
	realTypes  = []safetensors.DType{safetensors.F32, safetensors.BF16, safetensors.F16}
	e8m0Types  = []safetensors.DType{safetensors.F8E8M0, safetensors.U8}
	fp8Scales  = append(slices.Clone(realTypes), safetensors.F8E8M0)
	pairTypes  = []safetensors.DType{safetensors.U8, safetensors.I8, safetensors.F4}
	factorType = []safetensors.DType{safetensors.F32}
	inputTypes = []safetensors.DType{safetensors.F32, safetensors.BF16, safetensors.F16}
)

// build fills the weight by its layout; false where it is no matrix or not decoded.
func (f *finder) build(p *Plan) bool {
	ok := false
	switch f.Layout {
	case Plain:
		f.elem, ok = floatCodec(f.Info.DType)
		if ok = ok && f.shape(1); !ok {
			return false
		}
		f.Detail = string(f.Info.DType)
	case FP8:
		allowed := fp8Types
		if f.params.E4M3 {
			allowed = fp8Types[:1]
		}
		ok = f.codes(allowed...) && f.shape(1) && f.fp8()
	case MXFP8:
		ok = f.codes(fp8Types...) && f.shape(1) && f.blocks(32, e8m0Types)
	case MXFP4:
		ok = f.codes(pairTypes...) && f.mxfp4()
	case NVFP4:
		ok = f.codes(pairTypes...) && f.shape(f.perByte()) && f.blocks(16, fp8Types[:1]) && f.nvfp4()
	case Int:
		ok = f.ints()
	case Int4P:
		ok = f.codes(safetensors.I8) && f.shape(2) && f.int4()
	case GPTQ:
		ok = f.codes(safetensors.I32) && f.gptq()
	case AWQ:
		ok = f.codes(safetensors.I32) && f.awq()
	case BnB4:
		ok = f.codes(safetensors.U8) && f.bnb4()
	case BnB8:
		ok = f.codes(safetensors.I8) && f.shape(1) && f.bnb8()
	case MLX:
		ok = f.codes(safetensors.U32) && f.mlx()
	case TorAO:
		ok = f.torchao(p)
	}
	if in, have := f.s.Tensor(f.parts[Input]); have && f.Slices <= 1 && ok {
		f.fits(Input, in, inputTypes, []int{}, []int{1})
	}
	return ok
}

func (f *finder) perByte() int {
	if f.Info.DType == safetensors.F4 {
		return 1
	}
	return 2
}

// grids over rows and columns: a scale for each blockRows x blockCols.
func (f *finder) over(name string, blockRows, blockCols int) grid {
	blockRows, blockCols = max(1, blockRows), max(1, blockCols)
	return grid{
		name: name, blockRows: blockRows, blockCols: blockCols,
		rows: (f.Rows + blockRows - 1) / blockRows, cols: (f.Cols + blockCols - 1) / blockCols,
	}
}

// lead is a shape with the dimensions of the slices before it.
func (f *finder) lead(tail ...int) []int {
	s := f.Info.Shape
	if len(s) <= 2 {
		return tail
	}
	return append(slices.Clone(s[:len(s)-2]), tail...)
}

// fp8 has a scale for the tensor, each row, or each block.
func (f *finder) fp8() bool {
	f.elem, _ = floatCodec(f.Info.DType)
	scale, ok := f.need(Scale, ".weight_scale")
	if !ok {
		return false
	}
	type choice struct {
		strategy string
		block    [2]int
		shapes   [][]int
	}
	whole := choice{"tensor", [2]int{f.Rows, f.Cols}, [][]int{{}, {1}, {1, 1}}}
	if f.Slices > 1 {
		whole.shapes = [][]int{f.lead(), f.lead(1), f.lead(1, 1)}
	}
	row := choice{"channel", [2]int{1, f.Cols}, [][]int{f.lead(f.Rows, 1), f.lead(f.Rows)}}
	blocks := func(r, c int) choice {
		br, bc := (f.Rows+r-1)/r, (f.Cols+c-1)/c
		return choice{"block", [2]int{r, c}, [][]int{f.lead(br, bc), f.lead(br, 1, bc, 1)}}
	}
	var choices []choice
	switch f.params.Strategy {
	case "tensor":
		choices = []choice{whole}
	case "channel":
		choices = []choice{row}
	case "block":
		choices = []choice{blocks(f.params.Block[0], f.params.Block[1])}
	case "group":
		choices = []choice{blocks(1, max(1, f.params.Group))}
	default:
		choices = []choice{blocks(128, 128), whole, row}
	}
	for _, c := range choices {
		if !slices.ContainsFunc(c.shapes, func(s []int) bool { return slices.Equal(s, scale.Shape) }) {
			continue
		}
		f.scale = f.over(scale.Name, c.block[0], c.block[1])
		f.Detail = fmt.Sprintf("%s, scale %s per %s", f.Info.DType, scale.DType, c.strategy)
		if c.strategy == "block" {
			f.Detail += fmt.Sprintf(" of %d x %d", c.block[0], c.block[1])
		}
		break
	}
	if f.scale.name == "" {
		return f.fits(Scale, scale, fp8Scales, choices[0].shapes...)
	}
	f.scale.f, _ = floatOf(scale.DType)
	return f.fits(Scale, scale, fp8Scales)
}

// blocks has a scale for each group along a row, in the codes of fp8 or in pairs.
func (f *finder) blocks(size int, dtypes []safetensors.DType) bool {
	f.elem = codec{kind: floats, f: format.E2M1}
	if !slices.Contains(pairTypes, f.Info.DType) {
		f.elem, _ = floatCodec(f.Info.DType)
	}
	scale, ok := f.need(Scale, ".weight_scale")
	if !ok {
		return false
	}
	f.scale = f.over(scale.Name, 1, size)
	f.scale.f, _ = floatOf(scale.DType)
	f.Detail = fmt.Sprintf("%s, scale %s per %d", f.Info.DType, scale.DType, size)
	return f.fits(Scale, scale, dtypes, f.lead(f.Rows, f.scale.cols))
}

// mxfp4 is pairs [rows, cols/2], or gpt-oss' blocks [experts, rows, blocks, 16].
func (f *finder) mxfp4() bool {
	s := f.Info.Shape
	if len(s) != 4 || s[3] != 16 {
		return f.shape(f.perByte()) && f.blocks(32, e8m0Types)
	}
	f.Slices, f.Rows, f.Cols = s[0], s[1], 32*s[2]
	f.elem = codec{kind: floats, f: format.E2M1}
	scale, ok := f.need(Scale, "_scales")
	if !ok {
		return false
	}
	f.scale = f.over(scale.Name, 1, 32)
	f.scale.f, f.Detail = format.E8M0, "blocks of 32 codes and their scales"
	return f.fits(Scale, scale, e8m0Types, s[:3])
}

func (f *finder) nvfp4() bool {
	global, ok := f.need(Global, ".weight_scale_2")
	if !ok {
		return false
	}
	shapes := [][]int{{}, {1}}
	if f.Slices > 1 {
		shapes = [][]int{f.lead(), f.lead(1), f.lead(1, 1), {}, {1}}
	}
	if !f.fits(Global, global, factorType, shapes...) {
		return false
	}
	verb := "times"
	if f.params.Divide {
		verb = "over"
	}
	f.Detail += ", " + verb + " a factor"
	return f.factors(global)
}

// factors reads the values of a small tensor.
func (f *finder) factors(info safetensors.Info) bool {
	raw, err := read(f.s, info.Name, 0, info.Size)
	if err != nil {
		f.fault(Missing, Global, info.Name, "%v", err)
		return false
	}
	fm, _ := floatOf(info.DType)
	f.factor, err = format.DecodeBytes(fm, raw)
	return err == nil && len(f.factor) > 0
}

// int4 is W4AFP8: nibbles in two's complement, a scale for each group of 128 inputs.
func (f *finder) int4() bool {
	f.elem = codec{kind: pairs}
	scale, ok := f.need(Scale, ".weight_scale_inv")
	if !ok {
		return false
	}
	size := f.params.Group
	if size <= 0 {
		size = 128
	}
	f.scale = f.over(scale.Name, 1, size)
	f.scale.f, _ = floatOf(scale.DType)
	f.Detail = fmt.Sprintf("int4 pairs, scale %s per %d", scale.DType, size)
	return f.fits(Scale, scale, realTypes, f.lead(f.Rows, f.scale.cols))
}
