package format_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/numerics/format"
)

// facts are from OCP OFP8 1.0 table 1, OCP MX 1.0 tables 1-5, IEEE 754 and the ONNX page on 8-bit
// floats, not from this package.
type facts struct {
	Max, MinNormal, MinSubnormal, U float64
	Width                           int
	NegZero                         bool
}

func TestFacts(t *testing.T) {
	for _, row := range []struct {
		f    format.Format
		want facts
	}{
		{format.FP32, facts{math.MaxFloat32, 0x1p-126, 0x1p-149, 0x1p-24, 32, true}},
		{format.TF32, facts{(2 - 0x1p-10) * 0x1p127, 0x1p-126, 0x1p-136, 0x1p-11, 32, true}},
		{format.BF16, facts{(2 - 0x1p-7) * 0x1p127, 0x1p-126, 0x1p-133, 0x1p-8, 16, true}},
		{format.FP16, facts{65504, 0x1p-14, 0x1p-24, 0x1p-11, 16, true}},
		{format.E4M3FN, facts{448, 0x1p-6, 0x1p-9, 0x1p-4, 8, true}},
		{format.E5M2, facts{57344, 0x1p-14, 0x1p-16, 0x1p-3, 8, true}},
		{format.E4M3FNUZ, facts{240, 0x1p-7, 0x1p-10, 0x1p-4, 8, false}},
		{format.E5M2FNUZ, facts{57344, 0x1p-15, 0x1p-17, 0x1p-3, 8, false}},
		{format.E8M0, facts{0x1p127, 0x1p-127, 0x1p-127, 0x1p-1, 8, false}},
		{format.E2M1, facts{6, 1, 0.5, 0x1p-2, 4, true}},
		{format.E2M3, facts{7.5, 1, 0.125, 0x1p-4, 6, true}},
		{format.E3M2, facts{28, 0.25, 0.0625, 0x1p-3, 6, true}},
	} {
		t.Run(row.f.Name, func(t *testing.T) {
			f := row.f
			got := facts{f.Max(), f.MinNormal(), f.MinSubnormal(), f.U(), f.Width(), f.HasNegZero()}
			if d := cmp.Diff(row.want, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			assert.NoError(t, f.Validate())
			assert.Equal(t, f.Max(), f.Decode(f.MaxCode()))
			found, err := format.ByName(f.Name)
			require.NoError(t, err)
			assert.Equal(t, f, found)
		})
	}
}

func TestSpecialRules(t *testing.T) {
	inf, nan, negZero := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	for _, row := range []struct {
		name string
		f    format.Format
		x    float64
		s    format.Saturation
		want uint32
	}{
		{"e4m3 464 ties back", format.E4M3FN, 464, format.Overflow, 0x7e},
		{"e4m3 past 464 is NaN", format.E4M3FN, math.Nextafter(464, 500), format.Overflow, 0x7f},
		{"e4m3 inf saturates", format.E4M3FN, -inf, format.Saturate, 0xfe},
		{"e5m2 61440 overflows", format.E5M2, 61440, format.Overflow, 0x7c},
		{"fp16 65520 overflows", format.FP16, 65520, format.Overflow, 0x7c00},
		{"fp16 65520 saturates", format.FP16, 65520, format.Saturate, 0x7bff},
		{"bf16 last tie overflows", format.BF16, (2 - 0x1p-8) * 0x1p127, format.Overflow, 0x7f80},
		{"fnuz saturates finite", format.E4M3FNUZ, -1000, format.Saturate, 0xff},
		{"fnuz inf is NaN even so", format.E4M3FNUZ, inf, format.Saturate, 0x80},
		{"fnuz has no -0", format.E5M2FNUZ, -1e-30, format.Overflow, 0},
		{"bf16 keeps -0", format.BF16, negZero, format.Overflow, 0x8000},
		{"e2m1 keeps -0", format.E2M1, negZero, format.Overflow, 8},
		{"e2m1 NaN is +6 (ONNX)", format.E2M1, nan, format.Overflow, 7},
		{"e2m1 inf is 6", format.E2M1, -inf, format.Overflow, 15},
		{"e8m0 zero", format.E8M0, 0, format.Overflow, 255},
		{"e8m0 zero saturates", format.E8M0, 0, format.Saturate, 0},
		{"e8m0 negative", format.E8M0, -1, format.Saturate, 255},
		{"e8m0 tiny", format.E8M0, 5e-324, format.Overflow, 0},
		{"float64 subnormal to fp32", format.FP32, -5e-324, format.Overflow, 0x80000000},
		{"max float64 to fp32", format.FP32, math.MaxFloat64, format.Overflow, 0x7f800000},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := row.f.Encode(row.x, format.RN, row.s); got != row.want {
				t.Errorf("%v.Encode(%v, rn, %v) is %#x, want %#x", row.f, row.x, row.s, got, row.want)
			}
			if got, want := row.f.RoundTo(row.x, format.RN, row.s), row.f.Decode(row.want); !same(got, want) {
				t.Errorf("RoundTo gives %v, want %v", got, want)
			}
		})
	}
	assert.Equal(t, 0x1p-127, format.E8M0.Decode(0), "code 0 is fp32-subnormal, not 0")
	assert.True(t, math.IsNaN(format.E8M0.Decode(255)), "255 is NaN, not Inf")
	assert.Equal(t, uint32(7), format.FP32.Encode(7*0x1p-149, format.RN, format.Overflow))
	assert.Equal(t, format.FP32.Max(), format.FP32.Decode(format.FP32.Encode(1e300, format.RZ, format.Overflow)),
		"rz never overflows")
	// fp32 -> bf16 -> e4m3 is not fp32 -> e4m3: 17 + 2^-5 is just above the tie at 17; bf16 puts it on it.
	x := 17 + 0x1p-5
	assert.NotEqual(t, format.E4M3FN.Round(x), format.E4M3FN.Round(format.BF16.Round(x)))
}

