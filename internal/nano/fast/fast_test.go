package fast_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/internal/nano/fast"
	"github.com/assay-suite/assay/oracle"
)

// The operators as a whole are held to their bounds on real inputs by internal/nano; here is what real inputs do not
// have: odd shapes, ties, and numbers that are none.

func random(rng *rand.Rand, rows, cols int) oracle.Mat {
	m := oracle.NewMat(rows, cols)
	for i := range m.Data {
		m.Data[i] = rng.NormFloat64()
	}
	return m
}

// Any number of rows and columns MUST give the oracle's product within (K+3)·u·Σ|x·w|, and rows the bits they have
// alone.
func TestLinearShapes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, assembly := range []bool{true, false} {
		for _, k := range []int{4, 64, 132} {
			for _, n := range []int{1, 4, 15, 16, 24, 64, 100} {
				w := random(rng, n, k)
				linear := fast.New([]oracle.Mat{w}).Begin(oracle.Reference(), false).Ops.Linear
				for _, rows := range []int{0, 1, 2, 5, 6, 7, 48, 49, 101} {
					t.Run(fmt.Sprintf("%v/%dx%dx%d", assembly, rows, k, n), func(t *testing.T) {
						defer fast.Assembly(assembly)()
						x := random(rng, rows, k)
						got, want := linear(x, w), oracle.Linear(x, w)
						for r := range rows {
							require.Equal(t, linear(x.Slice(r, r+1), w).Data, got.Row(r), "row %d alone", r)
							for c := range n {
								sum := 0.0
								for i, v := range x.Row(r) {
									sum += math.Abs(v * w.Row(c)[i])
								}
								if e := math.Abs(got.Row(r)[c] - want.Row(r)[c]); !(e <= float64(k+3)*0x1p-24*sum) {
									t.Fatalf("row %d column %d is off by %.1e of %.1e", r, c, e, sum)
								}
							}
						}
					})
				}
			}
		}
	}
}

// Selection MUST be the oracle's for scores with many ties, zeros of both signs and infinities, and refuse a NaN.
func TestSelectRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	choose := fast.New(nil).Begin(oracle.Reference(), false).Ops.SelectRows
	for _, values := range []int{1, 2, 5, 1 << 30} {
		scores, visible := oracle.NewMat(60, 300), make([]int, 60)
		for r := range scores.Rows {
			visible[r] = rng.IntN(301)
			for i := range scores.Row(r) {
				scores.Row(r)[i] = float64(rng.IntN(values)-values/2) * math.Copysign(1, rng.Float64()-0.5)
			}
			scores.Row(r)[rng.IntN(300)] = math.Inf(rng.IntN(2)*2 - 1)
		}
		for _, k := range []int{0, 1, 64, 299, 512} {
			for _, tie := range []oracle.TieRule{oracle.LowestIndex, oracle.HighestIndex} {
				got, err := choose(scores, visible, k, tie)
				require.NoError(t, err)
				for r := range got {
					want, err := oracle.SelectTopK(scores.Row(r), visible[r], k, tie)
					require.NoError(t, err)
					require.True(t, slices.Equal(want, got[r]), "row %d, %d of %d, %d values", r, k, visible[r], values)
				}
			}
		}
	}
	bad := oracle.NewMat(3, 100)
	bad.Row(1)[7] = math.NaN()
	_, err := choose(bad, []int{100, 100, 100}, 10, oracle.LowestIndex)
	require.ErrorContains(t, err, "row 1: top-k: the score of key 7")
	_, err = choose(bad, []int{100, 7, 100}, 5, oracle.LowestIndex)
	require.NoError(t, err, "key 7 is not visible")
}

// Routing MUST be the oracle's to the bit, ties included, and refuse what the oracle refuses.
func TestRoute(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	route := fast.New(nil).Begin(oracle.Reference(), false).Ops.Route
	logits := oracle.NewMat(200, 8)
	for i := range logits.Data {
		logits.Data[i] = float64(rng.IntN(4))
	}
	for _, bias := range [][]float64{nil, {0, 1, 0, 1, 0, -1, 0, 0}} {
		want, err := oracle.Route(logits, bias, 3, 1.5)
		require.NoError(t, err)
		got, err := route(logits, bias, 3, 1.5)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	logits.Row(9)[2] = math.NaN()
	_, want := oracle.Route(logits, nil, 3, 1.5)
	_, err := route(logits, nil, 3, 1.5)
	require.Equal(t, want, err)
}

// Results of a pass MUST live until the second layer after theirs, whatever is asked for in between.
func TestResultsLiveForALayer(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	w := random(rng, 64, 64)
	kernels := fast.New([]oracle.Mat{w})
	for range 3 {
		pass := kernels.Begin(oracle.Reference(), true)
		require.True(t, pass.Reuses())
		x := random(rng, 30, 64)
		want := fast.New([]oracle.Mat{w}).Begin(oracle.Reference(), false).Ops.Linear(x, w)
		got := pass.Ops.Linear(x, w)
		pass.Layer()
		for range 40 { // more than the arena has
			clear(pass.Mat(100, 64).Data)
		}
		require.Equal(t, want.Data, got.Data)
		pass.End()
	}
	changed := oracle.Reference()
	changed.SwiGLU = func(x oracle.Mat, _ oracle.ExpertWeights, _ float64) oracle.Mat { return x }
	require.False(t, kernels.Begin(changed, true).Reuses(), "an exchanged operator may keep what it is given")
	require.Nil(t, kernels.Begin(changed, true).Ops.MixExperts, "a mix of experts without the exchanged expert")
}

// Infinite and undefined operands MUST NOT become numbers.
func TestNotANumberStays(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	for _, assembly := range []bool{true, false} {
		undo := fast.Assembly(assembly)
		e := oracle.ExpertWeights{W1: random(rng, 32, 16), W2: random(rng, 16, 32), W3: random(rng, 32, 16)}
		ops := fast.New([]oracle.Mat{e.W1, e.W2, e.W3}).Begin(oracle.Reference(), false).Ops
		x := random(rng, 7, 16)
		x.Row(3)[5] = math.NaN()
		y := ops.SwiGLU(x, e, 10)
		in := oracle.AttentionInput{
			Q: random(rng, 7, 64), Positions: []int{0, 1, 2, 3, 4, 5, 6}, Window: random(rng, 7, 16), WindowSize: 3,
			Sink: make([]float64, 4), Scale: 0.25,
		}
		in.Window.Row(2)[1] = math.NaN()
		o := ops.Attention(in)
		for r := range 7 {
			require.Equal(t, r == 3, math.IsNaN(y.Row(r)[0]), "expert, row %d, assembly %v", r, assembly)
			require.Equal(t, r >= 2 && r <= 4, math.IsNaN(o.Row(r)[0]), "attention, row %d, assembly %v", r, assembly)
		}
		undo()
	}
}
