package served

import (
	"fmt"
	"strings"

	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/numerics/format"
)

// Format is what an engine stores and computes in.
type Format struct {
	Name        string
	activations format.Format
	weights     [5]string // by nano.Kind: "" as they are, "bf16", or a recipe of numerics/format
	cache       bool      // rows of the key-value cache and index keys in fp8
	input       string    // recipe for the input of routed experts' products; empty: that of fp8 where they are quantised
}

const (
	bf16     = "bf16"
	keptRows = "vllm-kv"
	keptKeys = "vllm-index-fp8"
	blockFP8 = "torch-blockfp8" // weights, 128 x 128, scales powers of two
	inputFP8 = "deepgemm-fp8-ue8m0"
	mxfp4    = "torch-mxfp4"
	nvfp4    = "torch-nvfp4"
)

// Formats are the formats by name. Weights as internal/inflate writes them; fp8 caches in all that only engines with
// such a cache read (vLLM's and SGLang's names of tensors); nvfp4 with four-bit inputs, which its input_scale is for.
func Formats() []Format {
	return []Format{
		{Name: "fp32", activations: format.FP32},
		{Name: bf16, activations: format.BF16, weights: [5]string{bf16, bf16, bf16, bf16, bf16}},
		{
			Name: "mixed", activations: format.BF16, weights: [5]string{bf16, bf16, blockFP8, bf16, bf16},
			cache: true,
		},
		{
			Name: "fp8", activations: format.BF16, weights: [5]string{bf16, blockFP8, blockFP8, blockFP8, blockFP8},
			cache: true,
		},
		{
			Name: "mxfp4", activations: format.BF16, weights: [5]string{bf16, blockFP8, blockFP8, mxfp4, blockFP8},
			cache: true,
		},
		{
			Name: "nvfp4", activations: format.BF16, weights: [5]string{bf16, blockFP8, blockFP8, nvfp4, blockFP8},
			cache: true, input: nvfp4,
		},
	}
}

// ByName finds a format.
func ByName(name string) (Format, error) {
	var known []string
	for _, f := range Formats() {
		if f.Name == name {
			return f, nil
		}
		known = append(known, f.Name)
	}
	return Format{}, fmt.Errorf("no format %q; use one of %s", name, strings.Join(known, ", "))
}

// quantises reports whether weights of a kind are stored in blocks with scales, and the recipe of their inputs then.
func (f Format) quantises(k nano.Kind) (input string, yes bool) {
	w := f.weights[k]
	if w == "" || w == bf16 {
		return "", false
	}
	if k == nano.Routed && f.input != "" {
		return f.input, true
	}
	return inputFP8, true
}
