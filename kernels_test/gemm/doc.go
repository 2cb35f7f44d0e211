// Package gemm is the suite of matrix products of stored operands, and of the quantisers that store them: dense,
// block-scaled fp8, batched MXFP8, MXFP4, NVFP4 with swizzled scales, grouped and masked expert GEMMs.
//
// Claimed: a product lies within its declared accumulation of the exact product of the stored operands, rounded once to
// its dtype; a quantiser gives the bytes of its declared recipe. Not claimed: that a recipe is a good one, GEMMs that
// quantise their own output, kernels that round dequantised weights to bf16 before the product (no contract here
// declares that), and operands whose scales multiply to less than the smallest normal fp32 number.
package gemm
