package oracle_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/oracle"
	"github.com/assay-suite/assay/oracle/faults"
)

// What recorded tensors cannot see: an eps of 1e-6 beside magnitudes near 1, extreme logits, empty
// rows, degenerate ratios. Expected values are closed forms.

// near allows the float64 rounding of a handful of operations.
func near(got, want float64) bool { return math.Abs(got-want) <= 1e-14*math.Abs(want) }

func TestRMSNormEpsDecidesTinyRows(t *testing.T) {
	// mean(x²) = eps: the row is divided by sqrt(2 eps), not by its own root mean square.
	x := oracle.Mat{Rows: 1, Cols: 4, Data: []float64{1e-3, -1e-3, 1e-3, 1e-3}}
	got := oracle.RMSNorm(x, []float64{1, 2, 3, 4}, 0, 1e-6)
	for d, w := range []float64{1, -2, 3, 4} {
		if want := w / math.Sqrt2; !near(got.Data[d], want) {
			t.Errorf("channel %d is %v, want %v", d, got.Data[d], want)
		}
	}
	zero := oracle.RMSNorm(oracle.NewMat(1, 4), nil, 4, 1e-6)
	if zero.MaxAbs() != 0 {
		t.Errorf("a zero row becomes %v", zero.Data)
	}
}

func TestHCMixEpsDecidesTinyRows(t *testing.T) {
	v := oracle.Mat{Rows: 1, Cols: 8, Data: []float64{1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3}}
	fn := oracle.NewMat(1, 8)
	fn.Data[0] = 5
	if got, want := oracle.HCMix(v, fn, 1e-6).Data[0], 5/math.Sqrt2; !near(got, want) {
		t.Errorf("mix is %v, want %v", got, want)
	}
}

// With closed gates only eps is left, and only on the gate before the sublayer.
func TestHCSplitEpsOnPreAlone(t *testing.T) {
	cfg := oracle.HCConfig{Streams: 2, Iterations: 20, Eps: 1e-6}
	base := []float64{-800, -800, -800, -800, 0, 0, 0, 0}
	check := func(ops oracle.Ops) bool {
		pre, post, _ := ops.HCSplit(oracle.NewMat(1, 8), []float64{0.5, 0.5, 0.5}, base, cfg)
		return pre.Data[0] == 1e-6 && pre.Data[1] == 1e-6 && post.Data[0] == 0 && post.Data[1] == 0
	}
	if !check(oracle.Reference()) {
		t.Error("closed gates do not leave pre = eps and post = 0")
	}
	f, err := faults.Lookup("hc-eps-missing")
	require.NoError(t, err)
	if check(f.Apply(oracle.Reference())) {
		t.Error("a missing eps passes")
	}
}

// Equal logits: softmax gives 1/n + eps; each step then divides by n times the entry plus eps.
func TestSinkhornOfEqualLogits(t *testing.T) {
	const n, eps = 4, 1e-6
	b := make([]float64, n*n)
	for i := range b {
		b[i] = 7
	}
	oracle.Sinkhorn(b, n, 20, eps)
	want := 1.0/n + eps
	for range 39 {
		want /= n*want + eps
	}
	for i, got := range b {
		if !near(got, want) {
			t.Errorf("entry %d is %v, want %v", i, got, want)
		}
	}
	// 0.2499998 of docs/sources.md, to its 7 digits.
	if math.Abs(b[0]-0.2499998) > 5e-8 {
		t.Errorf("entry is %v, published 0.2499998", b[0])
	}
}

// The published example of docs/sources.md, computed there in float64 from the formula.
func TestSinkhornPublishedExample(t *testing.T) {
	b := []float64{2, 0, 0, 0, 0, 1, 0, -1, .5, 0, 0, 0, 0, 0, -2, 3}
	oracle.Sinkhorn(b, 4, 20, 1e-6)
	for i, want := range []float64{
		0.5855009, 0.1326137, 0.2277417, 0.0541448, 0.1152778, 0.5244266, 0.3313187, 0.0289781,
		0.2396503, 0.2432637, 0.4177646, 0.0993221, 0.0595700, 0.0996950, 0.0231740, 0.8175539,
	} {
		if math.Abs(b[i]-want) > 5.1e-8 {
			t.Errorf("entry %d is %v, published %v", i, b[i], want)
		}
	}
	for k := range 4 {
		if sum := b[k] + b[4+k] + b[8+k] + b[12+k]; math.Abs(sum-0.999999) > 1e-9 {
			t.Errorf("column %d sums to %v, published 0.999999", k, sum)
		}
	}
}

