package precision

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/oracle"
)

// Scores by hand: the exact two best are 0 and 1, the path's 0 and 2. One of three members is common, key 1's mass is
// lost, and the needle, key 1, falls from rank 2 to 3.
func TestCompareByHand(t *testing.T) {
	u := &question{
		l:       &indexLayer{prefix: "layers.1.attn.indexer."},
		scores:  oracle.Mat{Rows: 1, Cols: 5, Data: []float64{math.Log(4), math.Log(3), math.Log(2), 0, math.Inf(-1)}},
		visible: []int{4}, topk: []int{2, 4},
		needle: func(int) int { return 1 },
	}
	u.order = [][]int{{0, 1, 2, 3}}
	other := oracle.Mat{Rows: 1, Cols: 5, Data: []float64{5, 1, 2, 0, 9}}
	n := suite.Numbers{}
	require.NoError(t, u.compare(other, n))
	assert.Equal(t, 1.0/3, n["jaccard-2"])
	assert.Equal(t, 1.0, n["needle-lost-2"])
	assert.Equal(t, 3.0, n["needle-rank"])
	assert.Equal(t, 2.0, n["needle-rank-exact"])
	if got := n["lost-mass-2"]; math.Abs(got-0.3) > 1e-15 { // 3 of 4+3+2+1; a few ulp of exp and log
		t.Errorf("lost mass is %v, want 0.3", got)
	}
	assert.NotContains(t, n, "jaccard-4", "everything is selected, whatever the scores")

	u.mass = func(_, s int) float64 { return []float64{0.5, 0.25, 0.125, 0.0625}[s] }
	require.NoError(t, u.compare(other, n))
	assert.Equal(t, 0.25, n["lost-mass-2"])

	same := suite.Numbers{}
	require.NoError(t, u.compare(u.scores, same))
	assert.Equal(t, 1.0, same["jaccard-2"])
	assert.Zero(t, same["lost-mass-2"])
	assert.Zero(t, same["needle-lost-2"])
}

func TestCompareRefusesNaN(t *testing.T) {
	u := &question{
		l: &indexLayer{prefix: "p."}, scores: oracle.Mat{Rows: 1, Cols: 3, Data: []float64{1, 2, 3}}, visible: []int{3},
		topk:   []int{1},
		needle: func(int) int { return -1 },
	}
	require.ErrorContains(t, u.compare(oracle.Mat{Rows: 1, Cols: 3, Data: []float64{1, math.NaN(), 3}}, suite.Numbers{}),
		"NaN")
}

func TestTopKs(t *testing.T) {
	for _, row := range []struct {
		name   string
		own, n int
		want   []int
	}{
		{"V4-Flash, enough keys", 512, 2048, []int{512, 1024}},
		{"V4-Pro", 1024, 2048, []int{512, 1024}},
		{"V3.2", 2048, 4096, []int{512, 1024, 2048}},
		{"nano, drawn keys", 64, 2048, []int{64, 512, 1024}},
		{"nano, 391 tokens", 64, 97, []int{16, 32, 64}},
		{"nano, 67 tokens: all are selected, so scaled", 64, 16, []int{4, 8}},
		{"one key", 64, 1, nil},
	} {
		assert.Equal(t, row.want, topKs(row.own, row.n), row.name)
	}
}

// The rotation is orthogonal, so it changes no score; on one pair it is (a+b, a−b)/sqrt 2, and of an even split over
// all channels it makes one (Sylvester's first row).
func TestHadamard(t *testing.T) {
	x := oracle.Mat{Rows: 1, Cols: 4, Data: []float64{3, 1, 5, 5}}
	got := hadamard(x, 2).Data
	want := []float64{4 / math.Sqrt2, 2 / math.Sqrt2, 10 / math.Sqrt2, 0}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-14 {
			t.Errorf("hadamard of pairs: element %d is %v, want %v", i, got[i], want[i])
		}
	}
	even := hadamard(oracle.Mat{Rows: 1, Cols: 4, Data: []float64{1, 1, 1, 1}}, 4).Data
	assert.Equal(t, []float64{2, 0, 0, 0}, even)
	assert.Equal(t, []float64{3, 1, 5, 5}, x.Data, "the argument is left alone")
	assert.Equal(t, x, hadamard(x, 3), "a width without a Hadamard matrix")
}

// In a grouped router the best expert of a group that is not kept is never chosen (V3.2).
func TestGroupedRouting(t *testing.T) {
	s := settings{sigmoid: true, perToken: 2, groups: 3, groupsKept: 1}
	logits := oracle.Mat{Rows: 1, Cols: 6, Data: []float64{9, -9, 2, 2, 1, 0}} // group sums 1.0, 1.76, 1.23
	got, err := s.experts(logits, nil)
	require.NoError(t, err)
	assert.Equal(t, [][]int{{2, 3}}, got)
	s.groups = 0
	got, err = s.experts(logits, nil)
	require.NoError(t, err)
	assert.Equal(t, [][]int{{0, 2}}, got)
	assert.Equal(t, 0.5, flips([][]int{{0, 1}, {2, 3}}, [][]int{{0, 1}, {1, 3}}))
}
