// Package numerics bounds the error of reduced-precision results and judges results by these bounds.
//
// Call [Judge] first, with a [Trial] (what came out, what is exact, how far it may lie) and the [Contract] that was
// declared; [Contract.GemmBounds] and [Arith] give bounds, [Explain] names the accumulator behind a result.
//
// It claims: emulation of accumulators (accumulator*.go) as recorded on hardware; Explain, which names the accumulator
// that reproduces a recorded result bit for bit; Fingerprint, which asks a callable GEMM what it is; a-priori error
// bounds with their derivations (bound*.go, tracked.go); error measures (metrics.go); and the verdict of Judge, which
// sees tensors and a declared Contract only.
//
// Judge's gates: structure; bound, certain or at a stated risk; relative and bias, calibrated on emulated reorderings
// of the contract (calibrate.go); selection with admissible ties; compounding over layers. docs/power.md says how often
// they are wrong and what they catch.
//
// It does not claim: that a kernel inside its bound is a good kernel, nor that a result which nothing here reproduces
// is wrong. Explain says "not excluded" of it.
//
// All values are float64. A float32, bf16 or fp8 value is held exactly in a float64, so that exact
// references and emulated results share one type. Matrices are flat, row-major.
package numerics
