package checkpoint_test

import (
	"context"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/internal/checkpoint"
)

// nanoFolders are the shipped checkpoints: fp32, MXFP4 with block-fp8, NVFP4 with block-fp8.
var nanoFolders = []string{"nano-v4", "nano-v4-mxfp4", "nano-v4-nvfp4"}

func shipped(t *testing.T, folder string) fs.FS {
	t.Helper()
	fsys, err := fs.Sub(fixtures.FS, folder)
	require.NoError(t, err)
	return fsys
}

func nanoConfig(t testing.TB) []byte {
	t.Helper()
	raw, err := fixtures.FS.ReadFile("nano-v4/config.json")
	require.NoError(t, err)
	return raw
}

// The sound folders raise nothing, with the config, without it, and against the fp32 original.
func TestSoundFoldersRaiseNothing(t *testing.T) {
	for _, folder := range nanoFolders {
		t.Run(folder, func(t *testing.T) {
			for name, o := range map[string]checkpoint.Options{
				"with-config": {Config: nanoConfig(t)},
				"alone":       {},
				"with-base":   {Config: nanoConfig(t), Base: shipped(t, "nano-v4")},
			} {
				r, err := checkpoint.Examine(context.Background(), shipped(t, folder), o)
				require.NoError(t, err)
				for _, f := range r.Findings {
					t.Errorf("%s: %s %v", name, f, f.Tensors)
				}
				t.Logf("%s: %d tensors (expected %d), %d bytes, %.3f s, skipped %q", name, r.Tensors, r.Expected, r.Bytes,
					r.Seconds, r.Skipped)
				if name != "alone" && r.Expected != r.Tensors {
					t.Errorf("%s: %d tensors, the config calls for %d", name, r.Tensors, r.Expected)
				}
			}
		})
	}
}
