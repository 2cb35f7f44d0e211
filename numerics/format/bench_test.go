package format_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/assay-suite/assay/numerics/format"
)

// benchN values: 128 KiB as fp32, so that source and target stay in a second-level cache.
const benchN = 1 << 15

func values(b *testing.B, n int) {
	b.Helper()
	b.SetBytes(int64(n))
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gvalues/s")
}

func BenchmarkDecodeFloat32(b *testing.B) {
	raw := make([]byte, 4*benchN)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range raw {
		raw[i] = byte(r.Uint32())
	}
	dst := make([]float32, 0, benchN)
	for _, f := range format.All() {
		if f.Width() == 6 {
			continue
		}
		b.Run(f.Name, func(b *testing.B) {
			for b.Loop() {
				if _, err := format.AppendFloat32(dst, f, raw[:benchN*f.Width()/8]); err != nil {
					b.Fatal(err)
				}
			}
			values(b, benchN)
		})
	}
}

func gauss() (x []float64, x32 []float32) {
	x, x32 = make([]float64, benchN), make([]float32, benchN)
	r := rand.New(rand.NewPCG(3, 4))
	for i := range x {
		x32[i] = float32(r.NormFloat64())
		x[i] = float64(x32[i])
	}
	return x, x32
}

func BenchmarkEncode(b *testing.B) {
	x, x32 := gauss()
	// anything mixes subnormals, overflow, infinity and NaN, so that a branch on the data would show.
	anything := make([]float32, benchN)
	r := rand.New(rand.NewPCG(5, 6))
	for i := range anything {
		anything[i] = math.Float32frombits(r.Uint32())
	}
	dst := make([]byte, 0, 4*benchN)
	for _, row := range []struct {
		name string
		f    format.Format
		s    format.Saturation
		x    []float32
	}{
		{"bf16", format.BF16, format.Overflow, x32},
		{"bf16-anything", format.BF16, format.Overflow, anything},
		{"e4m3fn", format.E4M3FN, format.Saturate, x32},
		{"e4m3fn-anything", format.E4M3FN, format.Saturate, anything},
		{"e5m2", format.E5M2, format.Saturate, x32},
		{"e2m1", format.E2M1, format.Saturate, x32},
	} {
		b.Run(row.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := format.AppendEncoded(dst, row.f, row.x, format.RN, row.s); err != nil {
					b.Fatal(err)
				}
			}
			values(b, benchN)
		})
	}
	var sink uint32
	for _, f := range []format.Format{format.BF16, format.E4M3FN} {
		b.Run(f.Name+"-generic", func(b *testing.B) {
			for b.Loop() {
				for _, v := range x {
					sink += f.Encode(v, format.RN, format.Saturate)
				}
			}
			values(b, benchN)
		})
	}
	_ = sink
}

func BenchmarkRound(b *testing.B) {
	x, _ := gauss()
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

func BenchmarkQuantise(b *testing.B) {
	_, x := gauss()
	for _, name := range []string{"v4-fp8", "torch-blockfp8", "ocp-mxfp8", "v4-fp4", "modelopt-nvfp4"} {
		r, err := format.RecipeByName(name)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := r.Quantise(x, benchN/256, 256); err != nil {
					b.Fatal(err)
				}
			}
			values(b, benchN)
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
