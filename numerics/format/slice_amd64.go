//go:build !purego

package format

// hasAVX2 says whether processor and operating system have AVX2.
var hasAVX2 = detectAVX2()

func detectAVX2() bool {
	if top, _, _, _ := cpuid(0, 0); top < 7 {
		return false
	}
	_, _, c, _ := cpuid(1, 0)
	const osxsave, avx = 1 << 27, 1 << 28
	if c&osxsave == 0 || c&avx == 0 || xgetbv()&6 != 6 { // the system must save the YMM registers
		return false
	}
	_, b, _, _ := cpuid(7, 0)
	return b&(1<<5) != 0
}

func cpuid(leaf, sub uint32) (a, b, c, d uint32)

func xgetbv() uint32

// The assembly handles n values, n a positive multiple of 8; of 32 for decode8AVX2.

//go:noescape
func decode8AVX2(dst *float32, src *byte, n int, p *planes)

//go:noescape
func decode16AVX2(dst *float32, src *byte, n int)

//go:noescape
func encode8AVX2(dst *byte, src *float32, n int, k *narrow)

//go:noescape
func encode16AVX2(dst *byte, src *float32, n int, nan uint32)

func decode8(dst []float32, raw []byte, w *wide8) {
	n := min(len(dst), len(raw)) &^ 31
	if hasAVX2 && n > 0 {
		decode8AVX2(&dst[0], &raw[0], n, w.p)
		dst, raw = dst[n:], raw[n:]
	}
	decode8Go(dst, raw, w)
}

func decode16(dst []float32, raw []byte) {
	n := min(len(dst), len(raw)/2) &^ 7
	if hasAVX2 && n > 0 {
		decode16AVX2(&dst[0], &raw[0], n)
		dst, raw = dst[n:], raw[2*n:]
	}
	decode16Go(dst, raw)
}

func encode8(dst []byte, x []float32, k *narrow) {
	n := min(len(dst), len(x)) &^ 7
	if hasAVX2 && n > 0 {
		encode8AVX2(&dst[0], &x[0], n, k)
		dst, x = dst[n:], x[n:]
	}
	encode8Go(dst, x, k)
}

func encode16(dst []byte, x []float32, nan uint32) {
	n := min(len(dst)/2, len(x)) &^ 7
	if hasAVX2 && n > 0 {
		encode16AVX2(&dst[0], &x[0], n, nan)
		dst, x = dst[2*n:], x[n:]
	}
	encode16Go(dst, x, nan)
}