// ONNX "Float stored in 8 bits", its two tables for Cast to the fp8 types: what becomes of values
// beyond the range with saturate on and off.
func TestONNXCastTables(t *testing.T) {
	big, inf, nan, negZero := 1e6, math.Inf(1), math.NaN(), math.Copysign(0, -1)
	type row struct{ big, negBig, inf, negInf, nan, negZero float64 }
	for _, c := range []struct {
		f        format.Format
		sat, ovf row
	}{
		{format.E4M3FN, row{448, -448, 448, -448, nan, negZero}, row{nan, nan, nan, nan, nan, negZero}},
		{format.E4M3FNUZ, row{240, -240, nan, nan, nan, 0}, row{nan, nan, nan, nan, nan, 0}},
		{format.E5M2, row{57344, -57344, 57344, -57344, nan, negZero}, row{inf, -inf, inf, -inf, nan, negZero}},
		{format.E5M2FNUZ, row{57344, -57344, nan, nan, nan, 0}, row{nan, nan, nan, nan, nan, 0}},
	} {
		for s, want := range map[format.Saturation]row{format.Saturate: c.sat, format.Overflow: c.ovf} {
			to := func(x float64) float64 { return c.f.Decode(c.f.Encode(x, format.RN, s)) }
			got := []float64{to(big), to(-big), to(inf), to(-inf), to(nan), to(negZero)}
			for i, w := range []float64{want.big, want.negBig, want.inf, want.negInf, want.nan, want.negZero} {
				if !same(got[i], w) {
					t.Errorf("%v, %v: column %d is %v, want %v", c.f, s, i, got[i], w)
				}
			}
		}
	}
}

// Reading an e8m0 code by shifting it into an fp32 exponent is right but for the two ends: code 0 is
// 2^-127, an fp32 subnormal, and 255 is NaN. A NaN whose payload lies in the 13 low bits is infinity
// once those are ignored: cvt.rna.tf32 on the H200 makes 8,191 of 0x7f800000, and Decode reads a raw
// word the same; Encode makes a NaN of them.
func TestShortcutsThatMissTheEnds(t *testing.T) {
	for c := range uint32(256) {
		shifted := float64(math.Float32frombits(c << 23))
		if wrong := !same(shifted, format.E8M0.Decode(c)); wrong != (c == 0 || c == 255) {
			t.Errorf("code %d: by a shift %v, decoded %v", c, shifted, format.E8M0.Decode(c))
		}
	}
	assert.True(t, math.IsInf(format.TF32.Decode(0x7f800001), 1))
	assert.Equal(t, uint32(0x7fc00000), format.EncodeTF32(math.Float32frombits(0x7f800001), format.RNA))
}

