package checkpoint

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/safetensors"
)

// Every code of every 8-bit dtype, and every code of the 16-bit ones, in every lane of a word between
// harmless neighbours: the word must be special exactly when the code, decoded by numerics/format (vouched
// for by ml_dtypes), is NaN or infinite, or in bf16 2^16 or more, and not positive exactly when the value is not.
func TestWordsAgreeWithDecodedCodes(t *testing.T) {
	for _, d := range []safetensors.DType{
		safetensors.F8E4M3, safetensors.F8E5M2, safetensors.F8E8M0, safetensors.BF16, safetensors.F16,
	} {
		f, err := format.ByDType(string(d))
		require.NoError(t, err)
		l := lanesOf(d)
		for lane := range 8 / l.width {
			for code := range f.Codes() {
				for _, neighbour := range []byte{0x01, 0x3c, 0x7b, 0xbb} { // finite and not zero in each of these dtypes
					b := bytes.Repeat([]byte{neighbour}, 8)
					if l.width == 2 {
						binary.LittleEndian.PutUint16(b[2*lane:], uint16(code))
					} else {
						b[lane] = byte(code)
					}
					v, n := f.Decode(uint32(code)), f.Decode(uint32(neighbour)*pair(l.width))
					odd := func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }
					seen := func(x float64) bool { return odd(x) || d == safetensors.BF16 && math.Abs(x) >= 65536 }
					if got, want := special(b, l) != 0, seen(v) || seen(n); got != want {
						t.Fatalf("%s: code %#x in lane %d beside %#x: special %v, decoded %g and %g", d, code, lane, neighbour, got, v, n)
					}
					if !l.sign || odd(v) {
						continue
					}
					if got, want := notPositive(b, l), !(v > 0) || !(n > 0); got != want {
						t.Fatalf("%s: code %#x in lane %d beside %#x: not positive %v, decoded %g and %g", d, code, lane, neighbour, got,
							v, n)
					}
				}
			}
		}
	}
}

// pair repeats a byte over an element.
func pair(width int) uint32 {
	if width == 2 {
		return 0x101
	}
	return 1
}

// fp32 and fp64 by exponent edges, each with and without sign and mantissa.
func TestWideWords(t *testing.T) {
	check := func(d safetensors.DType, b []byte, want bool) {
		t.Helper()
		if got := special(b, lanesOf(d)) != 0; got != want {
			t.Errorf("%s % x: special %v, want %v", d, b, got, want)
		}
	}
	for _, bits := range []uint32{
		0, 1, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fffffff, 0x00800000, 0x40000000, 0x477fffff, 0x47800000,
	} {
		for _, sign := range []uint32{0, 1 << 31} {
			for _, lane := range []int{0, 4} {
				b := make([]byte, 8)
				binary.LittleEndian.PutUint32(b[lane:], bits|sign)
				v := float64(math.Float32frombits(bits | sign))
				check(safetensors.F32, b, !(math.Abs(v) < 65536))
			}
		}
	}
	for _, v := range []float64{0, 1, -math.MaxFloat64, math.Inf(-1), math.NaN(), 5e-324} {
		b := binary.LittleEndian.AppendUint64(nil, math.Float64bits(v))
		check(safetensors.F64, b, math.IsNaN(v) || math.IsInf(v, 0))
	}
}

// Block maxima and the largest scale, against the decoded codes of random blocks.
func TestTopsAgreeWithDecodedBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(20261129, 7))
	for range 20_000 {
		b := make([]byte, 16)
		keep := byte(rng.IntN(256)) // thin blocks, so that some are empty and some lack a top code
		for i := range b {
			if b[i] = byte(rng.Uint32()) & keep; rng.IntN(4) > 0 {
				b[i] &= 0xbb
			}
		}
		codes, err := format.UnpackCodes(format.E2M1, b)
		require.NoError(t, err)
		largest := func(c []uint32) (m float64) {
			for _, x := range c {
				m = max(m, math.Abs(format.E2M1.Decode(x)))
			}
			return m
		}
		count := func(m float64, from float64) (top, zero int) {
			if m >= from {
				top = 1
			}
			if m == 0 {
				zero = 1
			}
			return top, zero
		}
		wantT, wantZ := count(largest(codes), 3)
		if top, zero := topsMXFP4(b); top != wantT || zero != wantZ {
			t.Fatalf("mxfp4 % x: top %d zero %d, decoded %d %d", b, top, zero, wantT, wantZ)
		}
		t0, z0 := count(largest(codes[:16]), 6)
		t1, z1 := count(largest(codes[16:]), 6)
		if top, zero := topsNVFP4(b); top != t0+t1 || zero != z0+z1 {
			t.Fatalf("nvfp4 % x: top %d zero %d, decoded %d %d", b, top, zero, t0+t1, z0+z1)
		}
		m := uint8(0)
		for _, x := range b {
			m = max(m, x&0x7f)
		}
		if got := maxCode(b, 0); got != m {
			t.Fatalf("largest code of % x is %#x, want %#x", b, got, m)
		}
		if got := maxCode(b, 0x60); got != max(m, 0x60) {
			t.Fatalf("largest code of % x above 0x60 is %#x", b, got)
		}
	}
}

// A special value at every place of odd-sized tensors is found there, whatever window and part it falls into.
func TestScanFindsEveryPlace(t *testing.T) {
	for _, n := range []int{1, 3, 7, 8, 9, 63, 64, 65, 100, 257} {
		for at := range n {
			raw := make([]byte, 2*n)
			for i := range n {
				binary.LittleEndian.PutUint16(raw[2*i:], uint16(0x3f80+i%7))
			}
			binary.LittleEndian.PutUint16(raw[2*at:], 0x7fc0)
			info := safetensors.Info{DType: safetensors.BF16, Shape: []int{n}, Size: int64(len(raw))}
			j := newJob(&tensor{info: &info})
			j.repeat(append(raw[:2:2], 0, 0, 0, 0, 0, 0))
			var r result
			for off := 0; off < len(raw); off += 64 { // windows of the smallest size
				var part result
				j.piece(&part, int64(off), raw[off:min(off+64, len(raw))])
				r.merge(part)
			}
			if r.nans != 1 || r.firstNaN != int64(at) {
				t.Fatalf("NaN at %d of %d: found %d, first at %d", at, n, r.nans, r.firstNaN)
			}
			if wantVaried := n > 1; r.differs != wantVaried || !r.nonzero {
				t.Fatalf("%d elements: differs %v, nonzero %v", n, r.differs, r.nonzero)
			}
		}
	}
}
