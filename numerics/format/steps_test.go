package format_test

import (
	"math"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/numerics/format"
)

// conversion is one way from fp32 to a format. The codes for what is no ordinary value are written
// out here from the specifications, not taken from the package.
type conversion struct {
	f    format.Format
	r    format.Rounding
	s    format.Saturation
	over uint32 // magnitude code for a finite value beyond the range
	inf  uint32 // and for infinity
	nan  uint32 // code for a NaN
}

func (c conversion) name() string { return c.f.Name + "." + c.r.String() + "." + c.s.String() }

const (
	rn, rna, rz, rnz = format.RN, format.RNA, format.RZ, format.RNZ
	ovf, sat         = format.Overflow, format.Saturate
)

// conversions are what the goldens hold digests of. Sources: IEEE 754 (overflow to infinity, rz to the
// largest value), OCP OFP8 1.0 table 4 (e4m3: NaN or 448; e5m2: infinity or 57344), ONNX Cast
// (fnuz: NaN is 0x80, and infinity is NaN even when saturating; e2m1: NaN is +6), OCP MX 1.0 (MX
// elements have neither), PTX (satfinite).
var conversions = []conversion{
	{format.BF16, rn, ovf, 0x7f80, 0x7f80, 0x7fc0},
	{format.BF16, rz, ovf, 0x7f7f, 0x7f80, 0x7fc0},
	{format.TF32, rn, ovf, 0x7f800000, 0x7f800000, 0x7fc00000},
	{format.TF32, rna, ovf, 0x7f800000, 0x7f800000, 0x7fc00000},
	{format.TF32, rz, ovf, 0x7f7fe000, 0x7f800000, 0x7fc00000},
	{format.FP16, rn, ovf, 0x7c00, 0x7c00, 0x7e00},
	{format.FP16, rn, sat, 0x7bff, 0x7bff, 0x7e00},
	{format.E4M3FN, rn, sat, 0x7e, 0x7e, 0x7f},
	{format.E4M3FN, rn, ovf, 0x7f, 0x7f, 0x7f},
	{format.E5M2, rn, sat, 0x7b, 0x7b, 0x7e},
	{format.E5M2, rn, ovf, 0x7c, 0x7c, 0x7e},
	{format.E4M3FNUZ, rn, sat, 0x7f, 0x80, 0x80},
	{format.E5M2FNUZ, rn, sat, 0x7f, 0x80, 0x80},
	{format.E8M0, rn, sat, 0xfe, 0xff, 0xff},
	{format.E2M3, rn, sat, 0x1f, 0x1f, 0x1f},
	{format.E3M2, rn, sat, 0x1f, 0x1f, 0x1f},
	{format.E2M1, rn, sat, 0x7, 0x7, 0x7},
	{format.E2M1, rnz, sat, 0x7, 0x7, 0x7},
	{format.E2M1, rna, sat, 0x7, 0x7, 0x7},
}

// steps is the definition of rounding as a step function: thresholds[i] is the smallest fp32 word,
// without sign, that becomes magnitude code i or more. It is worked out from the decoded values and
// the exact midpoints between them alone. The last threshold is that of overflow.
type steps struct {
	c          conversion
	thresholds []uint32
}

func newSteps(t testing.TB, c conversion) steps {
	t.Helper()
	f := c.f
	st := steps{c, []uint32{0}}
	count := f.MaxCode()>>f.Shift + 1
	value := func(i uint32) float64 {
		if i < count {
			return f.Decode(i << f.Shift)
		}
		if f.NoZero {
			return 2 * f.Decode(i-1)
		}
		return 2*f.Decode((i-1)<<f.Shift) - f.Decode((i-2)<<f.Shift) // the absent value after the largest
	}
	for i := uint32(1); i <= count; i++ {
		lo, hi := value(i-1), value(i)
		if !(lo < hi) {
			t.Fatalf("%v: codes %#x and %#x are not in order", f, i-1, i)
		}
		mid := lo + (hi-lo)/2
		var reaches func(x float64) bool
		near := mid // where to begin to look
		switch {
		case c.r == rz:
			near = hi
			reaches = func(x float64) bool { return x >= hi }
		case c.r == rna, c.r == rn && (i%2 == 0 || f.NoZero): // the tie goes up: the upper code is even
			reaches = func(x float64) bool { return x >= mid }
		default:
			reaches = func(x float64) bool { return x > mid }
		}
		w := math.Float32bits(float32(math.Min(near, math.MaxFloat32)))
		for w < 0x7f800000 && !reaches(float64(math.Float32frombits(w))) {
			w++
		}
		for w > 0 && w < 0x7f800000 && reaches(float64(math.Float32frombits(w-1))) {
			w--
		}
		st.thresholds = append(st.thresholds, w)
	}
	return st
}

