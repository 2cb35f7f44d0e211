package inflate

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/spelling"
	"github.com/assay-suite/assay/safetensors"
)

// oneLayer writes nano-flash with its layer i alone, and returns the folder.
func oneLayer(t *testing.T, i int) string {
	t.Helper()
	dir := t.TempDir()
	raw, err := os.ReadFile("../../fixtures/nano-flash/config.json")
	require.NoError(t, err)
	var c map[string]any
	require.NoError(t, json.Unmarshal(raw, &c))
	for _, list := range []string{"layer_types", "mlp_layer_types"} {
		kinds, ok := c[list].([]any)
		require.True(t, ok)
		c[list] = kinds[i : i+1]
	}
	c["num_hidden_layers"] = 1
	raw, err = json.Marshal(c)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.json"), raw, 0o600))

	ckpt, err := safetensors.OpenSpelled(flash(t), ".", spelling.Release)
	require.NoError(t, err)
	var header []safetensors.Tensor
	from := map[string]string{}
	for _, stored := range ckpt.Names() {
		info, ok := ckpt.Tensor(stored)
		require.True(t, ok)
		name := spelling.Release(stored)
		if rest, ok := strings.CutPrefix(name, "layers."); ok {
			at, rest, _ := strings.Cut(rest, ".")
			if at != fmt.Sprint(i) {
				continue
			}
			name = "layers.0." + rest
		}
		from[name] = stored
		header = append(header, safetensors.Tensor{Name: name, DType: info.DType, Shape: info.Shape})
	}
	out, err := safetensors.Create(filepath.Join(dir, "model.safetensors"), nil, header...)
	require.NoError(t, err)
	for _, h := range header {
		bytes, err := ckpt.Bytes(from[h.Name])
		require.NoError(t, err)
		require.NoError(t, out.WriteAt(h.Name, 0, bytes))
	}
	require.NoError(t, out.Close())
	require.NoError(t, ckpt.Close())
	return dir
}

// In V4-Flash's own sizes each layer of the model, spread, MUST give the small one's logits when it stands alone: a
// layer takes 3 GiB in float64, and all of them together more than a test should. Under the full budget.
func TestV4FlashLayerByLayer(t *testing.T) {
	if os.Getenv("ASSAY_BUDGET") != "full" {
		t.Skip("full budget: four layers of 3 GiB each")
	}
	shape, err := Lookup("v4-flash")
	require.NoError(t, err)
	f, err := FormatByName("hf-fp64")
	require.NoError(t, err)
	for i, tokens := range []int{24, 24, 140, 24} { // a compressed row of the third takes 128
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			small, ids := oneLayer(t, i), prompt(t, 200)[:tokens]
			out := filepath.Join(t.TempDir(), "out")
			_, err := Run(context.Background(), Options{
				From: os.DirFS(small), FromName: "nano-flash", Out: out, Shape: shape, Format: f, Experts: 12, Seed: 11,
			})
			require.NoError(t, err)
			want := pass(t, loaded(t, os.DirFS(small)), ids)
			off := apart(want, pass(t, loaded(t, os.DirFS(out)), ids))
			t.Logf("layer %d, %d tokens: logits within %.1e", i, tokens, off)
			require.LessOrEqual(t, off, noise)
		})
	}
}
