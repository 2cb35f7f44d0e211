// Package precision examines the tensors of a checkpoint whose rounding decides something: the mixes of the
// hyper-connections (hc_*_fn), the lightning indexer's projections, the expert gates and their biases.
//
// Each is run on hidden states under the arithmetic of fp32, TF32, bf16, block fp8, MXFP4 and NVFP4 paths. A row says
// how far the path lies from the exact product, whether it stays inside the bound of the contract that it declares, how
// many fp32 bounds it is away, and what that does: to the gates after Sinkhorn, to the choice of experts, to the
// indexer's selection. Further rows give index keys stored in bf16, fp8 and fp4, the growth of the error through all
// layers with the checkpoint's own hc_*, and the dequantisation error against a base checkpoint. Rows come worst first.
//
// Claimed: the products of a path are emulated as its contract says (numerics), its scales as a named recipe does
// (numerics/format); the exact side is float64 on the stored values; tensors are read in strips, so that the resident
// size is the largest single examined tensor and some activations, not the checkpoint.
//
// Not claimed: that a harmless row makes a good model. Hidden states that were not captured are Gaussian with planted
// outlier channels, and Result says so: their selections have no needle but one that is designated, and their attention
// mass is the softmax of index scores. The sublayers of the compounding stack are seeded maps, not the checkpoint's.
// Effects on selection and routing are taken with operands and results rounded as the path says and exact sums between.
package precision
