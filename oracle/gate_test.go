package oracle_test

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/assay-suite/assay/oracle"
)

// logit is the inverse of sigmoid, so that scores can be chosen by hand.
func logit(s float64) float64 { return math.Log(s / (1 - s)) }

func TestGateByHand(t *testing.T) {
	scores := []float64{.9, .1, .5, .6, .8, .2}
	z := oracle.NewMat(1, 6)
	for e, s := range scores {
		z.Data[e] = logit(s)
	}
	bias := []float64{0, 0, .05, .05, 0, 0}
	for name, c := range map[string]struct {
		cfg     oracle.GateConfig
		bias    []float64
		experts []int
		weights []float64
	}{
		"sigmoid": {
			oracle.GateConfig{Scoring: oracle.ScoreSigmoid, K: 2, Renormalise: true, Scaling: 2.5},
			nil,
			[]int{0, 4},
			[]float64{2.5 * .9 / 1.7, 2.5 * .8 / 1.7},
		},
		// -0.1, 0.1, 0.7, 1, 0.8, 0.2 choose; the weights are those before the bias.
		"bias chooses, does not weigh": {
			oracle.GateConfig{Scoring: oracle.ScoreSigmoid, K: 2, Renormalise: true, Scaling: 1},
			[]float64{-1, 0, .2, .4, 0, 0},
			[]int{3, 4},
			[]float64{.6 / 1.4, .8 / 1.4},
		},
		// The largest alone, without bias: groups 0 (0.9) and 2 (0.8).
		"groups by the best": {
			oracle.GateConfig{Scoring: oracle.ScoreSigmoid, K: 3, Groups: 3, KeepGroups: 2, Renormalise: true, Scaling: 1},
			nil,
			[]int{0, 4, 5},
			[]float64{.9 / 1.9, .8 / 1.9, .2 / 1.9},
		},
		// The two largest with it: 1, 1.2, 1. By the largest it would be group 0.
		"groups by the best two": {
			oracle.GateConfig{Scoring: oracle.ScoreSigmoid, K: 2, Groups: 3, KeepGroups: 1, Renormalise: true, Scaling: 1},
			bias,
			[]int{2, 3},
			[]float64{.5 / 1.1, .6 / 1.1},
		},
		"not renormalised": {
			oracle.GateConfig{Scoring: oracle.ScoreSigmoid, K: 1, Scaling: 2},
			nil,
			[]int{0},
			[]float64{1.8},
		},
	} {
		got, err := oracle.Gate(z, c.bias, c.cfg)
		require.NoError(t, err, name)
		if diff := cmp.Diff(c.experts, got.Experts[0]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		for i, w := range c.weights {
			if !close12(got.Weights[0][i], w) {
				t.Errorf("%s: weight %d is %v, want %v", name, i, got.Weights[0][i], w)
			}
		}
	}
}

// Softmax over all experts, selected weights as they are: ln of integers gives integer ratios.
func TestGateSoftmax(t *testing.T) {
	z := oracle.Mat{Rows: 1, Cols: 4, Data: []float64{math.Log(1), math.Log(2), math.Log(3), math.Log(4)}}
	got, err := oracle.Gate(z, nil, oracle.GateConfig{Scoring: oracle.ScoreSoftmax, K: 2, Scaling: 1})
	require.NoError(t, err)
	if !near(got.Weights[0][0], .3) || !near(got.Weights[0][1], .4) {
		t.Errorf("got %v", got)
	}
}

// Scores of exactly 0: the floor turns 0/0 into 0, and elsewhere it is below rounding.
func TestGateFloor(t *testing.T) {
	z := oracle.Mat{Rows: 2, Cols: 2, Data: []float64{-1e4, -1e4, 0, 1}}
	cfg := oracle.GateConfig{K: 2, Renormalise: true, Scaling: 1.5}
	bare, err := oracle.Gate(z, nil, cfg)
	require.NoError(t, err)
	cfg.Floor = 1e-20
	got, err := oracle.Gate(z, nil, cfg)
	require.NoError(t, err)
	if !math.IsNaN(bare.Weights[0][0]) || got.Weights[0][0] != 0 || !slices.Equal(bare.Weights[1], got.Weights[1]) {
		t.Errorf("without floor %v, with %v", bare.Weights, got.Weights)
	}
}

// Without groups and with V4's score it is Route, which recorded tensors prove; all groups kept is no
// groups; the weights sum to the factor.
func TestGateIsRoute(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z, bias := drawMat(t, 2, 8, "logits"), drawMat(t, 1, 8, "bias").Data
		k := rapid.IntRange(1, 8).Draw(t, "k")
		want, err := oracle.Route(z, bias, k, 1.5)
		require.NoError(t, err)
		got, err := oracle.Gate(z, bias, oracle.GateConfig{K: k, Groups: 4, KeepGroups: 4, Renormalise: true, Scaling: 1.5})
		require.NoError(t, err)
		for i, row := range got.Weights {
			sum := 0.0
			for j, w := range row {
				sum += w
				if !near(w, want.Weights[i][j]) || got.Experts[i][j] != want.Experts[i][j] {
					t.Fatalf("row %d: got %v %v, want %v %v", i, got.Experts[i], row, want.Experts[i], want.Weights[i])
				}
			}
			if !close12(sum, 1.5) {
				t.Fatalf("row %d sums to %v", i, sum)
			}
		}
	})
}

func TestGateRefuses(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]struct {
		z, bias []float64
		cfg     oracle.GateConfig
		want    string
	}{
		"uneven groups": {make([]float64, 4), nil, oracle.GateConfig{K: 1, Groups: 3, KeepGroups: 1}, "3 groups"},
		"no group kept": {make([]float64, 4), nil, oracle.GateConfig{K: 1, Groups: 2}, "0 are kept"},
		"k above experts": {
			make([]float64, 4), nil, oracle.GateConfig{K: 3, Groups: 2, KeepGroups: 1}, "out of 2 candidates",
		},
		"NaN logit": {[]float64{0, nan}, nil, oracle.GateConfig{K: 1}, "expert 1"},
		"NaN bias":  {make([]float64, 4), []float64{0, nan, 0, 0}, oracle.GateConfig{K: 1, Groups: 2, KeepGroups: 1}, "NaN"},
	} {
		_, err := oracle.Gate(oracle.Mat{Rows: 1, Cols: len(c.z), Data: c.z}, c.bias, c.cfg)
		require.ErrorContains(t, err, c.want, name)
	}
}
