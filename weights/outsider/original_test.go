package outsider

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// unquantised is the checkpoint that a folder was quantised from: the same names, plain.
func (f *folder) unquantised() *folder {
	o := f.clone()
	o.metadata, o.hub = nil, false
	if o.config = deep(f.config).(object); f.quantisation() != nil {
		delete(o.config, "quantization_config")
		delete(o.config, "quantization")
		if t, ok := o.config["text_config"].(object); ok {
			delete(t, "quantization_config")
		}
	}
	delete(o.files, "hf_quant_config.json")
	for _, w := range f.weights {
		if m := f.source[w]; m != nil {
			for _, t := range slices.Clone(o.tensors) {
				if strings.HasPrefix(t.name, w.module+".") && !strings.HasSuffix(t.name, ".bias") {
					o.drop(t.name)
				}
			}
			o.add(w.module+".weight", "BF16", store("BF16", m), w.rows, w.cols)
		}
	}
	return o
}

// What nothing in a folder contradicts MUST be found and named against the original, and a sound folder MUST pass: what
// a user runs, with ASSAY_REFERENCE.
func TestAgainstOriginal(t *testing.T) {
	if !full() {
		return // builds a binary
	}
	binary := filepath.Join(t.TempDir(), "weights.test")
	out, err := exec.Command("go", "test", "-c", "-tags", "weights", "-o", binary, "..").CombinedOutput()
	require.NoError(t, err, string(out))
	kinds := map[string]tally{}
	for _, p := range []pair{
		{"modelopt-nvfp4", "llama", ""},
		{"ct-mxfp4", "qwen3-moe", ""},
		{"ct-w4a16", "llama", ""},
		{"gptq", "qwen2", ""},
		{"awq", "phi3", ""},
		{"fp8-block", "deepseek-v3", ""},
		{"ct-fp8-channel", "llama", ""},
		{"ct-int8", "qwen2", ""},
		{"bnb-nf4", "gemma2", ""},
		{"mlx-4bit", "llama-tied", ""},
		{"quark-mxfp4", "deepseek-v3", ""},
		{"ct-mxfp8", "qwen3", ""},
	} {
		f := draw(p, 3000)
		f.hub = false
		code, said := against(t, binary, f, f.unquantised())
		assert.Zero(t, code, "%s is sound:\n%s", p.name(), said)
		for _, m := range damages() {
			c := f.clone()
			if words, ok := m.do(c, seeded(m.kind+p.name(), 0)); ok && m.original {
				code, said := against(t, binary, c, f.unquantised())
				got := tally{missed: 1}
				if code == 1 {
					got = tally{found: 1}
					for line := range strings.Lines(said) {
						line = strings.TrimSpace(line)
						if (strings.HasPrefix(line, "certain ") || strings.HasPrefix(line, "likely ")) && named(line, words) {
							got = tally{named: 1}
						}
					}
				}
				if got.named == 0 {
					t.Logf("MISS %s in %s: code %d, wanted %v; said\n%s", m.kind, p.name(), code, words, said)
				}
				kinds[m.kind] = kinds[m.kind].plus(got)
			}
		}
	}
	table(t, "kind, against the original", kinds)
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		assert.GreaterOrEqual(t, kinds[k].share(), 0.8, k)
	}
}

// against runs the job, and gives its exit code and what it says of the comparison.
func against(t *testing.T, binary string, f, original *folder) (int, string) {
	t.Helper()
	base := t.TempDir()
	dir, err := f.put(base)
	require.NoError(t, err)
	source, err := original.put(filepath.Join(base, "original"))
	require.NoError(t, err)
	run := exec.Command(binary, "-test.run=^TestWeights$")
	run.Dir = base
	run.Env = append(os.Environ(), "ASSAY_WEIGHTS="+dir, "ASSAY_REFERENCE="+source)
	out, err := run.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	require.NoError(t, os.RemoveAll(base))
	return run.ProcessState.ExitCode(), string(bytes.TrimSpace(out))
}
