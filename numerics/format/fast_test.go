package format_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/assay-suite/assay/numerics/format"
)

// sweep calls fn with fp32 values that decide a rounding to bf16 or e4m3: every upper half with the
// lower halves around its ties, then a million random words.
func sweep(fn func(x float32)) {
	for hi := range uint32(1 << 16) {
		for _, lo := range []uint32{0, 1, 0x7fff, 0x8000, 0x8001, 0xffff} {
			fn(math.Float32frombits(hi<<16 | lo))
		}
	}
	r := rand.New(rand.NewPCG(20261129, 1))
	for range 1 << 20 {
		fn(math.Float32frombits(r.Uint32()))
	}
}

func TestFastPathsEqualGeneric(t *testing.T) {
	sweep(func(x float32) {
		if got, want := uint32(format.EncodeBF16(x)),
			format.BF16.Encode(float64(x), format.RN, format.Overflow); got != want {
			t.Fatalf("EncodeBF16(%v = %#x) is %#x, want %#x", x, math.Float32bits(x), got, want)
		}
		if got, want := uint32(format.EncodeE4M3(x)),
			format.E4M3FN.Encode(float64(x), format.RN, format.Saturate); got != want {
			t.Fatalf("EncodeE4M3(%v = %#x) is %#x, want %#x", x, math.Float32bits(x), got, want)
		}
	})
	for c := range uint32(1 << 16) {
		if got, want := float64(format.DecodeBF16(uint16(c))), format.BF16.Decode(c); !same(got, want) {
			t.Fatalf("DecodeBF16(%#x) is %v, want %v", c, got, want)
		}
	}
}

func TestRoundSliceEqualsRound(t *testing.T) {
	var x []float64
	sweep(func(v float32) {
		if len(x) < 1<<14 || math.Float32bits(v)&63 == 1 {
			x = append(x, float64(v), float64(v)*(1+0x1p-40))
		}
	})
	x = append(x, 5e-324, -5e-324, math.MaxFloat64, math.Inf(-1), math.NaN(), 0, math.Copysign(0, -1))
	for _, f := range format.All() {
		y := append([]float64(nil), x...)
		f.RoundSlice(y)
		for i := range y {
			if want := f.Decode(f.Encode(x[i], format.RN, format.Overflow)); !same(y[i], want) {
				t.Fatalf("%v of %v is %v in a slice, want %v", f, x[i], y[i], want)
			}
		}
		for r, i := f.Nearest(format.Saturate), 0; i < len(x); i++ {
			if got, want := r.Round(x[i]), f.Decode(f.Encode(x[i], format.RN, format.Saturate)); !same(got, want) {
				t.Fatalf("%v of %v is %v saturating, want %v", f, x[i], got, want)
			}
		}
	}
}

// Planted: the well-known shortcut without the NaN case turns an all-ones NaN into -0 or 0.
func TestFastBF16NeedsItsNaNCase(t *testing.T) {
	x := math.Float32frombits(0x7fffffff)
	w := math.Float32bits(x)
	if naive := uint16((w + 0x7fff + w>>16&1) >> 16); naive != 0x8000 {
		t.Fatalf("the shortcut gives %#x; this plant expects -0", naive)
	}
	if got := format.EncodeBF16(x); got != 0x7fc0 {
		t.Errorf("EncodeBF16 of a NaN is %#x, want 0x7fc0", got)
	}
}
