//go:build weights

package numerics_test

import (
	"cmp"
	"fmt"
	"io/fs"
	"math"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/safetensors"
)

// hcFn matches the mixing weights of every layer, in both spellings.
var hcFn = regexp.MustCompile(`^(.*)layers\.(\d+)\.hc_(attn|ffn)_fn$`)

// The mHC mix of a checkpoint's own layers under fp32, TF32 and bf16 on seeded hidden states: each contract MUST stay
// inside its bound and be rejected under the finer one, on these weights too. ASSAY_WEIGHTS names the folder.
func TestWeightsMHC(t *testing.T) {
	dir, set := os.LookupEnv("ASSAY_WEIGHTS")
	if set && dir != "" {
		fmt.Printf("weights: %s, hidden states drawn from a seed\n", dir)
		examine(t, os.DirFS(dir), ".", "checkpoint")
		return
	}
	fmt.Println("weights: ASSAY_WEIGHTS is not set, so the shipped nano folders are examined, hidden states drawn from " +
		"a seed")
	for _, name := range []string{"nano-v4", "nano-v4-mxfp4", "nano-v4-nvfp4"} {
		t.Run(name, func(t *testing.T) { examine(t, fixtures.FS, name, name) })
	}
}

// examine measures the first, a middle and the last layer.
func examine(t *testing.T, fsys fs.FS, dir, label string) {
	t.Helper()
	ckpt, err := safetensors.OpenCheckpoint(fsys, dir)
	require.NoError(t, err, "ASSAY_WEIGHTS must name a folder with model.safetensors or an index")
	t.Cleanup(func() { _ = ckpt.Close() })
	var found [][]string
	for _, name := range ckpt.Names() {
		if m := hcFn.FindStringSubmatch(name); m != nil {
			found = append(found, m)
		}
	}
	require.NotEmpty(t, found, "no tensor named layers.N.hc_attn_fn: this checkpoint has no hyper-connections")
	slices.SortFunc(found, func(a, b []string) int {
		return cmp.Or(cmp.Compare(len(a[2]), len(b[2])), cmp.Compare(a[2], b[2]), cmp.Compare(a[3], b[3]))
	})
	for _, i := range slices.Compact([]int{0, 1, len(found) / 2, len(found) - 1}) {
		m := found[i]
		prefix := fmt.Sprintf("%slayers.%s.hc_%s_", m[1], m[2], m[3])
		id := fmt.Sprintf("%s/layer-%s/%s", label, m[2], m[3])
		info, _ := ckpt.Tensor(prefix + "fn")
		s := newSite(t, ckpt, id, prefix, hiddenStates(id, info.Shape[1]))
		checkLadder(t, s)
	}
}

// hiddenStates draws 8 rows: Gaussian, one channel in 64 ten times larger, as residual streams have outlier channels.
func hiddenStates(id string, k int) []float64 {
	rng := suite.Rand("numerics/weights/" + id)
	x := make([]float64, 8*k)
	for i := range x {
		x[i] = rng.NormFloat64()
		if i%k%64 == 17 {
			x[i] *= 10
		}
		x[i] = float64(float32(x[i] * math.Exp2(-2)))
	}
	return x
}
