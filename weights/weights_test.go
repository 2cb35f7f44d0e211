package weights_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/weights"
)

// What is no checkpoint is refused in one sentence that says what it is; nothing is examined.
func TestNoCheckpoints(t *testing.T) {
	for name, c := range map[string]struct {
		files []string
		says  string
	}{
		"empty":      {nil, "is empty"},
		"gguf":       {[]string{"model-q4.gguf", "config.json"}, "GGUF"},
		"pickle":     {[]string{"pytorch_model-00001-of-00002.bin", "config.json"}, "pickles"},
		"torch":      {[]string{"consolidated.00.pth"}, "pickles"},
		"pt":         {[]string{"model.pt"}, "pickles"},
		"lora":       {[]string{"adapter_model.safetensors", "adapter_config.json"}, "LoRA"},
		"only-jsons": {[]string{"config.json", "tokenizer.json"}, "neither model.safetensors"},
		"cache":      {[]string{"snapshots"}, "hub cache"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, f := range c.files {
				require.NoError(t, os.WriteFile(filepath.Join(dir, f), []byte("{}"), 0o600))
			}
			_, err := weights.Examine(context.Background(), dir)
			if !errors.Is(err, weights.ErrNoCheckpoint) || !strings.Contains(err.Error(), c.says) ||
				strings.ContainsRune(err.Error(), '\n') {
				t.Errorf("error %v, want one line of ErrNoCheckpoint about %q", err, c.says)
			}
		})
	}
	for _, path := range []string{filepath.Join("..", "fixtures", "nano-v4", "model.safetensors"), "no-such-folder"} {
		if _, err := weights.Examine(context.Background(), path); !errors.Is(err, weights.ErrNoCheckpoint) {
			t.Errorf("%s: error %v, want ErrNoCheckpoint", path, err)
		}
	}
}

// The shipped folders are sound.
func TestShipped(t *testing.T) {
	for _, name := range []string{"nano-flash", "nano-llama", "nano-v4", "nano-v4-mxfp4", "nano-v4-nvfp4"} {
		weights.Test(t, filepath.Join("..", "fixtures", name))
	}
}

// nano copies a shipped folder.
func nano(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("..", "fixtures", name))))
	return dir
}

// A damaged one is not: the code is 1 and the verdict names what was found first.
func TestDamaged(t *testing.T) {
	dir := nano(t, "nano-v4-mxfp4")
	shard := filepath.Join(dir, "model-00002-of-00003.safetensors")
	require.NoError(t, os.Chmod(shard, 0o600))
	raw, err := os.ReadFile(shard)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(shard, raw[:len(raw)-100], 0o600))
	r, err := weights.Examine(context.Background(), dir)
	require.NoError(t, err)
	if r.Code != 1 || !strings.Contains(r.Verdict, "1 certain") || r.Findings[0].Severity != weights.Certain {
		t.Errorf("code %d, verdict %q, findings %v", r.Code, r.Verdict, r.Findings)
	}
}

// A hub cache keeps files as links into its blobs: they are followed. Any other link out of the folder is refused by
// name, and what it leads to is not read.
func TestLinks(t *testing.T) {
	cache := t.TempDir()
	blobs, snapshot := filepath.Join(cache, "blobs"), filepath.Join(cache, "snapshots", "0123abc")
	require.NoError(t, os.MkdirAll(blobs, 0o755))
	require.NoError(t, os.MkdirAll(snapshot, 0o755))
	source := filepath.Join("..", "fixtures", "nano-v4-nvfp4")
	entries, err := os.ReadDir(source)
	require.NoError(t, err)
	for i, e := range entries {
		raw, err := os.ReadFile(filepath.Join(source, e.Name()))
		require.NoError(t, err)
		hash := strings.Repeat(string(rune('a'+i)), 40)
		require.NoError(t, os.WriteFile(filepath.Join(blobs, hash), raw, 0o600))
		require.NoError(t, os.Symlink(filepath.Join("..", "..", "blobs", hash), filepath.Join(snapshot, e.Name())))
	}
	r, err := weights.Examine(context.Background(), snapshot)
	require.NoError(t, err)
	if r.Code != 0 || r.Tensors == 0 {
		t.Errorf("a hub cache: code %d, %s", r.Code, r.Verdict)
	}
	outside := filepath.Join(t.TempDir(), "elsewhere.safetensors")
	raw, err := os.ReadFile(filepath.Join(source, "model-00002-of-00003.safetensors"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(outside, raw, 0o600))
	link := filepath.Join(snapshot, "model-00002-of-00003.safetensors")
	require.NoError(t, os.Remove(link))
	require.NoError(t, os.Symlink(outside, link))
	r, err = weights.Examine(context.Background(), snapshot)
	require.NoError(t, err)
	if r.Code != 1 || !strings.Contains(r.Findings[0].Text, "model-00002-of-00003.safetensors") ||
		!strings.Contains(r.Findings[0].Text, "outside the checkpoint's folder") {
		t.Errorf("a link out of the folder: code %d, %v", r.Code, r.Findings)
	}
}
