package numerics

import "github.com/assay-suite/assay/numerics/format"

// The contracts of the mHC mixing GEMM, mixes[T,24] = x[T,4C]·fn[24,4C]ᵀ. Their accumulators reproduce what cuBLAS
// did on an H200 (fixtures/oracles/gemm_h200.safetensors.gz).

// MHCFP32 is the reference: fp32 operands, fp32 accumulation in any order, fp32 out.
func MHCFP32() Contract {
	return Contract{
		Name: "fp32", Inputs: gemmInputs(format.FP32), Acc: FP32Any(), Out: format.FP32, Tier: BoundOnly,
	}
}

// MHCTF32 is the production default: both operands rounded to TF32 to nearest even (bf16 activations are exact in it),
// block FMAs, partial sums added in fp32. K = 512 runs as 16 splits of 32, K = 16384 as splits of 288; other K in one
// chain.
func MHCTF32() Contract {
	acc := HopperTF32()
	acc.Splits = []Split{{K: 512, Size: 32}, {K: 16384, Size: 288}}
	return Contract{Name: "tf32-rn", Inputs: gemmInputs(format.TF32), Acc: acc, Out: format.FP32, Tier: BoundOnly}
}

// MHCTF32Truncated feeds raw fp32 words to the TF32 unit, which drops their low 13 bits: what Triton's default fp32 dot
// does on Hopper (seen on an H200: 1 + k·2^-14 is read as 1 for every k below 16).
func MHCTF32Truncated() Contract { return MHCTF32().WithInputRounding(format.RZ) }

// MHCBF16 rounds both operands and the output to bf16. K = 512 is one chain. K = 16384 is split: one chain matches 761
// of 768 recorded outputs, every split of 16 to 896 products all of them, so 512 stands for a size that the record
// cannot tell.
func MHCBF16() Contract {
	acc := HopperBF16()
	acc.Splits = []Split{{K: 16384, Size: 512}}
	return Contract{Name: "bf16", Inputs: gemmInputs(format.BF16), Acc: acc, Out: format.BF16, Tier: BoundOnly}
}

// FP8Hopper is e4m3 in, bf16 out on Hopper's fp8 tensor cores: fast accumulation for promote 0, accurate mode for 128.
func FP8Hopper(name string, promote int) Contract {
	return Contract{
		Name:   name,
		Inputs: gemmInputs(format.E4M3FN),
		Acc:    HopperFP8(promote),
		Out:    format.BF16,
		Tier:   BoundOnly,
	}
}

// WithInputRounding returns the contract with every input rounded by r: the rivals rna and rz of a declared rn.
func (c Contract) WithInputRounding(r format.Rounding) Contract {
	in := make(map[string]Operand, len(c.Inputs))
	for name, o := range c.Inputs {
		o.Rounding = r
		in[name] = o
		c.Name = o.Format.Name + "-" + r.String()
	}
	c.Inputs = in
	return c
}

func gemmInputs(f format.Format) map[string]Operand {
	return map[string]Operand{"x": {Format: f, Rounding: format.RN}, "w": {Format: f, Rounding: format.RN}}
}
