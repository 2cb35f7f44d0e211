package inference_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/weights"
)

// A checkpoint folder, examined before anybody serves it: here a small one that assay ships.
func TestCheckpoint(t *testing.T) {
	shipped, err := fs.Sub(fixtures.FS, "nano-v4")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "my-model")
	if err := os.CopyFS(dir, shipped); err != nil {
		t.Fatal(err)
	}
	weights.Test(t, dir)
}
