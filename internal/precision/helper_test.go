package precision

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/safetensors"
)

// traces are the committed passes: 67 tokens with all positions, 391 with the last 24.
var traces = []string{"nano-v4/hf_trace_067.safetensors", "nano-v4/hf_trace_391.safetensors.gz"}

func shipped(t testing.TB, folder string) *safetensors.Checkpoint {
	t.Helper()
	ckpt, err := safetensors.OpenCheckpoint(fixtures.FS, folder)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ckpt.Close()) })
	return ckpt
}

func nanoConfig(t testing.TB) []byte {
	t.Helper()
	raw, err := fixtures.FS.ReadFile("nano-v4/config.json")
	require.NoError(t, err)
	return raw
}

func captured(t testing.TB, names ...string) *States {
	t.Helper()
	s, err := Captured(fixtures.FS, names...)
	require.NoError(t, err)
	return s
}

func newMeter(t testing.TB, folder string, s *States) *meter {
	t.Helper()
	set, defaulted, err := readSettings(nanoConfig(t))
	require.NoError(t, err)
	require.Empty(t, defaulted)
	src, err := newSource(shipped(t, folder), nil)
	require.NoError(t, err)
	return &meter{source: src, set: set, states: s, o: Options{Tokens: 8, Candidate: Emulate}}
}
