package trace_test

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fixtures"
	_ "github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/internal/trace"
)

func TestOpenReadsBothShippedTraces(t *testing.T) {
	for name, want := range map[string]struct{ length, kept int }{
		"nano-v4/hf_trace_067.safetensors": {67, 67},
		"nano-v4/hf_trace_391.safetensors": {391, 24},
	} {
		tr, err := trace.Open(fixtures.FS, name)
		require.NoError(t, err)
		assert.Equal(t, want.length, tr.Length, name)
		assert.Equal(t, want.kept, tr.Kept, name)
		assert.Len(t, tr.Prompt, want.length, name)
		assert.GreaterOrEqual(t, len(tr.Names()), 114, name)
		assert.Equal(t, want.kept, tr.Mat("model.norm.out", 0).Rows)
		assert.Len(t, tr.Sets("model.layers.1.self_attn.compressor.indexer.out"), want.kept)
	}
}

func TestOpenNamesWhatIsWrong(t *testing.T) {
	// A valid safetensors file without the metadata of a trace.
	plain := []byte("\x02\x00\x00\x00\x00\x00\x00\x00{}")
	_, err := trace.Open(fstest.MapFS{"x.safetensors": {Data: plain}}, "x.safetensors")
	require.Error(t, err)
}
