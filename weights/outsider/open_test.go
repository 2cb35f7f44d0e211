package outsider

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/safetensors"
)

// Every folder MUST be one that the public reader opens, with the bytes that were drawn.
func TestFoldersOpen(t *testing.T) {
	t.Parallel()
	for i, p := range pairs() {
		if testing.Short() && i%9 > 0 {
			continue
		}
		f := draw(p, 0)
		f.hub = false
		dir, err := f.put(t.TempDir())
		require.NoError(t, err, p.name())
		c, err := safetensors.OpenCheckpoint(os.DirFS(dir), ".")
		require.NoError(t, err, p.name())
		total := 0
		for _, x := range f.tensors {
			total += len(x.data)
		}
		for _, w := range f.weights {
			b, err := c.Bytes(w.codes())
			require.NoError(t, err, p.name())
			require.Equal(t, f.byName[w.codes()].data, b)
		}
		require.NoError(t, c.Close())
		t.Logf("%-32s %4d tensors %5d kB, %d shards", p.name(), len(f.tensors), total>>10, f.shards)
	}
}
