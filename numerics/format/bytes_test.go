package format_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/numerics/format"
)

func TestDecodeBytes(t *testing.T) {
	for _, row := range []struct {
		name string
		f    format.Format
		raw  []byte
		want []float64
	}{
		{"fp32 little-endian", format.FP32, []byte{0, 0, 0x80, 0x3f, 0, 0, 0x20, 0xc1}, []float64{1, -10}},
		{"bf16", format.BF16, []byte{0x80, 0x3f, 0x20, 0xc1}, []float64{1, -10}},
		{"fp16", format.FP16, []byte{0x00, 0x3c, 0xff, 0x7b}, []float64{1, 65504}},
		{"tf32 ignores low bits", format.TF32, []byte{0xff, 0x1f, 0x80, 0x3f}, []float64{1}},
		{"e4m3", format.E4M3FN, []byte{0x38, 0xfe, 0x01}, []float64{1, -448, 0x1p-9}},
		{"e8m0", format.E8M0, []byte{127, 0, 254}, []float64{1, 0x1p-127, 0x1p127}},
		{"e2m1 low nibble first", format.E2M1, []byte{0x72, 0x9f}, []float64{1, 6, -6, -0.5}},
		// codes 1, 2, 3, 0x3f: 1 | 2<<6 | 3<<12 | 63<<18 = 0xfc3081
		{"e2m3 from the lowest bit", format.E2M3, []byte{0x81, 0x30, 0xfc}, []float64{.125, .25, .375, -7.5}},
		{"empty", format.E3M2, nil, []float64{}},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := format.DecodeBytes(row.f, row.raw)
			require.NoError(t, err)
			if d := cmp.Diff(row.want, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			f32, err := format.AppendFloat32([]float32{42}, row.f, row.raw)
			require.NoError(t, err)
			want := []float32{42}
			for _, v := range row.want {
				want = append(want, float32(v))
			}
			assert.Equal(t, want, f32)
		})
	}
}

// The fast slice decoders equal Decode on every code, and packing is the inverse of unpacking.
func TestDecodeBytesAllCodes(t *testing.T) {
	for _, f := range format.All() {
		if f.Width() > 16 {
			continue
		}
		codes := make([]uint32, f.Codes())
		want := make([]float64, len(codes))
		for c := range codes {
			codes[c], want[c] = uint32(c), f.Decode(uint32(c))
		}
		raw, err := format.PackCodes(f, codes)
		require.NoError(t, err)
		got, err := format.DecodeBytes(f, raw)
		require.NoError(t, err)
		if d := cmp.Diff(want, got, cmpopts.EquateNaNs()); d != "" {
			t.Errorf("%v (-want +got)\n%s", f, d)
		}
		back, err := format.UnpackCodes(f, raw)
		require.NoError(t, err)
		assert.Equal(t, codes, back, f.Name)
	}
}

func TestBytesErrors(t *testing.T) {
	_, err := format.DecodeBytes(format.BF16, make([]byte, 3))
	assert.ErrorContains(t, err, "3 bytes are no multiple")
	_, err = format.DecodeBytes(format.E2M3, make([]byte, 4))
	assert.ErrorContains(t, err, "groups of four")
	_, err = format.AppendFloat32(nil, format.Format{Name: "x", ExpBits: 4, ManBits: 3}, nil)
	assert.ErrorContains(t, err, "no rule")
	_, err = format.UnpackCodes(format.FP32, make([]byte, 5))
	assert.Error(t, err)
	_, err = format.PackCodes(format.E2M1, []uint32{1, 16})
	assert.ErrorContains(t, err, "0x10 at 1")
	_, err = format.PackCodes(format.E2M1, []uint32{1})
	assert.ErrorContains(t, err, "whole bytes")
}
