// Package format describes number formats and block formats as data, and converts to and from
// them exactly.
//
// Claimed: [Format.Decode] is exact in float64 for every code of every format here;
// [Format.Encode] rounds once, straight from the float64 it is given (so a value that was rounded
// to another format first must be passed as that rounded value: fp32 -> bf16 -> e4m3 is not fp32 ->
// e4m3), by a named rounding and a named overflow rule; [Block] dequantises to exact float64
// products. The tests compare with ml_dtypes, with the PTX cvt instructions of an H200 and with a
// brute-force search, bit for bit.
//
// Not claimed: stochastic rounding, flush-to-zero, choosing scales (quantising is somebody else's
// decision; here one only reads what was stored), NaN payloads (a NaN becomes the format's one
// NaNCode).
//
// Layouts: OCP "8-bit Floating Point Specification (OFP8)" 1.0 for e4m3 and e5m2, OCP
// "Microscaling Formats (MX)" 1.0 for e8m0, e2m1, e2m3 and e3m2, IEEE 754 for fp32 and fp16, the
// fnuz variants after ONNX ("Float stored in 8 bits").
package format
