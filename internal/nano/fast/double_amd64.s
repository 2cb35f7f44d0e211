//go:build !purego

#include "textflag.h"

// func narrowAVX2(dst *float32, src *float64, n int)
// n is a multiple of 8.
TEXT ·narrowAVX2(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX

narrowloop:
	VCVTPD2PSY  (SI), X0
	VCVTPD2PSY  32(SI), X1
	VMOVUPS     X0, (DI)
	VMOVUPS     X1, 16(DI)
	ADDQ        $64, SI
	ADDQ        $32, DI
	SUBQ        $8, CX
	JG          narrowloop
	VZEROUPPER
	RET

// func widenAVX2(dst *float64, src *float32, n int)
// n is a multiple of 8.
TEXT ·widenAVX2(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX

widenloop:
	VCVTPS2PD (SI), Y0
	VCVTPS2PD 16(SI), Y1
	VMOVUPD   Y0, (DI)
	VMOVUPD   Y1, 32(DI)
	ADDQ      $32, SI
	ADDQ      $64, DI
	SUBQ      $8, CX
	JG        widenloop
	VZEROUPPER
	RET

// func sumSquaresAVX2(x *float64, n int) float64
// n is a multiple of 16.
TEXT ·sumSquaresAVX2(SB), NOSPLIT, $0-24
	MOVQ   x+0(FP), SI
	MOVQ   n+8(FP), CX
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3

squaresloop:
	VMOVUPD     (SI), Y4
	VMOVUPD     32(SI), Y5
	VMOVUPD     64(SI), Y6
	VMOVUPD     96(SI), Y7
	VFMADD231PD Y4, Y4, Y0
	VFMADD231PD Y5, Y5, Y1
	VFMADD231PD Y6, Y6, Y2
	VFMADD231PD Y7, Y7, Y3
	ADDQ        $128, SI
	SUBQ        $16, CX
	JG          squaresloop

	VADDPD       Y1, Y0, Y0
	VADDPD       Y3, Y2, Y2
	VADDPD       Y2, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPD       X1, X0, X0
	VHADDPD      X0, X0, X0
	VMOVSD       X0, ret+16(FP)
	VZEROUPPER
	RET

// func scaleAVX2(y, x, w *float64, r float64, n int)
// y = x * r * w; n is a multiple of 4.
TEXT ·scaleAVX2(SB), NOSPLIT, $0-40
	MOVQ         y+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         w+16(FP), DX
	VBROADCASTSD r+24(FP), Y15
	MOVQ         n+32(FP), CX

scaleloop:
	VMULPD  (SI), Y15, Y0
	VMULPD  (DX), Y0, Y0
	VMOVUPD Y0, (DI)
	ADDQ    $32, SI
	ADDQ    $32, DX
	ADDQ    $32, DI
	SUBQ    $4, CX
	JG      scaleloop
	VZEROUPPER
	RET

// func collapse4AVX2(y, x *float64, pre *[4]float64, n int)
// y = sum over four streams of n values of pre times the stream; n is a multiple of 4.
TEXT ·collapse4AVX2(SB), NOSPLIT, $0-32
	MOVQ         y+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         pre+16(FP), DX
	MOVQ         n+24(FP), CX
	VBROADCASTSD (DX), Y4
	VBROADCASTSD 8(DX), Y5
	VBROADCASTSD 16(DX), Y6
	VBROADCASTSD 24(DX), Y7
	MOVQ         CX, BX
	SHLQ         $3, BX
	LEAQ         (BX)(BX*2), R9

collapse4loop:
	VMULPD      (SI), Y4, Y0
	VFMADD231PD (SI)(BX*1), Y5, Y0
	VFMADD231PD (SI)(BX*2), Y6, Y0
	VFMADD231PD (SI)(R9*1), Y7, Y0
	VMOVUPD     Y0, (DI)
	ADDQ        $32, SI
	ADDQ        $32, DI
	SUBQ        $4, CX
	JG          collapse4loop
	VZEROUPPER
	RET

// One output stream of spread4AVX2: coefficients k*32 and, for the streams, 128 + (j*4+k)*32 bytes into DX.
#define SPREAD(k, out) \
	VMULPD      (k*32)(DX), Y0, Y5       \
	VFMADD231PD (128+k*32)(DX), Y1, Y5   \
	VFMADD231PD (256+k*32)(DX), Y2, Y5   \
	VFMADD231PD (384+k*32)(DX), Y3, Y5   \
	VFMADD231PD (512+k*32)(DX), Y4, Y5   \
	VMOVUPD     Y5, out

// func spread4AVX2(out, f, x *float64, coef *[80]float64, n int)
// out[k] = post[k]*f + sum over j of comb[j, k]*x[j] for four streams of n values; coef holds post and comb, every
// value four times; n is a multiple of 4.
TEXT ·spread4AVX2(SB), NOSPLIT, $0-40
	MOVQ out+0(FP), DI
	MOVQ f+8(FP), AX
	MOVQ x+16(FP), SI
	MOVQ coef+24(FP), DX
	MOVQ n+32(FP), CX
	MOVQ CX, BX
	SHLQ $3, BX
	LEAQ (BX)(BX*2), R9

spread4loop:
	VMOVUPD (AX), Y0
	VMOVUPD (SI), Y1
	VMOVUPD (SI)(BX*1), Y2
	VMOVUPD (SI)(BX*2), Y3
	VMOVUPD (SI)(R9*1), Y4
	SPREAD(0, (DI))
	SPREAD(1, (DI)(BX*1))
	SPREAD(2, (DI)(BX*2))
	SPREAD(3, (DI)(R9*1))
	ADDQ    $32, AX
	ADDQ    $32, SI
	ADDQ    $32, DI
	SUBQ    $4, CX
	JG      spread4loop
	VZEROUPPER
	RET
