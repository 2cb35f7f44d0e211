package safetensors_test

import (
	"fmt"
	"strings"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/safetensors"
)

// A quantised checkpoint of three shards.
func ExampleOpenCheckpoint() {
	c, err := safetensors.OpenCheckpoint(fixtures.FS, "nano-v4-mxfp4")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = c.Close() }()
	info, _ := c.Tensor("layers.2.attn.kv_norm.weight")
	fmt.Println(info.Name, info.DType, info.Shape, info.Size)
	_, err = c.Float32s("layers.2.attn.wkv.weight")
	fmt.Println(strings.ReplaceAll(err.Error(), ": ", ":\n"))
	// Output:
	// layers.2.attn.kv_norm.weight F32 [64] 256
	// safetensors:
	// nano-v4-mxfp4/model-00002-of-00003.safetensors:
	// tensor "layers.2.attn.wkv.weight" is F8_E4M3, and this reader takes [F32] only; decode Bytes with numerics/format
}
