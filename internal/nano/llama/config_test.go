package llama_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/internal/nano/llama"
)

// replaceField merges the fields of change into a JSON object.
func replaceField(t *testing.T, raw []byte, change string) []byte {
	t.Helper()
	fields := map[string]any{}
	require.NoError(t, json.Unmarshal(raw, &fields))
	require.NoError(t, json.Unmarshal([]byte("{"+change+"}"), &fields))
	out, err := json.Marshal(fields)
	require.NoError(t, err)
	return out
}

// A config that asks for another function or does not fit MUST be refused with a sentence that names it.
func TestConfigRefuses(t *testing.T) {
	raw, err := fixtures.FS.ReadFile("nano-llama/config.json")
	require.NoError(t, err)
	for change, want := range map[string]string{
		`"model_type": "mistral"`:                   `model_type is "mistral"`,
		`"tie_word_embeddings": true`:               "tied embeddings",
		`"attention_bias": true`:                    "biases",
		`"rope_scaling": {"rope_type": "llama3"}`:   "rope_scaling",
		`"hidden_act": "gelu"`:                      "other than silu",
		`"num_key_value_heads": 3`:                  "multiple of key heads",
		`"hidden_size": 0`:                          "below 1",
		`"rope_theta": 0`:                           "rope_theta is 0",
		`"hidden_size": "x"`:                        "not a model config",
		`"intermediate_size": 256, "hidden_act": 1`: "not a model config",
	} {
		folder := fstest.MapFS{"config.json": &fstest.MapFile{Data: replaceField(t, raw, change)}}
		if _, err := llama.LoadConfig(folder); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", change, err, want)
		}
	}
	require.False(t, llama.Is(fstest.MapFS{}))
}

// Weights that do not fit the config MUST be refused by name.
func TestWeightsMustFit(t *testing.T) {
	weights, err := fixtures.FS.ReadFile("nano-llama/model.safetensors")
	require.NoError(t, err)
	raw, err := fixtures.FS.ReadFile("nano-llama/config.json")
	require.NoError(t, err)
	folder := fstest.MapFS{
		"config.json":       &fstest.MapFile{Data: replaceField(t, raw, `"intermediate_size": 256`)},
		"model.safetensors": &fstest.MapFile{Data: weights},
	}
	_, err = llama.Load(folder)
	require.ErrorContains(t, err, "mlp.gate_proj.weight")
}
