// Package norm is the suite of normalisation and rotation: RMSNorm (rmsnorm.go).
//
// Claimed: the outputs lie within fp32 evaluation of the float64 operators in any order of sums, rounded to the output's
// dtype. Not claimed: fused variants that quantise their output.
package norm
