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

// func decode8AVX2(dst *float32, src *byte, n int, p *planes)
// Bytes 0 to 31 of a register hold the upper and lower bytes of 32 bf16 numbers; interleaving them,
// and then the words with zeros, gives fp32 numbers, four to each half of a register.
TEXT ·decode8AVX2(SB), NOSPLIT, $0-32
	MOVQ    dst+0(FP), DI
	MOVQ    src+8(FP), SI
	MOVQ    n+16(FP), CX
	MOVQ    p+24(FP), DX
	VMOVDQU 0(DX), Y15   // nibble
	VMOVDQU 32(DX), Y14  // high
	VMOVDQU 64(DX), Y13  // lowUpper
	VMOVDQU 96(DX), Y12  // lowLower
	VMOVDQU 128(DX), Y11 // mag
	VMOVDQU 160(DX), Y10 // sat
	VMOVDQU 192(DX), Y9  // subUpper
	VMOVDQU 224(DX), Y8  // subLower
	VMOVDQU 320(DX), Y7  // limit
	VPXOR   Y6, Y6, Y6

decode8loop:
	VMOVDQU      (SI), Y0
	VPSRLW       $4, Y0, Y1
	VPAND        Y15, Y1, Y1     // high nibble
	VPAND        Y15, Y0, Y2     // low nibble
	VPSHUFB      Y1, Y14, Y1
	VPSHUFB      Y2, Y13, Y3
	VPSHUFB      Y2, Y12, Y2     // lower bytes
	VPADDB       Y3, Y1, Y1      // upper bytes
	VPAND        Y11, Y0, Y3
	VPADDUSB     Y10, Y3, Y3
	VPSHUFB      Y3, Y9, Y4
	VPSHUFB      Y3, Y8, Y3
	VPXOR        Y4, Y1, Y1
	VPXOR        Y3, Y2, Y2
	VPAND        256(DX), Y0, Y0
	VPXOR        288(DX), Y0, Y0
	VPCMPGTB     Y7, Y0, Y0      // special?
	VPAND        352(DX), Y0, Y3
	VPAND        384(DX), Y0, Y0
	VPOR         Y3, Y2, Y2
	VPOR         Y0, Y1, Y1
	VPUNPCKLBW   Y1, Y2, Y3      // bf16 numbers 0-7, 16-23
	VPUNPCKHBW   Y1, Y2, Y4      // 8-15, 24-31
	VPUNPCKLWD   Y3, Y6, Y0      // fp32 numbers 0-3, 16-19
	VPUNPCKHWD   Y3, Y6, Y1      // 4-7, 20-23
	VPUNPCKLWD   Y4, Y6, Y2      // 8-11, 24-27
	VPUNPCKHWD   Y4, Y6, Y3      // 12-15, 28-31
	VMOVDQU      X0, (DI)
	VMOVDQU      X1, 16(DI)
	VMOVDQU      X2, 32(DI)
	VMOVDQU      X3, 48(DI)
	VEXTRACTI128 $1, Y0, 64(DI)
	VEXTRACTI128 $1, Y1, 80(DI)
	VEXTRACTI128 $1, Y2, 96(DI)
	VEXTRACTI128 $1, Y3, 112(DI)
	ADDQ         $32, SI
	ADDQ         $128, DI
	SUBQ         $32, CX
	JG           decode8loop
	VZEROUPPER
	RET

// func decode16AVX2(dst *float32, src *byte, n int)
TEXT ·decode16AVX2(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX

decode16loop:
	VPMOVZXWD (SI), Y0
	VPSLLD    $16, Y0, Y0
	VMOVUPS   Y0, (DI)
	ADDQ      $16, SI
	ADDQ      $32, DI
	SUBQ      $8, CX
	JG        decode16loop
	VZEROUPPER
	RET

// func encode8AVX2(dst *byte, src *float32, n int, k *narrow)
// The arithmetic of narrow.code on eight words at a time.
TEXT ·encode8AVX2(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ k+24(FP), DX
	VPBROADCASTD 0(DX), Y14  // minNormal
	VPBROADCASTD 4(DX), Y11  // magic
	VPBROADCASTD 8(DX), Y13  // add
	VPBROADCASTD 12(DX), Y15 // over
	VPBROADCASTD 16(DX), Y7  // overCode
	VPBROADCASTD 20(DX), Y9  // nan
	VMOVD        24(DX), X5  // shift
	VPCMPEQD     Y12, Y12, Y12
	VPSRLD       $1, Y12, Y8  // 0x7fffffff
	VPSRLD       $31, Y12, Y12 // 1
	VPSLLD       $23, Y12, Y10 // 0x00800000, the smallest normal fp32 word
	VPSUBD       Y10, Y8, Y6   // 0x7f7fffff
	VPADDD       Y12, Y6, Y6   // 0x7f800000, infinity

encode8loop:
	VMOVUPS   (SI), Y0
	VPAND     Y8, Y0, Y1      // magnitude
	VPSRLD    $31, Y0, Y2
	VPSLLD    $7, Y2, Y2      // sign
	VPMINSD   Y14, Y1, Y3
	VPMAXSD   Y10, Y3, Y3     // no subnormal operand: it rounds to 0 either way
	VADDPS    Y11, Y3, Y3
	VPSUBD    Y11, Y3, Y3     // code if subnormal
	VPSRLD    X5, Y1, Y4
	VPAND     Y12, Y4, Y4
	VPADDD    Y13, Y4, Y4
	VPADDD    Y1, Y4, Y4
	VPSRLD    X5, Y4, Y4      // code if normal
	VPCMPGTD  Y1, Y14, Y0     // subnormal?
	VBLENDVPS Y0, Y3, Y4, Y4
	VPCMPGTD  Y15, Y1, Y0     // overflow?
	VBLENDVPS Y0, Y7, Y4, Y4
	VPOR      Y2, Y4, Y4
	VPCMPGTD  Y6, Y1, Y0      // NaN?
	VBLENDVPS Y0, Y9, Y4, Y4
	VEXTRACTI128 $1, Y4, X0
	VPACKUSDW X0, X4, X4
	VPACKUSWB X4, X4, X4
	VMOVQ     X4, (DI)
	ADDQ      $32, SI
	ADDQ      $8, DI
	SUBQ      $8, CX
	JG        encode8loop
	VZEROUPPER
	RET

// func encode16AVX2(dst *byte, src *float32, n int, nan uint32)
TEXT ·encode16AVX2(SB), NOSPLIT, $0-28
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	MOVL nan+24(FP), AX
	VMOVD AX, X9
	VPBROADCASTD X9, Y9
	VPCMPEQD     Y12, Y12, Y12
	VPSRLD       $17, Y12, Y13 // 0x7fff
	VPSRLD       $31, Y12, Y12 // 1

encode16loop:
	VMOVUPS   (SI), Y0
	VPSRLD    $16, Y0, Y1
	VPAND     Y12, Y1, Y1
	VPADDD    Y13, Y1, Y1
	VPADDD    Y0, Y1, Y1
	VPSRLD    $16, Y1, Y1
	VCMPPS    $3, Y0, Y0, Y2  // NaN?
	VBLENDVPS Y2, Y9, Y1, Y1
	VEXTRACTI128 $1, Y1, X0
	VPACKUSDW X0, X1, X1
	VMOVDQU   X1, (DI)
	ADDQ      $32, SI
	ADDQ      $16, DI
	SUBQ      $8, CX
	JG        encode16loop
	VZEROUPPER
	RET