// finish turns a magnitude index into the code for word w.
func (s *steps) finish(w, index uint32) uint32 {
	f, m := s.c.f, w&0x7fffffff
	code := index << f.Shift
	switch {
	case m > 0x7f800000:
		return s.c.nan
	case f.NoZero: // e8m0, saturating: a zero of either sign is 2^-127, a negative number NaN
		if w>>31 == 1 && m != 0 {
			return s.c.nan
		}
		if m == 0 {
			return 0
		}
	}
	switch {
	case m == 0x7f800000:
		code = s.c.inf
	case int(index) == len(s.thresholds)-1:
		code = s.c.over
	}
	if code == s.c.nan && f.NaN == format.NaNNegZero || w>>31 == 0 || f.NoZero || code == 0 && f.NaN == format.NaNNegZero {
		return code
	}
	return code | 1<<(f.Width()-1)
}

// at looks one word up.
func (s *steps) at(w uint32) uint32 {
	m := w & 0x7fffffff
	i := sort.Search(len(s.thresholds), func(i int) bool { return s.thresholds[i] > m })
	return s.finish(w, uint32(i-1))
}

// Every midpoint of every format, one fp32 ulp to either side of it, every value, and the
// specials, in both signs and all roundings: Encode and the step function agree.
func TestEveryMidpoint(t *testing.T) {
	for _, c := range conversions {
		t.Run(c.name(), func(t *testing.T) {
			st := newSteps(t, c)
			n := 0
			check := func(m uint32) {
				for _, w := range [2]uint32{m, m | 1<<31} {
					n++
					if got, want := c.f.Encode(float64(math.Float32frombits(w)), c.r, c.s), st.at(w); got != want {
						t.Fatalf("%v (%#08x) is %#x, want %#x", math.Float32frombits(w), w, got, want)
					}
				}
			}
			for i, m := range st.thresholds {
				for _, w := range [4]uint32{m - 2, m - 1, m, m + 1} { // the midpoint is m or, where ties go down, m-1
					if w < 0x7f800000 {
						check(w)
					}
				}
				if i < len(st.thresholds)-1 {
					check(math.Float32bits(float32(c.f.Decode(uint32(i) << c.f.Shift))))
				}
			}
			for _, m := range []uint32{
				0, 1, 0x007fffff, 0x00800000, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000,
				0x7fffffff,
			} {
				check(m)
			}
			t.Logf("%d words", n)
		})
	}
	// The other roundings of the small formats are TestEncodeMatchesSearch's; of the wide ones, here.
	for _, f := range []format.Format{format.BF16, format.FP16} {
		for _, r := range []format.Rounding{rna, rz, rnz} {
			over := f.MaxCode() + 1
			if r == rz {
				over = f.MaxCode()
			}
			st := newSteps(t, conversion{f, r, ovf, over, f.MaxCode() + 1, f.NaNCode})
			for _, m := range st.thresholds {
				for _, w := range [4]uint32{m - 1, m, m + 1, m | 1<<31} {
					if w&0x7fffffff > 0x7f800000 {
						continue
					}
					require.Equal(t, st.at(w), f.Encode(float64(math.Float32frombits(w)), r, ovf), "%v %v %#x", f, r, w)
				}
			}
		}
	}
}