// comb is contracted over its first index: a permutation shows which.
func TestHCPostDirection(t *testing.T) {
	comb := oracle.Mat{Rows: 1, Cols: 4, Data: []float64{0, 1, 0, 0}} // comb[0, 1] = 1
	post := oracle.Mat{Rows: 1, Cols: 2, Data: []float64{3, 5}}
	got := oracle.HCPost(oracle.Mat{Rows: 1, Cols: 1, Data: []float64{10}}, post, comb, oracle.Mat{
		Rows: 1,
		Cols: 2,
		Data: []float64{7, 100},
	})
	require.Equal(t, []float64{30, 57}, got.Data)
}

func TestRotateInterleaved(t *testing.T) {
	x := oracle.Mat{Rows: 2, Cols: 6, Data: []float64{9, 8, 1, 0, 1, 0, 9, 8, 1, 0, 0, 1}}
	rope := oracle.Rope{Base: 16, Dims: 4} // 1/4 is exact in fp32
	got := oracle.RotateInterleaved(x, 6, []int{0, 3}, rope, false)
	// Pair 0 turns by 3 rad, pair 1 by 3/sqrt(16) rad; leading dims stay.
	want := []float64{9, 8, 1, 0, 1, 0, 9, 8, math.Cos(3), math.Sin(3), -math.Sin(0.75), math.Cos(0.75)}
	for i, w := range want {
		if math.Abs(got.Data[i]-w) > 1e-15 {
			t.Errorf("element %d is %v, want %v", i, got.Data[i], w)
		}
	}
	back := oracle.RotateInterleaved(got, 6, []int{0, 3}, rope, true)
	for i, w := range x.Data {
		if math.Abs(back.Data[i]-w) > 1e-15 {
			t.Errorf("rotated there and back, element %d is %v, want %v", i, back.Data[i], w)
		}
	}
}

// The table is the model's, in fp32: 10000^(-2/16) = 1/sqrt(10) and its product with the position, each rounded
// once, against big arithmetic.
func TestRopeTableIsInFP32(t *testing.T) {
	exact, ok := new(big.Float).SetPrec(200).SetString("0.316227766016837933199889354443271853372067247945292")
	require.True(t, ok)
	theta, _ := exact.Float32()
	for _, position := range []int{0, 1, 391, 1023, 65535} {
		want, _ := new(big.Float).SetPrec(200).Mul(big.NewFloat(float64(position)), big.NewFloat(float64(theta))).Float32()
		if got := (oracle.Rope{Base: 10000, Dims: 16}).Angle(position, 1); got != float64(want) {
			t.Errorf("position %d turns by %v, want %v", position, got, want)
		}
	}
}

func TestSqrtSoftplusExtremes(t *testing.T) {
	for _, c := range []struct{ z, want, half float64 }{ // half a unit of the last published digit
		{0, 0.8325546112, 5e-11}, // docs/sources.md
		{-20, 4.53999e-5, 5e-11},
		{20, 4.4721359550, 2.3e-10 + 5e-11}, // published as sqrt(20): log1p(e^-20)/(2 sqrt 20) = 2.3e-10 less
		{-16.64, 2.436e-4, 5e-8},            // sgl-project/sglang#34459
		{100, 10, 0},
		{-1500, 0, 0},
		{1e6, 1000, 0},
	} {
		if got := oracle.SqrtSoftplus(c.z); math.Abs(got-c.want) > c.half {
			t.Errorf("SqrtSoftplus(%v) = %v, published %v ± %v", c.z, got, c.want, c.half)
		}
	}
}

