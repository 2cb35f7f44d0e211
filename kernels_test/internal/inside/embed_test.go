package inside

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/assay-suite/assay/oracle"
)

// lossless is what float64 rounding of the embedded operators may move: they add the same terms and zeros, so 1e-9 of
// values near 1 is far above it and far below any effect of a wrong embedding.
const lossless = 1e-9

func normal(rng *rand.Rand, rows, cols int) oracle.Mat {
	m := oracle.NewMat(rows, cols)
	for i := range m.Data {
		m.Data[i] = rng.NormFloat64()
	}
	return m
}

func apart(a, b oracle.Mat) float64 {
	if a.Rows != b.Rows || a.Cols != b.Cols {
		return math.Inf(1)
	}
	worst := 0.0
	for i, v := range a.Data {
		if d := math.Abs(v - b.Data[i]); d > worst || d != d {
			worst = d
		}
	}
	return worst
}

// The oracles on operands embedded into V4-Flash's sizes MUST give what they give on the original ones.
func TestEmbeddingIsLossless(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	s := Flash()
	q, k, w := normal(rng, 5, 4*32), normal(rng, 9, 32), normal(rng, 5, 4)
	visible := []int{0, 3, 9, 9, 1}
	q2, k2, w2 := s.indexer(q, k, w)
	want, got := oracle.IndexerLogits(q, k, w, visible), oracle.IndexerLogits(q2, k2, w2, visible)
	for i, v := range want.Data {
		if v != got.Data[i] && !(math.Abs(v-got.Data[i]) <= lossless) {
			t.Fatalf("logit %d is %v embedded and %v", i, got.Data[i], v)
		}
	}

	in := oracle.AttentionInput{
		Q: normal(rng, 3, 4*64), Positions: []int{5, 6, 7}, Window: normal(rng, 6, 64), WindowStart: 2, WindowSize: 4,
		Compressed: normal(rng, 4, 64), Selected: [][]int{{0}, {0, 2}, {1, 2, 3}}, Sink: []float64{0.3, -1, 2, 0},
		Scale: 0.125,
	}
	big, width, heads := s.attention(in)
	if off := apart(unpad(oracle.Attention(big), width, heads, s.HeadDim), oracle.Attention(in)); off > lossless {
		t.Errorf("attention differs by %v", off)
	}
	window, extra := s.lists(in)
	if len(window[0]) != s.Window || len(extra[0]) != s.TopK || window[0][3] != 3 || window[0][4] != -1 ||
		extra[2][2] != 3 || extra[2][3] != -1 {
		t.Errorf("lists are %v... and %v...", window[0][:6], extra[2][:6])
	}

	for _, eps := range []float64{0, 1e-6} {
		cfg := oracle.HCConfig{Streams: 4, Iterations: 20, Eps: eps, NormEps: eps}
		x, fn := normal(rng, 3, 4*128), normal(rng, 24, 4*128)
		scale, base := []float64{0.8, 1.3, 1.7}, normal(rng, 1, 24).Data
		x2, fn2, cfg2, wide := s.collapse(x, fn, cfg)
		pre, post, comb := oracle.HCSplit(oracle.HCMix(x, fn, cfg.NormEps), scale, base, cfg)
		pre2, post2, comb2 := oracle.HCSplit(oracle.HCMix(x2, fn2, cfg2.NormEps), scale, base, cfg2)
		for name, off := range map[string]float64{
			"post": apart(post2, post), "comb": apart(comb2, comb),
			"y": apart(unpad(oracle.HCPre(x2, pre2), wide, 1, s.Width), oracle.HCPre(x, pre)),
		} {
			if off > lossless {
				t.Errorf("eps %v: %s differs by %v", eps, name, off)
			}
		}
		f := normal(rng, 3, 128)
		out := unpad(oracle.HCPost(pad(f, 128, 1, s.Width), post, comb, x2), 128, 4, s.Width)
		if off := apart(out, oracle.HCPost(f, post, comb, x)); off > lossless {
			t.Errorf("spread differs by %v", off)
		}
	}
}
