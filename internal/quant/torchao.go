package quant

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/assay-suite/assay/safetensors"
)

// Headers gives the plan the metadata of a file's header, where torchao describes its tensor subclasses.
func (p *Plan) Headers(meta map[string]string) {
	if p.headers == nil {
		p.headers = map[string]string{}
	}
	maps.Copy(p.headers, meta)
}

// subclass is a description in the header. Source: pytorch/ao prototype/safetensors/safetensors_support.py.
type subclass struct {
	Type string `json:"_type"`
	Data struct {
		Block []int `json:"block_size"`
	} `json:"_data"`
}

// torchao is Float8Tensor or a tensor of signed bytes; what else there is packs by its kernel.
func (f *finder) torchao(p *Plan) bool {
	var sub subclass
	if err := json.Unmarshal([]byte(p.headers[f.Module+".weight"]), &sub); err != nil || sub.Type == "" {
		f.fault(Lies, Codes, f.Name(), "%s is stored by torchao, but the header does not describe %s.weight; save it again",
			f.Name(), f.Module)
		return false
	}
	if !f.shape(1) {
		return false
	}
	switch f.Info.DType {
	case safetensors.F8E4M3:
		f.elem, _ = floatCodec(f.Info.DType)
	case safetensors.I8:
		f.elem = codec{kind: bytes8}
	default:
		return false // a kernel's packing
	}
	scale, ok := f.need(Scale, "._weight_scale")
	if !ok {
		return false
	}
	// The scale's own shape says what shares it: a dimension of one is a whole one.
	if len(scale.Shape) != 2 || scale.Shape[0] == 0 || scale.Shape[1] == 0 || f.Rows%scale.Shape[0] != 0 ||
		f.Cols%scale.Shape[1] != 0 {
		return f.fits(Scale, scale, fp8Scales, []int{f.Rows, 1})
	}
	f.scale = f.over(scale.Name, f.Rows/scale.Shape[0], f.Cols/scale.Shape[1])
	f.scale.f, _ = floatOf(scale.DType)
	f.Detail = fmt.Sprintf("%s, scale %s per %d x %d", sub.Type, scale.DType, f.scale.blockRows, f.scale.blockCols)
	zero, have := f.s.Tensor(f.parts[Zero])
	if have && zero.DType == safetensors.I8 && slices.Equal(zero.Shape, scale.Shape) {
		f.zero = f.scale
		f.zero.name, f.zero.bits, f.zero.pack = zero.Name, 8, signedByte
	}
	return f.fits(Scale, scale, fp8Scales)
}
