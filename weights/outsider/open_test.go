package outsider

import (
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/safetensors"
)

func full() bool {
	b, _ := suite.Value("ASSAY_BUDGET")
	return b == "full"
}

// Every folder MUST be one that the public reader opens, with the bytes that were drawn.
func TestFoldersOpen(t *testing.T) {
	t.Parallel()
	for i, p := range pairs() {
		if !full() && i%26 > 0 {
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

// Every kind of damage MUST apply somewhere, name what it harmed, and leave the folder that it was given alone.
func TestDamagesApply(t *testing.T) {
	t.Parallel()
	applied := map[string]int{}
	for _, p := range []pair{
		{"bf16", "llama", ""},
		{"ct-w4a16", "llama", ""},
		{"modelopt-nvfp4", "qwen3-moe", ""},
		{"gptoss-mxfp4", "gpt-oss", ""},
		{"gptq", "qwen2", ""},
		{"fp8-block", "deepseek-v3", ""},
		{"ct-w4a16", "qwen3-next", ""},
		{"awq", "phi3", ""},
	} {
		f := draw(p, 1)
		before := slices.Clone(f.tensors)
		for _, m := range damages() {
			c := f.clone()
			words, ok := m.do(c, seeded(m.kind, 0))
			if !ok {
				continue
			}
			applied[m.kind]++
			assert.NotEmpty(t, words, m.kind)
			changed := c.spoil != nil || c.index != nil || !slices.Equal(f.tensors, c.tensors) || c.config == nil ||
				string(encoded(f.config)) != string(encoded(c.config))
			for name, data := range c.files {
				changed = changed || string(f.files[name]) != string(data)
			}
			assert.True(t, changed, "%s in %s changes nothing", m.kind, p.name())
			require.Equal(t, before, f.tensors, m.kind)
		}
	}
	sure := 0
	for _, m := range damages() {
		assert.NotZero(t, applied[m.kind], "%s applies nowhere", m.kind)
		if !m.original {
			sure++
		}
	}
	assert.GreaterOrEqual(t, sure, 30)
	assert.GreaterOrEqual(t, len(pairs()), 30)
	t.Logf("%d pairs, %d kinds of damage, and %d that need the original", len(pairs()), sure, len(damages())-sure)
}
