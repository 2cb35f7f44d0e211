//go:build !purego

#include "textflag.h"

// func cpuid(leaf, sub uint32) (a, b, c, d uint32)
TEXT ·cpuid(SB), NOSPLIT, $0-24
	MOVL leaf+0(FP), AX
	MOVL sub+4(FP), CX
	CPUID
	MOVL AX, a+8(FP)
	MOVL BX, b+12(FP)
	MOVL CX, c+16(FP)
	MOVL DX, d+20(FP)
	RET

// func xgetbv() uint32
TEXT ·xgetbv(SB), NOSPLIT, $0-4
	XORL CX, CX
	XGETBV
	MOVL AX, ret+0(FP)
	RET

// One step of gemm6x16AVX2: element k of six rows of a against 16 columns of b.
#define STEP6X16(ka, kb) \
	VMOVUPS      kb(DX), Y12            \
	VMOVUPS      (kb+32)(DX), Y13       \
	VBROADCASTSS ka(AX), Y14            \
	VBROADCASTSS ka(AX)(BX*1), Y15      \
	VFMADD231PS  Y12, Y14, Y0           \
	VFMADD231PS  Y13, Y14, Y1           \
	VFMADD231PS  Y12, Y15, Y2           \
	VFMADD231PS  Y13, Y15, Y3           \
	VBROADCASTSS ka(AX)(BX*2), Y14      \
	VBROADCASTSS ka(R9), Y15            \
	VFMADD231PS  Y12, Y14, Y4           \
	VFMADD231PS  Y13, Y14, Y5           \
	VFMADD231PS  Y12, Y15, Y6           \
	VFMADD231PS  Y13, Y15, Y7           \
	VBROADCASTSS ka(R9)(BX*1), Y14      \
	VBROADCASTSS ka(R9)(BX*2), Y15      \
	VFMADD231PS  Y12, Y14, Y8           \
	VFMADD231PS  Y13, Y14, Y9           \
	VFMADD231PS  Y12, Y15, Y10          \
	VFMADD231PS  Y13, Y15, Y11

// func gemm6x16AVX2(c *float32, ldc int, a *float32, lda int, b *float32, k int)
TEXT ·gemm6x16AVX2(SB), NOSPLIT, $0-48
	MOVQ   c+0(FP), DI
	MOVQ   ldc+8(FP), SI
	MOVQ   a+16(FP), AX
	MOVQ   lda+24(FP), BX
	MOVQ   b+32(FP), DX
	MOVQ   k+40(FP), CX
	SHLQ   $2, SI
	SHLQ   $2, BX
	LEAQ   (BX)(BX*2), R9
	ADDQ   AX, R9
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	VXORPS Y8, Y8, Y8
	VXORPS Y9, Y9, Y9
	VXORPS Y10, Y10, Y10
	VXORPS Y11, Y11, Y11

gemm6loop:
	STEP6X16(0, 0)
	STEP6X16(4, 64)
	STEP6X16(8, 128)
	STEP6X16(12, 192)
	ADDQ $16, AX
	ADDQ $16, R9
	ADDQ $256, DX
	SUBQ $4, CX
	JG   gemm6loop

	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	ADDQ    SI, DI
	VMOVUPS Y2, (DI)
	VMOVUPS Y3, 32(DI)
	ADDQ    SI, DI
	VMOVUPS Y4, (DI)
	VMOVUPS Y5, 32(DI)
	ADDQ    SI, DI
	VMOVUPS Y6, (DI)
	VMOVUPS Y7, 32(DI)
	ADDQ    SI, DI
	VMOVUPS Y8, (DI)
	VMOVUPS Y9, 32(DI)
	ADDQ    SI, DI
	VMOVUPS Y10, (DI)
	VMOVUPS Y11, 32(DI)
	VZEROUPPER
	RET

// func gemm1x64AVX2(c, a, b *float32, k int)
// Four panels of 16 columns, which lie 64*k bytes apart.
TEXT ·gemm1x64AVX2(SB), NOSPLIT, $0-32
	MOVQ   c+0(FP), DI
	MOVQ   a+8(FP), AX
	MOVQ   b+16(FP), DX
	MOVQ   k+24(FP), CX
	MOVQ   CX, BX
	SHLQ   $6, BX
	LEAQ   (BX)(BX*2), R9
	ADDQ   DX, R9
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7

