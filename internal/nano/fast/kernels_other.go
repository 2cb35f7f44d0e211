//go:build !amd64 || purego

package fast

const simd = false

// Assembly does nothing: there is none here.
func Assembly(bool) (undo func()) { return func() {} }

// What follows is called nowhere, since simd is false.

func gemm6x16AVX2(c *float32, ldc int, a *float32, lda int, b *float32, k int) {}

func gemm1x64AVX2(c, a, b *float32, k int) {}

func gemm1x16AVX2(c, a, b *float32, k int) {}

func dots4AVX2(z, q, rows *float32, idx *int32, n, w int) {}

func index4AVX2(out *float64, q, w4, keys *float32, n, w int) {}

func weigh4AVX2(o, p, rows *float32, idx *int32, n, w int) {}

func softmax4AVX2(z *float32, pairs int, scale float32, out *[8]float32) {}

func expAVX2(x *float32, n int) {}

func gateAVX2(z, u *float32, n int, limit float32) {}

func narrowAVX2(dst *float32, src *float64, n int) {}

func widenAVX2(dst *float64, src *float32, n int) {}

func sumSquaresAVX2(x *float64, n int) float64 { return 0 }

func scaleAVX2(y, x, w *float64, r float64, n int) {}

func collapse4AVX2(y, x *float64, pre *[4]float64, n int) {}

func spread4AVX2(out, f, x *float64, coef *[80]float64, n int) {}