// The bias chooses, the score weighs, and the scaling factor enters once.
func TestRouteBiasOnlyInSelection(t *testing.T) {
	logits := oracle.Mat{Rows: 1, Cols: 3, Data: []float64{0, 0, 5}}
	r, err := oracle.Route(logits, []float64{10, 20, -10}, 2, 1.5)
	require.NoError(t, err)
	require.Equal(t, [][]int{{0, 1}}, r.Experts)
	require.Equal(t, [][]float64{{0.75, 0.75}}, r.Weights)
	_, err = oracle.Route(oracle.Mat{Rows: 1, Cols: 1, Data: []float64{math.NaN()}}, nil, 1, 1)
	require.ErrorContains(t, err, "expert 0")
	_, err = oracle.HashRoute(logits, [][]int{{0, 3}}, 1)
	require.ErrorContains(t, err, "expert 3")
}

func TestSwiGLUClampsBeforeTheProduct(t *testing.T) {
	one := oracle.Mat{Rows: 1, Cols: 1, Data: []float64{1}}
	e := oracle.ExpertWeights{W1: one, W2: one, W3: oracle.Mat{Rows: 1, Cols: 1, Data: []float64{-3}}}
	x := oracle.Mat{Rows: 1, Cols: 1, Data: []float64{20}}
	silu10 := 10 / (1 + math.Exp(-10))
	if got, want := oracle.SwiGLU(x, e, 10).Data[0], silu10*-10; !near(got, want) {
		t.Errorf("clamped: %v, want %v", got, want)
	}
	if got, want := oracle.SwiGLU(x, e, 0).Data[0], 20/(1+math.Exp(-20))*-60; !near(got, want) {
		t.Errorf("unclamped: %v, want %v", got, want)
	}
}

func TestCompressOverlap(t *testing.T) {
	pool := oracle.Pooling{Ratio: 2, Width: 1, Overlap: true}
	a := oracle.Mat{Rows: 4, Cols: 2, Data: []float64{1, 10, 2, 20, 3, 30, 4, 40}}
	g := oracle.NewMat(4, 2)
	// Block 0 has no predecessor: mean of its high channels. Block 1: low of block 0, high of its own.
	require.Equal(t, []float64{15, (1 + 2 + 30 + 40) / 4.0}, oracle.Compress(a, g, oracle.Mat{}, oracle.Mat{}, pool).Data)
	// With a carried predecessor block 0 sees its low channels too.
	carried := oracle.Compress(a.Slice(2, 4), g.Slice(2, 4), a.Slice(0, 2), g.Slice(0, 2), pool)
	require.Equal(t, []float64{(1 + 2 + 30 + 40) / 4.0}, carried.Data)
	// A gate decides: ln 3 against 0 weighs 3 to 1.
	g.Data[1] = math.Log(3)
	if got := oracle.Compress(a.Slice(0, 2), g.Slice(0, 2), oracle.Mat{}, oracle.Mat{}, pool).Data[0]; !near(got, 12.5) {
		t.Errorf("gated pool is %v, want 12.5", got)
	}
}

func TestAttentionSinkAndEmptyRow(t *testing.T) {
	in := oracle.AttentionInput{
		Q: oracle.Mat{Rows: 1, Cols: 1, Data: []float64{0}}, Positions: []int{0},
		Window: oracle.Mat{Rows: 1, Cols: 1, Data: []float64{6}}, WindowSize: 1,
		Compressed: oracle.Mat{Rows: 2, Cols: 1, Data: []float64{9, math.NaN()}}, Selected: [][]int{{0}},
		Sink: []float64{0}, Scale: 1,
	}
	// Three equal weights, one of them the sink's; the unselected NaN row is not read.
	require.Equal(t, []float64{5}, oracle.Attention(in).Data)
	require.Equal(t, []float64{1.0 / 3, 1.0 / 3, 0}, oracle.AttentionWeights(in).Data)
	in.WindowSize, in.Selected = 0, nil
	require.Equal(t, []float64{0}, oracle.Attention(in).Data)
}

func TestIndexerLogitsMaskAndRelu(t *testing.T) {
	q := oracle.Mat{Rows: 1, Cols: 2, Data: []float64{2, -3}} // two heads of one channel
	k := oracle.Mat{Rows: 3, Cols: 1, Data: []float64{1, -1, math.NaN()}}
	w := oracle.Mat{Rows: 1, Cols: 2, Data: []float64{5, -7}}
	got := oracle.IndexerLogits(q, k, w, []int{2})
	require.Equal(t, []float64{10, -21, math.Inf(-1)}, got.Data)
}
