package checkpoint

import (
	"strings"

	"github.com/assay-suite/assay/internal/quant"
	"github.com/assay-suite/assay/safetensors"
)

// minVaried is the number of elements from which a constant tensor is worth a word: a mixing scale of
// three or a bias of four may well be equal.
const minVaried = 16

// classes turns what the scan saw into findings.
func (p *patient) classes() {
	for _, t := range p.tensors {
		r, name, n := t.scan, []string{t.stored}, t.info.Elements()
		scale := p.isScale(t)
		switch {
		case r.nans > 0 && (t.info.DType == safetensors.F8E8M0 || t.info.DType == safetensors.U8):
			p.add(Certain, KindScaleValue, name, "%s holds %d of the code 255, NaN in e8m0, first at element %d: every weight "+
				"of these blocks is NaN; convert the tensor again with scales capped at 254", t.stored, r.nans, r.firstNaN)
		case r.nans > 0 && scale:
			p.add(Certain, KindScaleValue, name, "%s holds %d NaN, first at element %d: every weight of these blocks is NaN; "+
				"convert the tensor again (e4m3 scales clamped at 448 before the cast)", t.stored, r.nans, r.firstNaN)
		case r.nans > 0:
			p.add(Certain, KindNaN, name, "%s holds %d NaN of %d values, first at element %d; fetch or convert the tensor again",
				t.stored, r.nans, n, r.firstNaN)
		}
		if r.infs > 0 && strings.Contains(t.stored, "mask") {
			p.add(Note, KindInf, name, "%s holds %d infinities of %d values, as masks do", t.stored, r.infs, n)
		} else if r.infs > 0 {
			kind := KindInf
			if scale {
				kind = KindScaleValue
			}
			p.add(Certain, kind, name, "%s holds %d infinities of %d values, first at element %d: a cast overflowed; convert "+
				"the tensor again", t.stored, r.infs, n, r.firstNaN)
		}
		if r.huge > 0 && t.weight != nil && t.weight.Plain() {
			p.add(Likely, KindHuge, name, "%s holds %d values of 2^%d and more, first %.3g at element %d: no weight is that "+
				"large, "+
				"so bits were flipped or the bytes are of something else; fetch or convert the tensor again", t.stored, r.huge,
				hugeExponent-127, r.hugeValue, r.firstHuge)
		}
		if r.badScales > 0 {
			p.badScales(t)
		}
		if !r.scanned || t.info.DType == safetensors.Bool {
			continue
		}
		p.sameness(t, scale)
	}
}

// badScales reports scales that are zero or negative.
func (p *patient) badScales(t *tensor) {
	r, name := t.scan, []string{t.stored}
	if why := p.unrouted(t, t.expert); why != "" && !r.nonzero {
		p.add(Note, KindScaleSign, name, "%s is zero in all values, and no token reaches its expert: %s", t.stored, why)
		return
	}
	p.add(Certain, KindScaleSign, name, "%s holds %d of %d scales that are zero or negative, first %g at element %d; a "+
		"scale is the block's largest magnitude over the format's and is positive: convert the tensor again", t.stored,
		r.badScales, t.info.Elements(), r.badValue, r.firstBad)
}

// sameness judges all-zero and constant tensors.
func (p *patient) sameness(t *tensor, scale bool) {
	r, n, name := t.scan, t.info.Elements(), []string{t.stored}
	matrix := len(t.info.Shape) >= 2 && n >= minVaried
	switch {
	case t.part != quant.None && !scale:
		return // zero points, group indices and tables may well be alike
	case !r.nonzero && scale:
		return // said as a scale that is not positive
	case !r.nonzero && t.info.DType == safetensors.F8E8M0:
		return // code 0 is 2^-127
	case !r.nonzero && p.unrouted(t, t.expert) != "":
		p.add(Note, KindZero, name, "%s is zero in all values, and no token reaches its expert: %s", t.stored,
			p.unrouted(t, t.expert))
	case !r.nonzero && !matrix && strings.HasSuffix(t.canon, ".weight") && p.usuallyConstant(t):
		p.add(Note, KindZero, name, "%s is zero in all %d values, like most of its kind: as initialised", t.stored, n)
	case !r.nonzero && (matrix || strings.HasSuffix(t.canon, ".weight")):
		p.add(Certain, KindZero, name, "%s is zero in all %d values: it was never filled; fetch or convert it "+
			"again", t.stored,
			n)
	case !r.nonzero && n >= minVaried:
		p.add(Note, KindZero, name, "%s is zero in all %d values, which may be how it was initialised", t.stored, n)
	case !r.differs && matrix && !scale:
		p.add(Certain, KindConstant, name, "%s holds one value in all its %d elements: it was never filled; fetch or "+
			"convert "+
			"it again", t.stored, n)
	case !r.differs && n >= minVaried && !scale && p.usuallyConstant(t):
		p.add(Note, KindConstant, name, "%s holds one value in all its %d elements, like most of its kind: as initialised",
			t.stored, n)
	case !r.differs && n >= minVaried && !scale:
		p.add(Likely, KindConstant, name, "%s holds one value in all its %d elements: still as initialised, or lost",
			t.stored, n)
	}
}

// usuallyConstant tells a vector of which most of its kind hold one value each: parameters that were never trained.
func (p *patient) usuallyConstant(t *tensor) bool {
	if p.constant == nil {
		p.constant = map[string][2]int{}
		for _, x := range p.tensors {
			n := p.constant[x.class]
			if n[0]++; x.scan.scanned && !x.scan.differs {
				n[1]++
			}
			p.constant[x.class] = n
		}
	}
	n := p.constant[t.class]
	return n[0] > 2 && 2*n[1] > n[0]
}

// signed tells scales that may be negative: MLX takes the sign of the group's largest magnitude.
func (p *patient) signed(t *tensor) bool {
	return t.of != nil && t.of.weight != nil && t.of.weight.Layout == quant.MLX
}

// isScale tells a scale of a weight, of its activations or of a cache.
func (p *patient) isScale(t *tensor) bool {
	switch t.part {
	case quant.Scale, quant.Global, quant.Input, quant.InputScale, quant.Cache, quant.NestedMax:
		return true
	}
	weight, bit := weightOf(t.canon)
	return bit != 0 && p.byCanon[weight] != nil
}
