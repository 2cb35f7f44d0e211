package indexer

import (
	"math"

	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
)

// scaleSet are the scales that a block may get: from low to high, middle being the exact block's.
type scaleSet struct {
	element           format.Format
	power             bool
	low, middle, high float64
}

// admissible: amax of a block whose elements lie within E of y is within max E of the exact amax. A power of two comes
// from amax over the element's maximum by division or by the rounded reciprocal; a linear scale is within two
// roundings.
func admissible(block []numerics.Tracked, element format.Format, power bool) scaleSet {
	var amax, e float64
	for _, v := range block {
		amax, e = max(amax, math.Abs(v.X)), max(e, v.E)
	}
	floor := 1e-4
	if element.Name == format.E2M1.Name {
		floor = 6 * 0x1p-126
	}
	top := element.Max()
	s := scaleSet{element: element, power: power, middle: max(amax, floor) / top}
	low, high := max(amax-e, floor), max(amax+e, floor)
	if !power {
		s.low, s.high = low/top*(1-3*u32), high/top*(1+3*u32)
		return s
	}
	s.middle = powerAbove(float32(max(amax, floor)) / float32(top))
	s.low = min(powerAbove(float32(low)/float32(top)), powerAbove(float32(low)*(1/float32(top))))
	s.high = max(powerAbove(float32(high)/float32(top)), powerAbove(float32(high)*(1/float32(top))))
	return s
}

// powerAbove is the least power of two that is no smaller than x.
func powerAbove(x float32) float64 {
	f, e := math.Frexp(float64(x))
	if f == 0.5 {
		e--
	}
	return math.Ldexp(1, e)
}

func (s scaleSet) unique() bool { return s.power && s.low == s.high }

// bound is how far an admissible scale lies from middle.
func (s scaleSet) bound() float64 { return max(s.high-s.middle, s.middle-s.low) }

// slack is the error of a quotient before it is rounded to a code: the element's, and two roundings of fp32 where the
// scale is no power of two.
func (s scaleSet) slack(v numerics.Tracked) float64 {
	if s.power {
		return v.E
	}
	return v.E + 3*u32*(math.Abs(v.X)+v.E)
}

// step bounds |stored − exact|: half a step under the coarsest admissible scale, the key's own error, and what
// saturation cuts off under the finest.
func (s scaleSet) step(v numerics.Tracked) float64 {
	e := s.slack(v)
	var worst float64
	for _, scale := range []float64{s.low, s.high} {
		half := scale * numerics.HalfULP(s.element, math.Min(math.Abs(v.X)/scale, s.element.Max()), e/scale)
		worst = max(worst, half+max(0, math.Abs(v.X)+e-s.element.Max()*scale))
	}
	return worst + e
}

// certain tells whether only one code is admissible, zero aside, whose sign is open.
func (s scaleSet) certain(v numerics.Tracked) bool {
	e := s.slack(v)
	code := s.element.Encode(v.X/s.middle, format.RN, format.Saturate)
	if s.element.Decode(code) == 0 {
		return false
	}
	for _, scale := range []float64{s.low, s.high} {
		for _, x := range []float64{v.X - e, v.X + e} {
			if s.element.Encode(x/scale, format.RN, format.Saturate) != code {
				return false
			}
		}
	}
	return true
}
