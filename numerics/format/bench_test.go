package format_test

import (
	"math/rand/v2"
	"testing"

	"github.com/assay-suite/assay/numerics/format"
)

const benchN = 1 << 16

func values(b *testing.B, n int) {
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mvalues/s")
}

func BenchmarkDecodeBytes(b *testing.B) {
	raw := make([]byte, benchN)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range raw {
		raw[i] = byte(r.Uint32())
	}
	for _, f := range []format.Format{format.FP32, format.BF16, format.FP16, format.E4M3FN, format.E2M1} {
		b.Run(f.Name, func(b *testing.B) {
			dst := make([]float32, 0, 2*benchN)
			n := 0
			for b.Loop() {
				out, err := format.AppendFloat32(dst, f, raw)
				if err != nil {
					b.Fatal(err)
				}
				n = len(out)
			}
			values(b, n)
		})
	}
}

func gauss() []float64 {
	x := make([]float64, benchN)
	r := rand.New(rand.NewPCG(3, 4))
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x
}

func BenchmarkEncode(b *testing.B) {
	x := gauss()
	var sink uint32
	b.Run("bf16-generic", func(b *testing.B) {
		for b.Loop() {
			for _, v := range x {
				sink += format.BF16.Encode(v, format.RN, format.Overflow)
			}
		}
		values(b, len(x))
	})
	b.Run("bf16-fast", func(b *testing.B) {
		for b.Loop() {
			for _, v := range x {
				sink += uint32(format.EncodeBF16(float32(v)))
			}
		}
		values(b, len(x))
	})
	b.Run("e4m3-generic", func(b *testing.B) {
		for b.Loop() {
			for _, v := range x {
				sink += format.E4M3FN.Encode(v, format.RN, format.Saturate)
			}
		}
		values(b, len(x))
	})
	b.Run("e4m3-fast", func(b *testing.B) {
		for b.Loop() {
			for _, v := range x {
				sink += uint32(format.EncodeE4M3(float32(v)))
			}
		}
		values(b, len(x))
	})
	_ = sink
}

func BenchmarkRound(b *testing.B) {
	x := gauss()
	y := make([]float64, len(x))
	for _, f := range []format.Format{format.FP32, format.BF16, format.E4M3FN} {
		b.Run(f.Name, func(b *testing.B) {
			for b.Loop() {
				copy(y, x)
				f.RoundSlice(y)
			}
			values(b, len(x))
		})
	}
}

func BenchmarkBlockDecode(b *testing.B) {
	q := format.Quantised{Rows: 128, Cols: 512, Codes: make([]byte, 128*256), Scales: make([]byte, 128*16)}
	for b.Loop() {
		if _, err := format.MXFP4.Decode(q); err != nil {
			b.Fatal(err)
		}
	}
	values(b, 128*512)
}
