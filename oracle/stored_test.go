package oracle_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
)

// The second source (a zero has no sign here, no sum can see it): decoders written from the tables of the formats,
// scales picked by hand-written index arithmetic, and the sum taken block by block with the scales outside, as the
// kernels do.
var e2m1 = []float64{0, .5, 1, 1.5, 2, 3, 4, 6, 0, -.5, -1, -1.5, -2, -3, -4, -6}

func e4m3(code byte) float64 {
	sign, e, m := 1.0, int(code>>3&15), float64(code&7)
	if code>>7 == 1 {
		sign = -1
	}
	if e == 0 {
		return sign * m / 8 * math.Exp2(-6)
	}
	return sign * (1 + m/8) * math.Exp2(float64(e-7))
}

func e8m0(code byte) float64 { return math.Exp2(float64(code) - 127) }

func fp32At(raw []byte, i int) float64 {
	return float64(math.Float32frombits(uint32(raw[4*i]) | uint32(raw[4*i+1])<<8 | uint32(raw[4*i+2])<<16 |
		uint32(raw[4*i+3])<<24))
}

type operand struct {
	stored  oracle.Stored
	element func(n, k int) float64
	scale   func(n, k int) float64
}

// store fills a matrix with random codes (no NaN) and random scales, distinct and mostly not 1.
func store(r *rand.Rand, b format.Block, rows, cols int) operand {
	q := format.Quantised{Rows: rows, Cols: cols}
	sr, sc := b.ScaleShape(rows, cols)
	o := operand{}
	if b.Element == format.E2M1 {
		q.Codes = make([]byte, rows*cols/2)
		for i := range q.Codes {
			q.Codes[i] = byte(r.IntN(256))
		}
		o.element = func(n, k int) float64 { return e2m1[q.Codes[(n*cols+k)/2]>>(4*(k%2))&15] }
	} else {
		q.Codes = make([]byte, rows*cols)
		for i := range q.Codes {
			q.Codes[i] = byte(r.IntN(127)) | byte(r.IntN(2))<<7
		}
		o.element = func(n, k int) float64 { return e4m3(q.Codes[n*cols+k]) }
	}
	at := func(n, k int) int { return n/b.BlockRows*sc + k/b.BlockCols }
	switch b.Scale {
	case format.E8M0:
		for range sr * sc {
			q.Scales = append(q.Scales, byte(120+r.IntN(12)))
		}
		o.scale = func(n, k int) float64 { return e8m0(q.Scales[at(n, k)]) }
	case format.E4M3FN:
		for range sr * sc {
			q.Scales = append(q.Scales, byte(1+r.IntN(126)))
		}
		q.TensorScale = 0.0625
		o.scale = func(n, k int) float64 { return e4m3(q.Scales[at(n, k)]) * 0.0625 }
	default:
		for range sr * sc {
			bits := math.Float32bits(0.25 + r.Float32())
			q.Scales = append(q.Scales, byte(bits), byte(bits>>8), byte(bits>>16), byte(bits>>24))
		}
		o.scale = func(n, k int) float64 { return fp32At(q.Scales, at(n, k)) }
	}
	o.stored = oracle.Stored{Block: b, Quantised: q}
	return o
}

func TestStoredLinearEqualsBlockSums(t *testing.T) {
	for name, c := range map[string]struct {
		x, w format.Block
		n, k int
		step int // widest run of k under one pair of scales
	}{
		"V3.2 block fp8, short last blocks": {format.RowFP8, format.BlockFP8F32, 130, 192, 64},
		"V4 block fp8":                      {format.RowFP8E8M0, format.BlockFP8, 129, 256, 128},
		"V4 MXFP4 experts":                  {format.RowFP8E8M0, format.MXFP4, 5, 256, 32},
		"MXFP8 with MXFP4":                  {format.MXFP8, format.MXFP4, 5, 96, 32},
		"NVFP4 on both sides":               {format.NVFP4, format.NVFP4, 5, 64, 16},
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			x, w := store(r, c.x, 3, c.k), store(r, c.w, c.n, c.k)
			got, err := oracle.StoredLinear(x.stored, w.stored, 3)
			require.NoError(t, err)
			for m := range 3 {
				for n := range c.n {
					sum, size := 0.0, 0.0
					for from := 0; from < c.k; from += c.step {
						block := 0.0
						for k := from; k < from+c.step; k++ {
							p := x.element(m, k) * w.element(n, k)
							block += p
							size += math.Abs(p) * x.scale(m, from) * w.scale(n, from)
						}
						sum += block * x.scale(m, from) * w.scale(n, from)
					}
					// Either side is a float64 sum of at most 256 terms and 4 factors: 2·260 units of roundoff.
					if d := math.Abs(got.Row(m)[n] - 3*sum); d > 520*0x1p-53*3*size {
						t.Fatalf("[%d, %d] is %v, by blocks %v", m, n, got.Row(m)[n], 3*sum)
					}
				}
			}
		})
	}
}

func TestStoredLinearRefuses(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	x, w := store(r, format.RowFP8, 1, 128).stored, store(r, format.MXFP4, 2, 64).stored
	_, err := oracle.StoredLinear(x, w, 1)
	require.ErrorContains(t, err, "last axes")
	w = store(r, format.MXFP4, 2, 128).stored
	w.Scales = w.Scales[1:]
	_, err = oracle.StoredLinear(x, w, 1)
	require.ErrorContains(t, err, "stored linear: w")
}

// A NaN scale reaches its block's row alone.
func TestStoredNaNScale(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	x, w := store(r, format.RowFP8, 1, 64).stored, store(r, format.MXFP4, 2, 64).stored
	w.Scales[2] = 255
	got, err := oracle.StoredLinear(x, w, 1)
	require.NoError(t, err)
	if math.IsNaN(got.Data[0]) || !math.IsNaN(got.Data[1]) {
		t.Errorf("got %v", got.Data)
	}
}
