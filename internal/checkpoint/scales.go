package checkpoint

import (
	"math"
	"slices"
	"strings"

	"github.com/assay-suite/assay/internal/quant"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/safetensors"
)

// assembly reports what keeps weights and their scales from making sense together.
func (p *patient) assembly(quants []*coded) {
	for _, q := range quants {
		for _, f := range q.faults {
			kind, names := KindScaleShape, []string{f.Tensor}
			switch f.Kind {
			case quant.Missing:
				if p.reported(q, f) {
					continue
				}
				kind = KindScaleMissing
				if f.Part != quant.Codes {
					names = append(names, q.weight.stored)
				}
			case quant.BadDType:
				kind = KindDType
			case quant.Lies:
				kind = KindDeclared
			case quant.BadShape:
			}
			p.add(Certain, kind, names, "%s", f.Text)
		}
	}
}

// reported tells whether a missing scale has been reported as a deviation from its class, or lies in a lost shard.
func (p *patient) reported(q *coded, f quant.Fault) bool {
	if p.excused(Canonical(f.Tensor)) {
		return true
	}
	stem := strings.TrimSuffix(q.weight.canon, ".weight")
	for _, s := range siblingSuffix {
		if p.missed[stem+s.suffix] {
			return true
		}
	}
	return false
}

// zeroScaleBytes is how large a tensor of e8m0 scales may be to be looked at one by one; in a larger one a run is seen.
const zeroScaleBytes = 4 << 20

// zeroScales reports e8m0 scales of code 0, which is 2^-127, over codes that are not zero: nothing was written there.
// Over a block of zeros it is what the format's own conversion stores.
func (p *patient) zeroScales(quants []*coded) error {
	for _, q := range quants {
		if q.w == nil || q.scale == nil || q.scale.info.DType.Bits() != 8 || q.scale.info.DType == safetensors.F8E4M3 ||
			q.scale.info.Size > zeroScaleBytes || q.scale.info.Elements() == 0 || len(q.scale.info.Shape) < 2 ||
			!slices.Contains([]string{quant.MXFP4, quant.MXFP8, quant.FP8}, q.w.Layout) {
			continue
		}
		raw, err := q.scale.file.Bytes(q.scale.stored)
		if err != nil {
			return err
		}
		first, count := -1, 0
		for i, b := range raw {
			if b != 0 {
				continue
			}
			if count++; first < 0 {
				first = i
			}
		}
		if first < 0 {
			continue
		}
		br, _ := q.w.Block()
		blockRow := first / max(1, q.scale.info.Shape[len(q.scale.info.Shape)-1])
		if blockRow*br >= q.w.Total() {
			continue
		}
		v, err := q.w.Read(blockRow*br, min(q.w.Total(), (blockRow+1)*br))
		if err != nil {
			return err
		}
		faint := 0
		for _, x := range v {
			if x != 0 && math.Abs(x) < 0x1p-100 {
				faint++
			}
		}
		if faint == 0 {
			continue
		}
		p.add(Likely, KindScaleValue, []string{q.scale.stored, q.weight.stored}, "%s holds %d of %d scales of code 0 "+
			"(2^-127), "+
			"first at element %d, over codes that are not zero: these blocks were never scaled, and are zero in effect; fetch "+
			"or "+
			"convert the tensor again", q.scale.stored, count, len(raw), first)
	}
	return nil
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