func TestUlpAndGaps(t *testing.T) {
	for _, row := range []struct {
		name              string
		f                 format.Format
		v, ulp, down, up_ float64
	}{
		{"e2m1 zero", format.E2M1, 0, .5, .5, .5},
		{"e2m1 2 is a power of two", format.E2M1, 2, 1, .5, 1},
		{"e2m1 -2", format.E2M1, -2, 1, 1, .5},
		{"e2m1 3", format.E2M1, 3, 1, 1, 1},
		{"e2m1 6, the end", format.E2M1, 6, 2, 2, 2},
		{"e4m3 448, the end", format.E4M3FN, 448, 32, 32, 32},
		{"e4m3 -448", format.E4M3FN, -448, 32, 32, 32},
		{"e4m3 smallest normal", format.E4M3FN, 0x1p-6, 0x1p-9, 0x1p-9, 0x1p-9},
		{"bf16 1", format.BF16, 1, 0x1p-7, 0x1p-8, 0x1p-7},
		{"e8m0 1", format.E8M0, 1, 1, .5, 1},
		{"fp32 1", format.FP32, 1, 0x1p-23, 0x1p-24, 0x1p-23},
	} {
		t.Run(row.name, func(t *testing.T) {
			down, up := row.f.Gaps(row.v)
			if row.f.Ulp(row.v) != row.ulp || down != row.down || up != row.up_ {
				t.Errorf("ulp %v, gaps %v and %v; want %v, %v, %v", row.f.Ulp(row.v), down, up, row.ulp, row.down, row.up_)
			}
		})
	}
	for _, f := range format.All() { // against the sorted table
		if f.Width() > 8 {
			continue
		}
		vals := magnitudes(f)
		for i := 1; i+1 < len(vals); i++ {
			down, up := f.Gaps(vals[i].v)
			if down != vals[i].v-vals[i-1].v || up != vals[i+1].v-vals[i].v {
				t.Errorf("%v gaps at %v are %v, %v", f, vals[i].v, down, up)
			}
		}
	}
	down, up := format.E2M1.Gaps(2.5)
	assert.True(t, math.IsNaN(down) && math.IsNaN(up), "2.5 is no e2m1 value")
	assert.Equal(t, 32.0, format.E4M3FN.Ulp(1e9), "beyond the end the last spacing stays")
	assert.True(t, math.IsNaN(format.BF16.Ulp(math.NaN())))
}

func TestByDType(t *testing.T) {
	for dtype, want := range map[string]format.Format{
		"F32": format.FP32, "BF16": format.BF16, "F16": format.FP16, "F8_E4M3": format.E4M3FN, "F8_E5M2": format.E5M2,
		"F8_E4M3FNUZ": format.E4M3FNUZ, "F8_E5M2FNUZ": format.E5M2FNUZ, "F8_E8M0": format.E8M0,
		"F6_E2M3": format.E2M3, "F6_E3M2": format.E3M2, "F4": format.E2M1,
	} {
		got, err := format.ByDType(dtype)
		require.NoError(t, err)
		assert.Equal(t, want, got, dtype)
	}
	_, err := format.ByDType("I64")
	assert.ErrorContains(t, err, `"I64"`)
	_, err = format.ByName("fp7")
	assert.ErrorContains(t, err, `"fp7"`)
}

func TestValidateRejects(t *testing.T) {
	for name, f := range map[string]format.Format{
		"SignBits":     {Name: "x", SignBits: 2, ExpBits: 4, ManBits: 3, Bias: 7},
		"exponent":     {Name: "x", SignBits: 1, ExpBits: 11, ManBits: 3, Bias: 7},
		"outside fp32": {Name: "x", SignBits: 1, ExpBits: 8, ManBits: 3, Bias: 0},
		"NaNCode":      format.E4M3FN.WithNaNCode(0x7e),
		"sign bit":     {Name: "x", ExpBits: 4, ManBits: 3, Bias: 7, NaN: format.NaNNegZero},
		"mantissa bit": {Name: "x", SignBits: 1, ExpBits: 4, Bias: 7, NaN: format.NaNIEEE},
		"infinities":   {Name: "x", SignBits: 1, ExpBits: 4, ManBits: 3, Bias: 7, Inf: true},
	} {
		assert.ErrorContains(t, f.Validate(), name)
	}
}
