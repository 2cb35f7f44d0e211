//go:build !purego

package fast

// simd says whether the inner loops run as assembly.
var simd = detect()

// Assembly turns the assembly off, or on again where the processor has what it takes, and returns how to undo that. It
// is for tests of the loops in Go, while nothing else runs.
func Assembly(on bool) (undo func()) {
	was := simd
	simd = on && detect()
	return func() { simd = was }
}

// detect reports whether processor and operating system have AVX2 and FMA.
func detect() bool {
	if top, _, _, _ := cpuid(0, 0); top < 7 {
		return false
	}
	const fma, osxsave, avx, avx2 = 1 << 12, 1 << 27, 1 << 28, 1 << 5
	_, _, c, _ := cpuid(1, 0)
	if c&fma == 0 || c&osxsave == 0 || c&avx == 0 || xgetbv()&6 != 6 { // the system must save the YMM registers
		return false
	}
	_, b, _, _ := cpuid(7, 0)
	return b&avx2 != 0
}

func cpuid(leaf, sub uint32) (a, b, c, d uint32)

func xgetbv() uint32

//go:noescape
func gemm6x16AVX2(c *float32, ldc int, a *float32, lda int, b *float32, k int)

//go:noescape
func gemm1x64AVX2(c, a, b *float32, k int)

//go:noescape
func gemm1x16AVX2(c, a, b *float32, k int)

//go:noescape
func dots4AVX2(z, q, rows *float32, idx *int32, n, w int)

//go:noescape
func index4AVX2(out *float64, q, w4, keys *float32, n, w int)

//go:noescape
func weigh4AVX2(o, p, rows *float32, idx *int32, n, w int)

//go:noescape
func softmax4AVX2(z *float32, pairs int, scale float32, out *[8]float32)

//go:noescape
func expAVX2(x *float32, n int)

//go:noescape
func gateAVX2(z, u *float32, n int, limit float32)

//go:noescape
func narrowAVX2(dst *float32, src *float64, n int)

//go:noescape
func widenAVX2(dst *float64, src *float32, n int)

//go:noescape
func sumSquaresAVX2(x *float64, n int) float64

//go:noescape
func scaleAVX2(y, x, w *float64, r float64, n int)

//go:noescape
func collapse4AVX2(y, x *float64, pre *[4]float64, n int)

//go:noescape
func spread4AVX2(out, f, x *float64, coef *[80]float64, n int)
