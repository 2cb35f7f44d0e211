package gemm

import (
	"fmt"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
)

// Suite is the suite of this package.
func Suite() bench.Suite {
	return bench.Suite{
		Name: "gemm",
		Families: []bench.Family{
			dense, denseHalf, denseEight, block, batched, mxfp4, nvfp4, grouped, groupedN, masked, quantiseFP8, quantiseNV,
		},
		Built: built, Variants: variants(), Plants: plants(),
	}
}

// denseOps multiply plain operands, scaledOps those with multipliers a block.
var (
	denseOps  = []string{opDense, opBF16, opFP8}
	scaledOps = []string{opBlock, opBatched, opMXFP4, opNVFP4, opGrouped, opGroupedN, opMasked}
)

// styleOf is a contract to the letter: fp32 sums from the front, or the tensor core's.
func styleOf(contract string) (style, error) {
	s := style{sum: sequential, scales: pairFirst}
	switch contract {
	case "fp32", "bf16", "fp8":
	case "tf32-rn":
		s.read = tf32
		acc := numerics.HopperTF32()
		s.tensor = &acc
	case "tf32x3":
		s.three = halves(tf32)
	case "bf16-hopper":
		acc := numerics.HopperBF16()
		s.tensor = &acc
	case "fp8-hopper":
		acc := numerics.HopperFP8(0)
		s.tensor, s.run = &acc, 128
	case "exact":
	default:
		return s, fmt.Errorf("no contract of the gemm suite is called %q", contract)
	}
	return s, nil
}

// built is the candidate that follows a contract to the letter.
func built(contract string) (bench.Candidate, error) {
	s, err := styleOf(contract)
	if err != nil {
		return nil, err
	}
	return bench.FromKernels(contract+"-to-the-letter", kernels(s, quirks{}, correctQuant())), nil
}

// kernels are all operators in one style.
func kernels(s style, q quirks, qs quantStyle) map[string]bench.Kernel {
	out := map[string]bench.Kernel{opQuantFP8: quantFP8(qs), opQuantNV: quantNV(qs)}
	for _, op := range denseOps {
		out[op] = kernel(op, s, quirks{})
	}
	for _, op := range scaledOps {
		out[op] = kernel(op, s, q)
	}
	return out
}