gemm1x64loop:
	VBROADCASTSS (AX), Y8
	VFMADD231PS  (DX), Y8, Y0
	VFMADD231PS  32(DX), Y8, Y1
	VFMADD231PS  (DX)(BX*1), Y8, Y2
	VFMADD231PS  32(DX)(BX*1), Y8, Y3
	VFMADD231PS  (DX)(BX*2), Y8, Y4
	VFMADD231PS  32(DX)(BX*2), Y8, Y5
	VFMADD231PS  (R9), Y8, Y6
	VFMADD231PS  32(R9), Y8, Y7
	ADDQ         $4, AX
	ADDQ         $64, DX
	ADDQ         $64, R9
	DECQ         CX
	JNZ          gemm1x64loop

	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, 64(DI)
	VMOVUPS Y3, 96(DI)
	VMOVUPS Y4, 128(DI)
	VMOVUPS Y5, 160(DI)
	VMOVUPS Y6, 192(DI)
	VMOVUPS Y7, 224(DI)
	VZEROUPPER
	RET

// func gemm1x16AVX2(c, a, b *float32, k int)
TEXT ·gemm1x16AVX2(SB), NOSPLIT, $0-32
	MOVQ   c+0(FP), DI
	MOVQ   a+8(FP), AX
	MOVQ   b+16(FP), DX
	MOVQ   k+24(FP), CX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1

gemm1x16loop:
	VBROADCASTSS (AX), Y8
	VFMADD231PS  (DX), Y8, Y0
	VFMADD231PS  32(DX), Y8, Y1
	ADDQ         $4, AX
	ADDQ         $64, DX
	DECQ         CX
	JNZ          gemm1x16loop

	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VZEROUPPER
	RET

// DOTS leaves in Y0 the products of four heads of q with the row at R8 (lower half) and the row at R12 (upper half).
// q's heads begin at R11, AX, BX and DX, R10 is the width in bytes. It changes R13, Y0 to Y10.
#define DOTS(loop) \
	VXORPS      Y0, Y0, Y0       \
	VXORPS      Y1, Y1, Y1       \
	VXORPS      Y2, Y2, Y2       \
	VXORPS      Y3, Y3, Y3       \
	VXORPS      Y4, Y4, Y4       \
	VXORPS      Y5, Y5, Y5       \
	VXORPS      Y6, Y6, Y6       \
	VXORPS      Y7, Y7, Y7       \
	XORQ        R13, R13         \
loop:                          \
	VMOVUPS     (R8)(R13*1), Y8  \
	VMOVUPS     (R12)(R13*1), Y9 \
	VMOVUPS     (R11)(R13*1), Y10 \
	VFMADD231PS Y8, Y10, Y0      \
	VFMADD231PS Y9, Y10, Y4      \
	VMOVUPS     (AX)(R13*1), Y10 \
	VFMADD231PS Y8, Y10, Y1      \
	VFMADD231PS Y9, Y10, Y5      \
	VMOVUPS     (BX)(R13*1), Y10 \
	VFMADD231PS Y8, Y10, Y2      \
	VFMADD231PS Y9, Y10, Y6      \
	VMOVUPS     (DX)(R13*1), Y10 \
	VFMADD231PS Y8, Y10, Y3      \
	VFMADD231PS Y9, Y10, Y7      \
	ADDQ        $32, R13         \
	CMPQ        R13, R10         \
	JLT         loop             \
	VHADDPS     Y1, Y0, Y0       \
	VHADDPS     Y3, Y2, Y2       \
	VHADDPS     Y2, Y0, Y0       \
	VHADDPS     Y5, Y4, Y4       \
	VHADDPS     Y7, Y6, Y6       \
	VHADDPS     Y6, Y4, Y4       \
	VPERM2F128  $0x20, Y4, Y0, Y1 \
	VPERM2F128  $0x31, Y4, Y0, Y2 \
	VADDPS      Y2, Y1, Y0

// func dots4AVX2(z, q, rows *float32, idx *int32, n, w int)
// n is even; z [n][4], q [4][w], rows of w.
TEXT ·dots4AVX2(SB), NOSPLIT, $0-48
	MOVQ z+0(FP), DI
	MOVQ q+8(FP), R11
	MOVQ rows+16(FP), SI
	MOVQ idx+24(FP), R9
	MOVQ n+32(FP), CX
	MOVQ w+40(FP), R10
	SHLQ $2, R10
	LEAQ (R11)(R10*1), AX
	LEAQ (AX)(R10*1), BX
	LEAQ (BX)(R10*1), DX

