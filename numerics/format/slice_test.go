package format_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/numerics/format"
)

// bitsOf returns the words, so that NaN payloads and the signs of zeros count.
func bitsOf(x []float32) []uint32 {
	w := make([]uint32, len(x))
	for i, v := range x {
		w[i] = math.Float32bits(v)
	}
	return w
}

var eightBit = []format.Format{format.E4M3FN, format.E5M2, format.E4M3FNUZ, format.E5M2FNUZ, format.E8M0}

// All 256 codes of every 8-bit format and all 65,536 of bf16 and fp16: the slice decoder (assembly
// where there is some) equals its pure Go twin bit for bit and Decode value for value.
func TestSliceDecodersOnAllCodes(t *testing.T) {
	raw := make([]byte, 256)
	for i := range raw {
		raw[i] = byte(i)
	}
	for _, f := range eightBit {
		got, err := format.AppendFloat32(nil, f, raw)
		require.NoError(t, err)
		twin := make([]float32, 256)
		format.Decode8Go(twin, raw, f)
		assert.Equal(t, bitsOf(twin), bitsOf(got), f.Name)
		for c, v := range got {
			if want := f.Decode(uint32(c)); !same(float64(v), want) {
				t.Errorf("%v: code %#x is %v in a slice, want %v", f, c, v, want)
			}
		}
	}
	raw = make([]byte, 2<<16)
	for i := range 1 << 16 {
		raw[2*i], raw[2*i+1] = byte(i), byte(i>>8)
	}
	twin := make([]float32, 1<<16)
	format.Decode16Go(twin, raw)
	for _, f := range []format.Format{format.BF16, format.FP16} {
		got, err := format.AppendFloat32(nil, f, raw)
		require.NoError(t, err)
		if f == format.BF16 {
			require.True(t, slices.Equal(bitsOf(twin), bitsOf(got)))
		}
		for c, v := range got {
			if want := f.Decode(uint32(c)); !same(float64(v), want) {
				t.Fatalf("%v: code %#x is %v in a slice, want %v", f, c, v, want)
			}
		}
	}
}

// encoders lists the slice encoders that have a fast way, with a pure Go twin where assembly exists.
var encoders = []struct {
	f    format.Format
	s    format.Saturation
	twin bool
}{
	{format.BF16, format.Overflow, true},
	{format.BF16.WithNaNCode(0x7fff), format.Overflow, true},
	{format.E4M3FN, format.Saturate, true},
	{format.E4M3FN, format.Overflow, true},
	{format.E5M2, format.Saturate, true},
	{format.E5M2.WithNaNCode(0x7f), format.Overflow, true},
	{format.E2M1, format.Saturate, false},
	{format.E2M1, format.Overflow, false},
	{format.E2M1.WithNaNCode(8), format.Saturate, false},
	{format.FP32, format.Overflow, false},
	{format.FP16, format.Saturate, false},
	{format.E3M2, format.Saturate, false},
}

// The slice encoders equal Encode and their twins on the sweep, which holds both sides of every tie
// of bf16 and of the narrower formats.
func TestSliceEncodersEqualEncode(t *testing.T) {
	var x []float32
	sweep(func(v float32) { x = append(x, v) })
	for _, row := range encoders {
		in := x
		if !row.twin {
			in = x[:len(x)/8&^3]
			for i := range in { // a stride through all of them
				in[i] = x[i*7%len(x)]
			}
		}
		got, err := format.AppendEncoded(nil, row.f, in, format.RN, row.s)
		require.NoError(t, err)
		codes, err := format.UnpackCodes(row.f, got)
		require.NoError(t, err)
		for i, c := range codes {
			if want := row.f.Encode(float64(in[i]), format.RN, row.s); c != want {
				t.Fatalf("%v %v of %v (%#08x) is %#x in a slice, want %#x", row.f, row.s, in[i], math.Float32bits(in[i]), c, want)
			}
		}
		if !row.twin {
			continue
		}
		twin := format.EncodeTwin(in, row.f, format.RN, row.s)
		require.True(t, slices.Equal(twin, got), row.f.Name)
	}
}

// Every length up to 40 at every alignment: the vector part and its tail meet, and nothing outside
// of the slice is written.
func TestSliceEdges(t *testing.T) {
	r := rand.New(rand.NewPCG(20261129, 5))
	x, raw := make([]float32, 64), make([]byte, 128)
	for i := range x {
		x[i] = float32(r.NormFloat64() * 100)
	}
	for i := range raw {
		raw[i] = byte(r.Uint32())
	}
	for _, f := range append([]format.Format{format.BF16, format.E2M1}, eightBit...) {
		w := f.Width()
		for n := 0; n <= 40; n += max(1, 8/w) {
			for at := range 9 {
				head := make([]float32, at, 128)
				for i := range cap(head) {
					head[:cap(head)][i] = 42
				}
				src := raw[at : at+n*w/8]
				got, err := format.AppendFloat32(head, f, src)
				require.NoError(t, err)
				require.Len(t, got, at+n)
				want, err := format.DecodeBytes(f, src)
				require.NoError(t, err)
				for i, v := range got[:cap(got)] {
					if in := i >= at && i < at+n; in && !same(float64(v), want[i-at]) || !in && v != 42 {
						t.Fatalf("%v: %d values at %d: element %d is %v", f, n, at, i, v)
					}
				}
				out := slices.Repeat([]byte{0xa5}, 256)
				enc, err := format.AppendEncoded(out[:at], f, x[at:at+n], format.RN, format.Saturate)
				require.NoError(t, err)
				require.Len(t, enc, at+n*w/8)
				codes, err := format.UnpackCodes(f, enc[at:])
				require.NoError(t, err)
				for i, c := range codes {
					require.Equal(t, f.Encode(float64(x[at+i]), format.RN, format.Saturate), c)
				}
				for i, b := range out {
					if b != 0xa5 && (i < at || i >= at+n*w/8) {
						t.Fatalf("%v: %d values at %d wrote byte %d", f, n, at, i)
					}
				}
			}
		}
	}
}

func TestAppendEncodedErrors(t *testing.T) {
	_, err := format.AppendEncoded(nil, format.E2M1, make([]float32, 3), format.RN, format.Saturate)
	assert.ErrorContains(t, err, "3 codes of 4 bits")
	_, err = format.AppendEncoded(nil, format.Format{Name: "x", ExpBits: 4, ManBits: 3}, nil, format.RN, format.Saturate)
	assert.ErrorContains(t, err, "no rule")
	b, err := format.AppendEncoded([]byte{1}, format.E4M3FN, nil, format.RN, format.Saturate)
	require.NoError(t, err)
	assert.Equal(t, []byte{1}, b)
}
