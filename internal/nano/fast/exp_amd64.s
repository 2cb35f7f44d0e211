//go:build !purego

#include "textflag.h"

// Constants of exp: below, log2(e), ln(2) in two parts, the polynomial (Cephes expf), above.
DATA expTable<>+0(SB)/4, $-87.0
DATA expTable<>+4(SB)/4, $1.44269504088896341
DATA expTable<>+8(SB)/4, $0.693359375
DATA expTable<>+12(SB)/4, $-2.12194440e-4
DATA expTable<>+16(SB)/4, $1.9875691500e-4
DATA expTable<>+20(SB)/4, $1.3981999507e-3
DATA expTable<>+24(SB)/4, $8.3334519073e-3
DATA expTable<>+28(SB)/4, $4.1665795894e-2
DATA expTable<>+32(SB)/4, $1.6666665459e-1
DATA expTable<>+36(SB)/4, $5.0000001201e-1
DATA expTable<>+40(SB)/4, $87.0
GLOBL expTable<>(SB), RODATA|NOPTR, $44

DATA ones<>+0(SB)/8, $0x3f8000003f800000
DATA ones<>+8(SB)/8, $0x3f8000003f800000
DATA ones<>+16(SB)/8, $0x3f8000003f800000
DATA ones<>+24(SB)/8, $0x3f8000003f800000
GLOBL ones<>(SB), RODATA|NOPTR, $32

// LOADEXP puts the constants into Y5 to Y14.
#define LOADEXP \
	VBROADCASTSS expTable<>+0(SB), Y5   \
	VBROADCASTSS expTable<>+4(SB), Y6   \
	VBROADCASTSS expTable<>+8(SB), Y7   \
	VBROADCASTSS expTable<>+12(SB), Y8  \
	VBROADCASTSS expTable<>+16(SB), Y9  \
	VBROADCASTSS expTable<>+20(SB), Y10 \
	VBROADCASTSS expTable<>+24(SB), Y11 \
	VBROADCASTSS expTable<>+28(SB), Y12 \
	VBROADCASTSS expTable<>+32(SB), Y13 \
	VBROADCASTSS expTable<>+36(SB), Y14

// EXP replaces Y0, at most 88, by its exponential; it changes Y1 and Y2. The operands of VMAXPS are such that a NaN
// stays one.
#define EXP \
	VMAXPS       Y0, Y5, Y0    \
	VMULPS       Y6, Y0, Y1    \
	VROUNDPS     $0, Y1, Y1    \
	VFNMADD231PS Y7, Y1, Y0    \
	VFNMADD231PS Y8, Y1, Y0    \
	VMOVAPS      Y9, Y2        \
	VFMADD213PS  Y10, Y0, Y2   \
	VFMADD213PS  Y11, Y0, Y2   \
	VFMADD213PS  Y12, Y0, Y2   \
	VFMADD213PS  Y13, Y0, Y2   \
	VFMADD213PS  Y14, Y0, Y2   \
	VMULPS       Y0, Y2, Y2    \
	VFMADD213PS  Y0, Y0, Y2    \
	VADDPS       ones<>(SB), Y2, Y2 \
	VCVTPS2DQ    Y1, Y1        \
	VPSLLD       $23, Y1, Y1   \
	VPADDD       Y1, Y2, Y0

// func softmax4AVX2(z *float32, pairs int, scale float32, out *[8]float32)
// z [2*pairs][4] becomes exp(scale*z - top), out the four tops and the four sums.
TEXT ·softmax4AVX2(SB), NOSPLIT, $0-32
	MOVQ         z+0(FP), DI
	MOVQ         pairs+8(FP), CX
	VBROADCASTSS scale+16(FP), Y4
	MOVQ         out+24(FP), DX
	MOVQ         DI, SI
	MOVQ         CX, BX
	VMOVUPS      (SI), Y3

softmax4max:
	VMAXPS (SI), Y3, Y3
	ADDQ   $32, SI
	DECQ   BX
	JNZ    softmax4max

	VPERM2F128 $0x01, Y3, Y3, Y0
	VMAXPS     Y0, Y3, Y3
	VMULPS     Y4, Y3, Y3 // top of every head, in both halves
	VMOVUPS    X3, (DX)
	LOADEXP
	VXORPS     Y15, Y15, Y15

softmax4exp:
	VMOVUPS     (DI), Y0
	VFMSUB213PS Y3, Y4, Y0 // z*scale - top
	EXP
	VMOVUPS     Y0, (DI)
	VADDPS      Y0, Y15, Y15
	ADDQ        $32, DI
	DECQ        CX
	JNZ         softmax4exp

	VEXTRACTF128 $1, Y15, X1
	VADDPS       X1, X15, X15
	VMOVUPS      X15, 16(DX)
	VZEROUPPER
	RET

// func gateAVX2(z, u *float32, n int, limit float32)
// z becomes silu(min(z, limit)) * clamp(u, -limit, limit); n is a multiple of 8.
TEXT ·gateAVX2(SB), NOSPLIT, $0-28
	MOVQ         z+0(FP), DI
	MOVQ         u+8(FP), SI
	MOVQ         n+16(FP), CX
	LOADEXP

gateloop:
	VBROADCASTSS limit+24(FP), Y4
	VMOVUPS      (DI), Y3
	VMINPS       Y3, Y4, Y3
	VXORPS       Y0, Y0, Y0
	VSUBPS       Y3, Y0, Y0       // -z
	VBROADCASTSS expTable<>+40(SB), Y1
	VMINPS       Y0, Y1, Y0
	EXP
	VADDPS       ones<>(SB), Y0, Y0
	VDIVPS       Y0, Y3, Y3
	VMOVUPS      (SI), Y0
	VMINPS       Y0, Y4, Y0
	VXORPS       Y1, Y1, Y1
	VSUBPS       Y4, Y1, Y1
	VMAXPS       Y0, Y1, Y0
	VMULPS       Y0, Y3, Y3
	VMOVUPS      Y3, (DI)
	ADDQ         $32, DI
	ADDQ         $32, SI
	SUBQ         $8, CX
	JG           gateloop
	VZEROUPPER
	RET

// func expAVX2(x *float32, n int)
// x, at most 88, becomes its exponential; n is a multiple of 8.
TEXT ·expAVX2(SB), NOSPLIT, $0-16
	MOVQ x+0(FP), DI
	MOVQ n+8(FP), CX
	LOADEXP

exploop:
	VMOVUPS (DI), Y0
	EXP
	VMOVUPS Y0, (DI)
	ADDQ    $32, DI
	SUBQ    $8, CX
	JG      exploop
	VZEROUPPER
	RET
