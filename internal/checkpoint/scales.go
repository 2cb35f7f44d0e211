package checkpoint

import (
	"strings"

	"github.com/assay-suite/assay/internal/quant"
	"github.com/assay-suite/assay/numerics/format"
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
