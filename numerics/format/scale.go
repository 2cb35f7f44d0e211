package format

import "math"

// tensorFactors are the second-level scale and its inverse, each rounded as the rule has it.
type tensorFactors struct{ scale, inverse float32 }

// tensorScale derives them from the tensor's largest magnitude.
func (r Recipe) tensorScale(amax float32) tensorFactors {
	const top = 6 * 448
	if r.Rule == ScaleTwoLevelMultiply {
		s := top / amax
		return tensorFactors{1 / s, s}
	}
	return tensorFactors{scale: amax / top}
}

// scale turns a block's amax into the code to store and the fp32 number that the elements are
// divided by; t is for two-level rules.
func (r Recipe) scale(amax float32, t tensorFactors) (code uint32, value float32) {
	if amax < r.AmaxFloor {
		amax = r.AmaxFloor
	}
	if r.Block.TensorScale {
		return r.twoLevel(amax, t)
	}
	top := float32(r.Block.Element.Max())
	s := amax / top
	if r.ScaleOp == Multiply {
		s = amax * (1 / top)
	}
	if s < r.ScaleFloor {
		s = r.ScaleFloor
	}
	f := r.Block.Scale
	switch {
	case amax != amax:
		return f.NaNCode, float32(math.NaN())
	case r.Rule == ScaleLinear:
		return math.Float32bits(s), s
	}
	e := min(max(r.exponent(amax, s), -127), 127)
	value = float32(math.Ldexp(1, e))
	if f.Width() == 8 {
		return uint32(e + 127), value
	}
	return math.Float32bits(value), value
}

// exponent is the power of two of a block's scale by the recipe's rule; s is amax/M in fp32. It may
// lie outside of what can be stored. Zero and infinity give the ends.
func (r Recipe) exponent(amax, s float32) int {
	const far = 1 << 10
	switch r.Rule {
	case ScaleCeilBits:
		w := math.Float32bits(s)
		e := int(w>>23) - 127
		if w&(1<<23-1) != 0 {
			e++
		}
		return e
	case ScaleCeilLog2:
		// The limits keep log2 of 0 and of infinity out of the conversion to int.
		l := float32(math.Log2(float64(s)))
		return int(math.Ceil(math.Min(math.Max(float64(l), -far), far)))
	case ScaleFloorAmax:
		if amax == 0 {
			return -far
		}
		return int(math.Min(math.Logb(float64(amax)), far) - math.Logb(r.Block.Element.Max()))
	case ScaleNearest:
		return int(E8M0.Encode(float64(s), RN, Saturate)) - 127
	default: // ScaleDown
		return int(E8M0.Encode(float64(s), RZ, Saturate)) - 127
	}
}

// twoLevel is the NVFP4 block scale.
func (r Recipe) twoLevel(amax float32, t tensorFactors) (code uint32, value float32) {
	s := amax / float32(6*t.scale)
	if r.Rule == ScaleTwoLevelMultiply {
		s = float32(amax*(1/float32(6))) * t.inverse
	}
	if s == 0 {
		s = 1
	}
	s = min(max(s, 0x1p-9), 448) // Go's min and max keep NaN, as torch.clamp does
	code = E4M3FN.Encode(float64(s), RN, Saturate)
	return code, float32(E4M3FN.Decode(code)) * t.scale
}
