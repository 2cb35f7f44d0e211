package checkpoint

import (
	"slices"

	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/safetensors"
)

// scaleShapes checks that every quantised weight has its scales, in the shape and dtype of its scheme.
func (p *patient) scaleShapes(quants []*quant) {
	for _, q := range quants {
		name := q.weight.stored
		if q.scale == nil {
			if !p.reported(q) {
				p.add(Error, KindScaleMissing, []string{name}, "%s is stored as %s, but no scales stand beside it, so its values "+
					"are unknown; fetch or convert the checkpoint again", name, q.weight.info.DType)
			}
			continue
		}
		var want [][]int
		var dtypes []safetensors.DType
		switch q.scheme {
		case mxfp4:
			want, dtypes = [][]int{{q.rows, (q.cols + 31) / 32}}, []safetensors.DType{safetensors.F8E8M0, safetensors.U8}
		case nvfp4:
			want, dtypes = [][]int{{q.rows, (q.cols + 15) / 16}}, []safetensors.DType{safetensors.F8E4M3}
		case blockFP8:
			want, dtypes = [][]int{{(q.rows + 127) / 128, (q.cols + 127) / 128}}, []safetensors.DType{
				safetensors.F8E8M0, safetensors.F32,
			}
		case otherFP8:
			want = [][]int{{}, {1}, {q.rows}, {q.rows, 1}, {(q.rows + 127) / 128, (q.cols + 127) / 128}}
			dtypes = []safetensors.DType{safetensors.F32, safetensors.BF16, safetensors.F16, safetensors.F8E8M0}
		}
		p.shapeOf(q, q.scale, want, dtypes)
		one := [][]int{{}, {1}}
		if q.scheme == nvfp4 && q.global != nil {
			p.shapeOf(q, q.global, one, []safetensors.DType{safetensors.F32})
		}
		if q.input != nil {
			p.shapeOf(q, q.input, one, []safetensors.DType{safetensors.F32, safetensors.BF16})
		}
	}
}

// reported tells whether the missing scale has been reported as a deviation from its class.
func (p *patient) reported(q *quant) bool {
	return p.schemes[q.weight.class]&(hasScale|hasWeight) != 0
}

func (p *patient) shapeOf(q *quant, s *tensor, want [][]int, dtypes []safetensors.DType) {
	if !slices.ContainsFunc(want, func(w []int) bool { return slices.Equal(w, s.info.Shape) }) {
		p.add(Error, KindScaleShape, []string{s.stored}, "%s has shape %v; %s of %v elements needs %v: convert the tensor "+
			"again", s.stored, s.info.Shape, q.weight.stored, []int{q.rows, q.cols}, want[0])
	}
	if !slices.Contains(dtypes, s.info.DType) {
		p.add(Error, KindDType, []string{s.stored}, "%s is stored as %s; a scale of %s (%s) is %s: the header was "+
			"relabelled or the conversion went wrong", s.stored, s.info.DType, q.weight.stored, q.weight.info.DType,
			list(dtypes))
	}
}

// fits tells whether a weight can be dequantised at all: scales there, of the right size and dtype.
func (q *quant) fits() bool {
	b, ok := q.block()
	if !ok || q.scale == nil || q.scheme == nvfp4 &&
		(q.global == nil || q.global.info.Elements() != 1 || q.global.info.DType != safetensors.F32) {
		return false
	}
	r, c := b.ScaleShape(q.rows, q.cols)
	return q.scale.info.Size == int64(r*c*b.Scale.Width()/8) && len(q.scale.info.Shape) == 2 && q.scale.info.Shape[0] == r
}

// block is the block format of a weight; ok is false for those of other architectures.
func (q *quant) block() (format.Block, bool) {
	switch q.scheme {
	case mxfp4:
		return format.MXFP4, true
	case nvfp4:
		return format.NVFP4, true
	case blockFP8:
		b := format.BlockFP8
		if q.scale != nil && q.scale.info.DType == safetensors.F32 {
			b.Name, b.Scale = "blockfp8-fp32", format.FP32
		}
		return b, true
	}
	return format.Block{}, false
}

// scalar is the value of a one-element tensor, as the scan read it, or read now where nothing was scanned.
func (t *tensor) scalar() (float64, bool) {
	if t == nil || t.info == nil || t.info.Elements() != 1 {
		return 0, false
	}
	f, err := format.ByDType(string(t.info.DType))
	if err != nil {
		return 0, false
	}
	if t.scan.scanned {
		return f.Decode(uint32(t.scan.first & (1<<f.Width() - 1))), true
	}
	raw, err := t.file.Bytes(t.stored)
	if err != nil {
		return 0, false
	}
	v, err := format.DecodeBytes(f, raw)
	if err != nil || len(v) != 1 {
		return 0, false
	}
	return v[0], true
}
