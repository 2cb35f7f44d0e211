package inflate

import (
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/internal/spelling"
	"github.com/assay-suite/assay/safetensors"
)

// open is a written folder under the release's names.
func open(t *testing.T, dir string) *safetensors.Checkpoint {
	t.Helper()
	c, err := safetensors.OpenSpelled(os.DirFS(dir), ".", spelling.Release)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

// halfStep bounds what storing x in a block of largest magnitude amax may change: half a unit in the last place of a
// normal value, or half of the smallest step that the block's scale leaves. A power of two as scale is at most twice
// what amax asks for.
var halfStep = map[storage]func(x, amax float64) float64{
	f64:      func(float64, float64) float64 { return 0 },
	f32:      func(x, _ float64) float64 { return math.Ldexp(math.Abs(x), -24) + 1e-45 },
	bf16:     func(x, _ float64) float64 { return math.Ldexp(math.Abs(x), -8) },
	blockFP8: func(x, amax float64) float64 { return math.Ldexp(math.Abs(x), -4) + max(2*amax, 1e-4)/448*0x1p-10 },
	e8m0FP8:  func(x, amax float64) float64 { return math.Ldexp(math.Abs(x), -4) + max(2*amax, 1e-4)/448*0x1p-10 },
	mxfp4:    func(x, amax float64) float64 { return math.Abs(x)/4 + 2*amax/6/4 },
	// the e4m3 scale of the block is off by 2^-4 itself, and a value may saturate by as much
	nvfp4: func(x, amax float64) float64 { return math.Abs(x)/3 + amax/6/3 },
}

// Every format MUST hold the same model, each tensor within half a step of its format, and the reader of quantised
// checkpoints MUST make of it what was meant.
func TestFormatsHoldTheModel(t *testing.T) {
	meant := open(t, written(t, Options{Seed: 3, Experts: 12}, untouched))
	for _, f := range Formats() {
		t.Run(f.Name, func(t *testing.T) {
			dir := written(t, Options{Seed: 3, Experts: 12, Format: f, Shard: 32 << 20}, untouched)
			loaded(t, os.DirFS(dir)) // every shape is what config.json says
			c := open(t, dir)
			for name, role := range map[string]role{
				"embed.weight": plain, "layers.1.attn.wq_b.weight": linear, "layers.3.attn.wo_a.weight": grouped,
				"layers.2.ffn.experts.5.w1.weight": expert, "layers.2.ffn.experts.5.w2.weight": expert,
				"layers.0.ffn.shared_experts.w3.weight": together, "layers.1.hc_ffn_fn": exact,
				"layers.1.attn.indexer.weights_proj.weight": plain,
			} {
				info, ok := meant.Tensor(name)
				require.True(t, ok, name)
				want, err := meant.Float64s(name)
				require.NoError(t, err)
				got, err := nano.Dequantise(c, name, info.Shape)
				require.NoError(t, err)
				as, cols := f.as[role], info.Shape[1]
				for i, amax := range blockMaxima(want, as, cols) {
					if off := math.Abs(got[i] - want[i]); !(off <= halfStep[as](want[i], amax)) {
						t.Fatalf("%s[%d, %d] is %g, meant %g", name, i/cols, i%cols, got[i], want[i])
					}
				}
			}
		})
	}
}

// blockMaxima are, for every element, the largest magnitude of the block that it is stored in.
func blockMaxima(x []float64, s storage, cols int) []float64 {
	size := map[storage][2]int{blockFP8: {128, 128}, e8m0FP8: {128, 128}, mxfp4: {1, 32}, nvfp4: {1, 16}}[s]
	all := make([]float64, len(x))
	if size[0] == 0 {
		return all
	}
	worst := map[[2]int]float64{}
	for i, v := range x {
		at := [2]int{i / cols / size[0], i % cols / size[1]}
		worst[at] = max(worst[at], math.Abs(v))
	}
	for i := range all {
		all[i] = worst[[2]int{i / cols / size[0], i % cols / size[1]}]
	}
	return all
}
