package oracle_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/assay-suite/assay/oracle"
)

func TestSelectTopK(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]struct {
		scores     []float64
		visible, k int
		tie        oracle.TieRule
		want       []int
	}{
		"best two":                {[]float64{1, 3, 2}, 3, 2, oracle.LowestIndex, []int{1, 2}},
		"all visible":             {[]float64{1, 3, 2}, 2, 2, oracle.LowestIndex, []int{0, 1}},
		"none visible":            {[]float64{1, 3}, 0, 2, oracle.LowestIndex, []int{}},
		"tie to the lower":        {[]float64{5, 1, 5, 5}, 4, 2, oracle.LowestIndex, []int{0, 2}},
		"tie to the higher":       {[]float64{5, 1, 5, 5}, 4, 2, oracle.HighestIndex, []int{2, 3}},
		"thousands of zeros":      {make([]float64, 5000), 5000, 2, oracle.HighestIndex, []int{4998, 4999}},
		"unseen NaN is no matter": {[]float64{1, 2, nan}, 2, 1, oracle.LowestIndex, []int{1}},
		"masked -Inf loses":       {[]float64{math.Inf(-1), -9, -8}, 3, 2, oracle.LowestIndex, []int{1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := oracle.SelectTopK(c.scores, c.visible, c.k, c.tie)
			require.NoError(t, err)
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
	for name, c := range map[string]struct {
		scores     []float64
		visible, k int
		want       string
	}{
		"too many visible": {[]float64{1}, 2, 1, "2 keys are visible"},
		"negative k":       {[]float64{1}, 1, -1, "k is -1"},
		"ranked NaN":       {[]float64{1, nan, 2}, 3, 1, "key 1"},
	} {
		_, err := oracle.SelectTopK(c.scores, c.visible, c.k, oracle.LowestIndex)
		require.ErrorContains(t, err, c.want, name)
	}
}

// Against the definition: a chosen key is never below one left out, whatever the ties.
func TestSelectTopKProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) float64 {
			return float64(rapid.IntRange(-3, 3).Draw(t, "score"))
		}), 1, 50).Draw(t, "scores")
		visible := rapid.IntRange(0, len(scores)).Draw(t, "visible")
		k := rapid.IntRange(0, 60).Draw(t, "k")
		got, err := oracle.SelectTopK(scores, visible, k, oracle.LowestIndex)
		if err != nil || len(got) != min(k, visible) || !slices.IsSorted(got) {
			t.Fatalf("got %v, %v", got, err)
		}
		for i := range visible {
			if slices.Contains(got, i) {
				continue
			}
			for _, j := range got {
				if scores[i] > scores[j] || scores[i] == scores[j] && i < j {
					t.Fatalf("key %d (%v) is left out for key %d (%v)", i, scores[i], j, scores[j])
				}
			}
		}
	})
}
