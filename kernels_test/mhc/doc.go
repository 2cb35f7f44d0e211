// Package mhc is the suite of the hyper-connection: collapse (mhc_pre), spread (mhc_post), head (mhc_head) and the
// Sinkhorn normalisation alone in its three published variants (sinkhorn), each of which is a contract of its own.
//
// Claimed: outputs lie within what the declared contract of the mixing GEMM allows, everything else being fp32 in any
// order. Not claimed: Sinkhorn beyond hc_mult 4, and residuals in bf16.
package mhc
