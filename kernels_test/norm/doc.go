// Package norm is the suite of normalisation and rotation: RMSNorm (rmsnorm.go), LayerNorm (layernorm.go),
// rotary embedding (rope.go) and its tables with and without YaRN (rope_table.go).
//
// Claimed: the outputs lie within fp32 evaluation of the float64 operators in any order of sums, rounded to the
// output's dtype; angles are those of the declared precision, and the bound of a coarser one grows with the position.
// Not claimed: fused variants that quantise their output.
package norm
