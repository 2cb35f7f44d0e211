// Package numerics says how far a reduced-precision result may lie from the exact one, and judges
// results by it.
//
// It claims: emulation of accumulators (accumulator.go) as recorded on hardware, a-priori error bounds
// with their derivations (bound*.go, tracked.go), error measures (metrics.go), and the verdict of
// Judge, which sees tensors and a declared Contract only.
//
// It does not claim: that a kernel inside its bound is a good kernel. A bound admits slow loss of
// accuracy; the relative, bias, selection and compounding gates are named in Gate and not judged yet.
//
// All values are float64. A float32, bf16 or fp8 value is held exactly in a float64, so that exact
// references and emulated results share one type. Matrices are flat, row-major.
package numerics
