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

func TestOpenReadsTheShippedTraces(t *testing.T) {
	for name, want := range map[string]struct{ length, kept, tensors int }{
		"nano-v4/hf_trace_067.safetensors":        {67, 67, 114},
		"nano-v4/hf_trace_391.safetensors.gz":     {391, 24, 114},
		"nano-flash/hf_trace_512.safetensors.gz":  {512, 4, 113},
		"nano-flash/hf_trace_2304.safetensors.gz": {2304, 4, 103},
	} {
		tr, err := trace.Open(fixtures.FS, name)
		require.NoError(t, err)
		assert.Equal(t, want.length, tr.Length, name)
		assert.Equal(t, want.kept, tr.Kept, name)
		assert.Len(t, tr.Prompt, want.length, name)
		assert.Len(t, tr.Names(), want.tensors, name)
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

// A tensor that is named as the twin of another MUST be the other, and of one that is not there, an error.
func TestOpenGivesTwins(t *testing.T) {
	tr, err := trace.Open(fixtures.FS, "nano-flash/hf_trace_512.safetensors.gz")
	require.NoError(t, err)
	assert.True(t, tr.Has("logits"))
	assert.Equal(t, tr.Mat("lm_head.out", 0), tr.Mat("logits", 0))

	header := `{"__metadata__":{"same:logits":"lm_head.out"}}  `
	lone := append([]byte{byte(len(header)), 0, 0, 0, 0, 0, 0, 0}, header...)
	_, err = trace.Open(fstest.MapFS{"x.safetensors": {Data: lone}}, "x.safetensors")
	require.ErrorContains(t, err, `"lm_head.out"`)

	_, err = trace.Open(fstest.MapFS{"x.safetensors.gz": {Data: lone}}, "x.safetensors.gz")
	require.ErrorContains(t, err, "not gzip")
}
