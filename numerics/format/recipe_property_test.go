package format_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/assay-suite/assay/numerics/format"
)

// scaleIsRight judges a power-of-two scale s of a block with largest magnitude amax > 0 by the
// definition of its rule in exact arithmetic. The fp32 quotient amax/M and its log2 are rounded, so
// near a power of two the neighbour is right too: slack says how near, in ulps of the quotient.
func scaleIsRight(r format.Recipe, amax float64, s float64) bool {
	m := r.Block.Element.Max()
	quotient := amax / m // float64, 29 bits finer than what it judges
	slack := 0x1p-22     // two fp32 roundings: the reciprocal and the product
	if r.Rule == format.ScaleCeilLog2 {
		slack = math.Max(slack, 0x1p-23*math.Abs(math.Log2(quotient))) // half an ulp of log2, times ln 2
	}
	if s == 0x1p-127 || s == 0x1p-126 && quotient < 0x1p-126 { // the smallest that is stored or made
		return quotient <= s*(1+slack)
	}
	switch r.Rule {
	case format.ScaleCeilBits, format.ScaleCeilLog2:
		return quotient <= s*(1+slack) && quotient > s/2*(1-slack)
	case format.ScaleFloorAmax:
		e := math.Floor(math.Log2(m))
		return s*math.Exp2(e) <= amax && amax < 2*s*math.Exp2(e)
	}
	return false
}

// Every recipe with power-of-two scales on random blocks: the scale is its rule's, and each code is
// the nearest, by the brute-force search, to the exact quotient.
func TestPowerOfTwoRecipesAgainstSearch(t *testing.T) {
	for _, r := range format.Recipes() {
		if r.Rule == format.ScaleLinear || r.Block.TensorScale {
			continue
		}
		vals := magnitudes(r.Block.Element)
		width := r.Block.Element.Width()
		t.Run(r.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				rows := rapid.IntRange(1, 3).Draw(t, "rows")
				cols := 4 * rapid.IntRange(1, 40).Draw(t, "quarter of the columns")
				top := rapid.IntRange(-30, 30).Draw(t, "binade")
				x := make([]float32, rows*cols)
				seed := rapid.Uint64().Draw(t, "seed")
				for i := range x {
					seed = seed*6364136223846793005 + 1442695040888963407
					v := math.Float32frombits(uint32(seed>>40&0xff)<<15 | 127<<23) // 8 random bits, so ties are met
					x[i] = float32(math.Ldexp(float64(v), top-int(seed>>56&15)))
					if seed>>63 == 1 {
						x[i] = -x[i]
					}
				}
				q, err := r.Quantise(x, rows, cols)
				if err != nil {
					t.Fatal(err)
				}
				codes, _ := format.UnpackCodes(r.Block.Element, q.Codes)
				scales, _ := format.DecodeBytes(r.Block.Scale, q.Scales)
				_, sc := r.Block.ScaleShape(rows, cols)
				amax := make([]float64, len(scales))
				for i, v := range x {
					b := i/cols/r.Block.BlockRows*sc + i%cols/r.Block.BlockCols
					amax[b] = math.Max(amax[b], math.Abs(float64(v)))
					want := nearest(r.Block.Element, vals, math.Abs(float64(v))/scales[b], r.Rounding)
					if want == 0xffff {
						want = r.Block.Element.MaxCode()
					}
					if v < 0 && (want != 0 || r.ZeroSign != format.SignCleared) {
						want |= 1 << (width - 1)
					}
					if codes[i] != want {
						t.Fatalf("%v under scale %v is code %#x, want %#x", v, scales[b], codes[i], want)
					}
				}
				for b, a := range amax {
					a = math.Max(a, math.Max(float64(r.AmaxFloor), float64(r.ScaleFloor)*r.Block.Element.Max()))
					if !scaleIsRight(r, a, scales[b]) {
						t.Fatalf("a block with amax %v has scale %v, which is not by %v", a, scales[b], r.Rule)
					}
				}
			})
		})
	}
}

// The recipes with fp32 scales or two levels: every dequantised value lies within half a step of the
// value, wherever it is not clipped, up to the three fp32 roundings on the way (scale, quotient and,
// for NVFP4, their product: 3 * 2^-24 of the value each way).
func TestOtherRecipesLieWithinHalfAStep(t *testing.T) {
	for _, r := range format.Recipes() {
		if r.Rule != format.ScaleLinear && !r.Block.TensorScale {
			continue
		}
		t.Run(r.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				const rows, cols = 2, 256
				x := rapid.SliceOfN(rapid.Float32Range(-100, 100), rows*cols, rows*cols).Draw(t, "x")
				x[0] = 100
				q, err := r.Quantise(x, rows, cols)
				if err != nil {
					t.Fatal(err)
				}
				v, err := r.Block.Decode(q)
				if err != nil {
					t.Fatal(err)
				}
				below, above, err := r.Block.HalfSteps(q)
				if err != nil {
					t.Fatal(err)
				}
				for i, w := range x {
					half := above[i]
					if float64(w) < v[i] {
						half = below[i]
					}
					if d := math.Abs(float64(w) - v[i]); d > half+3*0x1p-24*math.Abs(float64(w)) {
						t.Fatalf("element %d: %v became %v, %v half steps away", i, w, v[i], d/half)
					}
				}
			})
		})
	}
}

// NVFP4 scales against rational arithmetic: e4m3 of amax / (6 t), nearest even, t = amaxT / 2688, on
// blocks where the two fp32 roundings on the way cannot matter (the quotient is not near a tie).
func TestTwoLevelScalesAgainstRationals(t *testing.T) {
	vals := magnitudes(format.E4M3FN)
	for _, name := range []string{"modelopt-nvfp4", "nvfp4-multiply", "torch-nvfp4"} {
		r := recipe(t, name)
		judged := 0
		rapid.Check(t, func(t *rapid.T) {
			whole := rapid.Float32Range(1e-3, 1e3).Draw(t, "tensor amax")
			x := make([]float32, 32)
			x[0] = whole
			x[16] = whole * rapid.Float32Range(1e-5, 1).Draw(t, "share")
			q, err := r.Quantise(x, 1, 32)
			if err != nil {
				t.Fatal(err)
			}
			if q.Scales[0] != 0x7e {
				t.Fatalf("the largest block has scale code %#x, want that of 448", q.Scales[0])
			}
			exact := new(big.Rat).Quo(new(big.Rat).SetFloat64(float64(x[16])), new(big.Rat).SetFloat64(float64(whole)))
			exact.Mul(exact, big.NewRat(448, 1))
			v, _ := exact.Float64()
			v = math.Max(v, 0x1p-9)
			lo, hi := nearest(format.E4M3FN, vals, v*(1-0x1p-21), format.RN),
				nearest(format.E4M3FN, vals, v*(1+0x1p-21), format.RN)
			if lo != hi {
				return
			}
			judged++
			if uint32(q.Scales[1]) != lo {
				t.Fatalf("amax %v of %v has scale code %#x, want %#x", x[16], whole, q.Scales[1], lo)
			}
		})
		require.NotZero(t, judged)
	}
}
