// Package format describes number formats, block formats, quantisation recipes and cache pages as
// data, and converts to and from them exactly.
//
// Call [Format.Encode] and [Format.Decode] first, for a number (E4M3, E2M1, BF16, ... are variables here), and
// [Recipe.Quantise] for a tensor with scales.
//
// Claimed:
//   - [Format.Decode] is exact in float64 for every code of every format here.
//   - [Format.Encode] rounds once, straight from the float64 it is given (so a value that was rounded
//     to another format first must be passed as that rounded value: fp32 -> bf16 -> e4m3 is not
//     fp32 -> e4m3), by a named [Rounding] and a named [Saturation]. Over all 2^32 fp32 words, 19
//     conversions equal a step function made from exact midpoints, and nine of them the cvt
//     instructions of an H200.
//   - [AppendFloat32] and [AppendEncoded] are the same functions on slices, fast.
//   - [Block.Decode] dequantises to exact float64 products.
//   - A [Recipe] quantises as one named implementation does. Every rule in which implementations
//     differ is a field: amax floor, scale rule, division or reciprocal, rounding, saturation, sign of
//     zero, NaN. Three recipes reproduce, bit for bit, checkpoints that torch made; the others follow
//     their sources' formulas, and were not run against them.
//   - A [Layout] says where a cache page keeps each element.
//
// Not claimed: stochastic rounding, flush-to-zero, NaN payloads (a NaN becomes the format's one
// NaNCode).
//
// Sources: OCP "8-bit Floating Point Specification (OFP8)" 1.0 for e4m3 and e5m2, OCP
// "Microscaling Formats (MX)" 1.0 for e8m0, e2m1, e2m3 and e3m2, IEEE 754 for fp32 and fp16, the
// fnuz variants after ONNX ("Float stored in 8 bits"); for recipes and pages, each names its own.
package format
