package quant_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/quant"
)

// Methods that are known by name and not decoded say so, whatever else they declare; NaN and Infinity are read as
// Python writes them; what is no configuration is an error in one sentence.
func TestPlansThatAreNotDecoded(t *testing.T) {
	for config, says := range map[string]string{
		`{"quantization_config":{"quant_method":"exl2","bits":4.0}}`:                                        "EXL2",
		`{"quantization_config":{"quant_method":"hqq","quant_config":{"weight_quant_params":{"nbits":4}}}}`: "HQQ",
		`{"quantization_config":{"quant_method":"aqlm","in_group_size":8}}`:                                 "codebooks",
		`{"quantization_config":{"quant_method":"of-next-year"}}`:                                           "no decoder",
		`{"quantization_config":{"quant_method":"gptq","bits":4,"checkpoint_format":"marlin"}}`:             "marlin",
		`{"quantization_config":{"quant_method":"awq","bits":4,"group_size":128,"version":"gemv"}}`:         "gemv",
		`{"quantization_config":{"quant_method":"compressed-tensors","format":"marlin-24","config_groups":{"g":` +
			`{"targets":["Linear"],"weights":{"num_bits":4,"type":"int"}}}}}`: "marlin-24",
	} {
		p, err := quant.ParsePlan([]byte(config), nil)
		require.NoError(t, err, config)
		if !p.Declared || !strings.Contains(p.Refused, says) {
			t.Errorf("%s: refused %q, want a sentence about %q", config, p.Refused, says)
		}
	}
	p, err := quant.ParsePlan([]byte(`{"eps": NaN, "limit": -Infinity, "note": "NaN stays"}`), nil)
	require.NoError(t, err)
	require.False(t, p.Declared)
	for _, config := range []string{
		`{`, `[]`, `{"quantization_config":{"quant_method":"fp8","weight_block_size":[128]}}`,
		`{"quantization_config":{"quant_method":"gptq","bits":5}}`,
		strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000),
	} {
		if _, err := quant.ParsePlan([]byte(config), nil); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.60s: error %v, want one sentence", config, err)
		}
	}
}
