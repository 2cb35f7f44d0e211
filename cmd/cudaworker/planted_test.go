package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	kernels "github.com/assay-suite/assay/kernels_test"
)

// A slip in an example's source MUST be a fault: here top-k writes every key that ties for the last slots.
func TestPlantedExampleOnTheCPU(t *testing.T) {
	if os.Getenv("CUDAWORKER_EXAMPLES") == "" {
		t.Skip("CUDAWORKER_EXAMPLES is not set: the planted kernel was not judged on the CPU (bash .ci/cuda cpu)")
	}
	dir := t.TempDir()
	for name, slip := range map[string][2]string{
		"topk.cu":       {"more = i < n && u > prefix", "more = i < n && u >= prefix"},
		"topk.manifest": {},
	} {
		text, err := os.ReadFile(filepath.Join("../../examples/cuda", name))
		require.NoError(t, err)
		require.Contains(t, string(text), slip[0])
		text = []byte(strings.Replace(string(text), slip[0], slip[1], 1))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	worker := kernels.Worker(t.Context(), line("command", "-emulate", "g++", filepath.Join(dir, "topk.manifest")))
	r, err := kernels.Run(t.Context(), worker, kernels.Operators("topk"))
	require.NoError(t, err)
	assert.Equal(t, 1, r.Code, r.Verdict)
}
