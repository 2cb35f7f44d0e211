package numerics_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/safetensors"
)

// The mHC mix of every layer of nano-v4 on the hidden states of a real forward pass: how far fp32, TF32 and bf16 are
// from float64, before and after Sinkhorn. Each contract MUST stay inside its own bound and be rejected under the finer
// one.
func TestMHCOnRealHiddenStates(t *testing.T) {
	weights, err := safetensors.OpenCheckpoint(fixtures.FS, "nano-v4")
	require.NoError(t, err)
	trace, err := safetensors.OpenFS(fixtures.FS, "nano-v4/hf_trace_067.safetensors")
	require.NoError(t, err)
	cases := map[string]any{}
	for layer := range 4 {
		for _, part := range []string{"attn", "ffn"} {
			x := read(t, trace, fmt.Sprintf("model.layers.%d.%s_hc.in.0", layer, part)).v
			s := newSite(t, weights, fmt.Sprintf("layer-%d/%s", layer, part), fmt.Sprintf("model.layers.%d.hc_%s_", layer, part),
				x)
			maps.Copy(cases, checkLadder(t, s))
		}
	}
	golden.Assert(t, "numerics/mhc-nano", golden.Doc{
		Provenance: golden.Provenance{
			Generator: "numerics_test.TestMHCOnRealHiddenStates", Seed: "none: weights and hidden states are fixtures",
			Source: "fixtures/nano-v4: hc_* weights; hidden states of hf_trace_067 (transformers, fp32)",
			Notes:  "fp32 is emulated sequentially; TF32 and bf16 as the H200 accumulates",
		},
		Cases: cases,
	}, mhcRules)
}
