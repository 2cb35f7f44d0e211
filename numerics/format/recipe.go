package format

import "fmt"

// ScaleRule names how the largest magnitude of a block, amax, becomes its scale. M is the largest
// element (448, 57344, 6).
type ScaleRule int

const (
	// ScaleLinear stores amax/M in fp32 (DeepSeek-V3.2 reference without scale_fmt; DeepGEMM tests).
	ScaleLinear ScaleRule = iota
	// ScaleCeilBits is 2^ceil(log2(amax/M)) from the bits of the fp32 quotient: the exponent field,
	// plus 1 if the mantissa is not zero (DeepSeek-V4 inference/kernel.py, DeepGEMM utils/math.py,
	// TileKernels quant/common.py). A subnormal quotient gives 2^-126. Never saturates.
	ScaleCeilBits
	// ScaleCeilLog2 is the same formula through a float log2 (torch; Triton ports in vLLM and SGLang).
	// Here the fp32 log2 is correctly rounded: a quotient within half an ulp of log2 above a power of
	// two keeps that power, and amax saturates.
	ScaleCeilLog2
	// ScaleFloorAmax is 2^(floor(log2 amax) - floor(log2 M)), OCP MX 1.0 section 6.3. The largest
	// elements may saturate: e4m3 amax lands in [256, 512).
	ScaleFloorAmax
	// ScaleDown is 2^floor(log2(amax/M)) (ONNX Cast to float8e8m0, round_mode "down").
	ScaleDown
	// ScaleNearest is the power of two nearest to amax/M, 1.5 * 2^k going up (ONNX, "nearest").
	ScaleNearest
	// ScaleTwoLevel is NVFP4 by division (ModelOpt nvfp4_tensor.py): tensor scale t = amaxT/(6*448),
	// block scale e4m3(amax/(6*t)); 0 becomes 1, then it is clamped to [2^-9, 448].
	ScaleTwoLevel
	// ScaleTwoLevelMultiply is NVFP4 with the global factor S = 448*6/amaxT: e4m3(amax * fp32(1/6) * S),
	// zero and clamp as above; the tensor scale stored is 1/S.
	ScaleTwoLevelMultiply
)

var scaleRuleNames = [...]string{
	"linear", "ceil-bits", "ceil-log2", "floor-amax", "down", "nearest", "two-level", "two-level-multiply",
}

// String returns the slug.
func (r ScaleRule) String() string { return nameOf(scaleRuleNames[:], int(r), "scale-rule") }

// Operation names how a number is divided.
type Operation int

const (
	// Divide is one fp32 division.
	Divide Operation = iota
	// Multiply is a multiplication by the divisor's fp32 reciprocal: up to 1.5 ulp off the quotient.
	// For a power-of-two divisor it is the same unless the reciprocal leaves fp32.
	Multiply
)

// String returns divide or multiply.
func (o Operation) String() string {
	return nameOf([]string{"divide", "multiply"}, int(o), "operation")
}

// ZeroSign names what becomes of the sign of an element whose code is zero.
type ZeroSign int

const (
	// SignKept keeps the sign bit, that of -0 too (PTX cvt, ml_dtypes, torch to float8).
	SignKept ZeroSign = iota
	// SignOfNegative keeps it for x < 0 alone: -0 becomes +0, and -0.01 becomes -0 (ModelOpt NVFP4).
	SignOfNegative
	// SignCleared drops it (DeepGEMM utils/math.py, SGLang's FP4 indexer test, microxcaling).
	SignCleared
)

// String returns the slug.
func (z ZeroSign) String() string {
	return nameOf([]string{"kept", "of-negative", "cleared"}, int(z), "zero-sign")
}

// AmaxNaN names what a NaN element does to amax.
type AmaxNaN int

const (
	// NaNPropagates makes amax, and so the scale, NaN (torch.amax). A fp32 or e8m0 scale of NaN makes
	// every element of the block NaN when decoded.
	NaNPropagates AmaxNaN = iota
	// NaNIgnored leaves it out (PTX max.f32, C fmaxf): only the element itself is NaN.
	NaNIgnored
)

// String returns the slug.
func (a AmaxNaN) String() string {
	return nameOf([]string{"propagates", "ignored"}, int(a), "amax-nan")
}

func nameOf(names []string, i int, kind string) string {
	if i < 0 || i >= len(names) {
		return fmt.Sprintf("%s-%d", kind, i)
	}
	return names[i]
}

// Recipe is how one implementation quantises: every decision that differs between implementations,
// as data. All arithmetic on scales and quotients is fp32, rounded once an operation; the quotient
// is then rounded to the element (a double rounding that every implementation has).
type Recipe struct {
	Name   string // slug
	Source string // repository and file, or specification and section
	Block  Block

	BF16First bool    // values are rounded to bf16 before anything else: fp32 -> bf16 -> element
	AmaxFloor float32 // amax is at least this; 0 for none
	Rule      ScaleRule
	ScaleOp   Operation // amax/M as a division or by fp32(1/M)
	// ScaleFloor is the least amax/M, before it is rounded to a power of two; 0 for none.
	ScaleFloor float32
	AmaxNaN    AmaxNaN

	ElementOp  Operation // x/scale as a division or by fp32(1/scale)
	Rounding   Rounding
	Saturation Saturation
	ZeroSign   ZeroSign
}

// String returns the slug.
func (r Recipe) String() string { return r.Name }

// Validate reports a rule that does not fit the block format's scales.
func (r Recipe) Validate() error {
	b := r.Block
	twoLevel := r.Rule == ScaleTwoLevel || r.Rule == ScaleTwoLevelMultiply
	switch {
	case b.BlockRows < 1 || b.BlockCols < 1:
		return fmt.Errorf("recipe %q: blocks of %d x %d; both sides must be at least 1", r.Name, b.BlockRows, b.BlockCols)
	case b.Element.SignBits != 1 || b.Element.Width() > 8:
		return fmt.Errorf("recipe %q: element %s is not a signed format of at most 8 bits", r.Name, b.Element.Name)
	case r.Rule < ScaleLinear || r.Rule > ScaleTwoLevelMultiply:
		return fmt.Errorf("recipe %q: no scale rule %v", r.Name, r.Rule)
	case twoLevel != b.TensorScale || twoLevel && (b.Scale.Name != E4M3FN.Name || b.Element.Name != E2M1.Name):
		return fmt.Errorf("recipe %q: scale rule %v does not fit %s, %s with %s scales: two-level rules and tensor scales "+
			"go together, with e2m1 and e4m3fn",
			r.Name, r.Rule, b.Name, b.Element.Name, b.Scale.Name)
	case !twoLevel && b.Scale.Name != FP32.Name && (b.Scale.Name != E8M0.Name || r.Rule == ScaleLinear):
		return fmt.Errorf("recipe %q: scale rule %v does not fit %s scales: linear needs fp32, powers of two e8m0 or fp32",
			r.Name, r.Rule, b.Scale.Name)
	}
	return nil
}
