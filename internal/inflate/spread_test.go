package inflate

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSpreadReachesEverything: of a spread model at least 90 % of the channels of every matrix, each head, each tile of
// 64 and each expert MUST carry signal: an rms of at least 1 % of the tensor's. Rotated numbers of a head that the
// small rotary table has no frequency for are zero, and counted here.
func TestSpreadReachesEverything(t *testing.T) {
	dir := written(t, Options{Seed: 9}, untouched)
	c := open(t, dir)
	spare := 1 / float64(middle.Hidden) // the channel by which words are never answered
	unturned := middle.RopeDims - 16    // of each head's numbers
	for name, cannot := range map[string]float64{
		"layers.1.attn.wq_a.weight": 0, "layers.1.attn.wq_b.weight": float64(unturned) / float64(middle.HeadDim),
		"layers.1.attn.wo_b.weight": spare, "layers.1.attn.indexer.wq_b.weight": float64(unturned) / float64(middle.IndexDim),
		"layers.1.ffn.experts.0.w1.weight": 0, "layers.1.ffn.experts.15.w2.weight": spare, "layers.2.ffn.gate.weight": 0,
		"layers.3.ffn.shared_experts.w3.weight": 0, "layers.1.hc_attn_fn": 0,
	} {
		info, ok := c.Tensor(name)
		require.True(t, ok, name)
		x, err := c.Float64s(name)
		require.NoError(t, err)
		rows, cols := info.Shape[0], info.Shape[1]
		row, col := make([]float64, rows), make([]float64, cols)
		total := 0.0
		for i, v := range x {
			row[i/cols] += v * v / float64(cols)
			col[i%cols] += v * v / float64(rows)
			total += v * v / float64(len(x))
		}
		silent := func(of []float64) float64 {
			n := 0
			for _, v := range of {
				if math.Sqrt(v) < 0.01*math.Sqrt(total) {
					n++
				}
			}
			return float64(n) / float64(len(of))
		}
		if got := silent(row); got > cannot {
			t.Errorf("%s: %.3f of the rows carry nothing, %.3f cannot", name, got, cannot)
		}
		if got := silent(col); got > spare {
			t.Errorf("%s: %.3f of the columns carry nothing", name, got)
		}
		for from := 0; from+64 <= rows; from += 64 {
			if silent(row[from:from+64]) == 1 {
				t.Errorf("%s: rows %d to %d carry nothing", name, from, from+63)
			}
		}
	}
	placed := open(t, written(t, Options{}, untouched)) // the same check of a placed model MUST fail
	x, err := placed.Float64s("layers.1.attn.wo_b.weight")
	require.NoError(t, err)
	require.Zero(t, x[len(x)-1])
}
