package compressor

import (
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
)

// The contracts' names.
const (
	fp32    = "fp32"
	bf16Out = "bf16-out"
)

// contracts: fp32 throughout, and the same with rows that are rounded to bf16 once, as DeepSeek-V4 hands them to its
// norm.
func contracts() []numerics.Contract {
	return []numerics.Contract{{Name: fp32}, {Name: bf16Out, Out: format.BF16}}
}

var sharp = []string{fp32}