dots4rows:
	MOVLQSX (R9), R8
	MOVLQSX 4(R9), R12
	IMULQ   R10, R8
	IMULQ   R10, R12
	ADDQ    SI, R8
	ADDQ    SI, R12
	DOTS(dots4loop)
	VMOVUPS Y0, (DI)
	ADDQ    $32, DI
	ADDQ    $8, R9
	SUBQ    $2, CX
	JG      dots4rows
	VZEROUPPER
	RET

// func index4AVX2(out *float64, q, w4, keys *float32, n, w int)
// n is even; keys [n][w] one after the other, q [4][w], w4 four weights twice.
TEXT ·index4AVX2(SB), NOSPLIT, $0-48
	MOVQ    out+0(FP), DI
	MOVQ    q+8(FP), R11
	MOVQ    w4+16(FP), R9
	MOVQ    keys+24(FP), R8
	MOVQ    n+32(FP), CX
	MOVQ    w+40(FP), R10
	SHLQ    $2, R10
	LEAQ    (R11)(R10*1), AX
	LEAQ    (AX)(R10*1), BX
	LEAQ    (BX)(R10*1), DX
	LEAQ    (R8)(R10*1), R12
	VMOVUPS (R9), Y15
	VXORPS  Y14, Y14, Y14

index4rows:
	DOTS(index4loop)
	VMAXPS       Y0, Y14, Y0   // a NaN stays
	VMULPS       Y15, Y0, Y0
	VHADDPS      Y0, Y0, Y0
	VHADDPS      Y0, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VUNPCKLPS    X1, X0, X0
	VCVTPS2PD    X0, X0
	VMOVUPD      X0, (DI)
	ADDQ         $16, DI
	LEAQ         (R8)(R10*2), R8
	LEAQ         (R12)(R10*2), R12
	SUBQ         $2, CX
	JG           index4rows
	VZEROUPPER
	RET

// func weigh4AVX2(o, p, rows *float32, idx *int32, n, w int)
// o [4][w] gains the sum over n rows of p [n][4] times the row; w is a multiple of 16.
TEXT ·weigh4AVX2(SB), NOSPLIT, $0-48
	MOVQ o+0(FP), DI
	MOVQ rows+16(FP), SI
	MOVQ w+40(FP), R10
	SHLQ $2, R10
	MOVQ R10, DX          // bytes of the row left
	LEAQ (R10)(R10*2), R13

weigh4block:
	MOVQ    p+8(FP), AX
	MOVQ    idx+24(FP), R9
	MOVQ    n+32(FP), CX
	VMOVUPS (DI), Y0
	VMOVUPS 32(DI), Y1
	VMOVUPS (DI)(R10*1), Y2
	VMOVUPS 32(DI)(R10*1), Y3
	VMOVUPS (DI)(R10*2), Y4
	VMOVUPS 32(DI)(R10*2), Y5
	VMOVUPS (DI)(R13*1), Y6
	VMOVUPS 32(DI)(R13*1), Y7

weigh4rows:
	MOVLQSX      (R9), R8
	IMULQ        R10, R8
	VMOVUPS      (SI)(R8*1), Y8
	VMOVUPS      32(SI)(R8*1), Y9
	VBROADCASTSS (AX), Y10
	VBROADCASTSS 4(AX), Y11
	VBROADCASTSS 8(AX), Y12
	VBROADCASTSS 12(AX), Y13
	VFMADD231PS  Y8, Y10, Y0
	VFMADD231PS  Y9, Y10, Y1
	VFMADD231PS  Y8, Y11, Y2
	VFMADD231PS  Y9, Y11, Y3
	VFMADD231PS  Y8, Y12, Y4
	VFMADD231PS  Y9, Y12, Y5
	VFMADD231PS  Y8, Y13, Y6
	VFMADD231PS  Y9, Y13, Y7
	ADDQ         $16, AX
	ADDQ         $4, R9
	DECQ         CX
	JNZ          weigh4rows

	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, (DI)(R10*1)
	VMOVUPS Y3, 32(DI)(R10*1)
	VMOVUPS Y4, (DI)(R10*2)
	VMOVUPS Y5, 32(DI)(R10*2)
	VMOVUPS Y6, (DI)(R13*1)
	VMOVUPS Y7, 32(DI)(R13*1)
	ADDQ    $64, DI
	ADDQ    $64, SI
	SUBQ    $64, DX
	JG      weigh4block
	VZEROUPPER
	RET
