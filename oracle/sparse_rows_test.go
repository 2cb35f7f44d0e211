package oracle_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/assay-suite/assay/oracle"
)

func TestExtendRowsByHand(t *testing.T) {
	// Tokens 4..6 of 7, ratio 2, window 3: rows of positions 2..6 are gathered at 100, compressed rows at 50.
	got, err := oracle.ExtendRows([]oracle.ExtendRequest{{SeqLen: 7, Extend: 3, WindowBase: 100, CompressedBase: 50}},
		[][]int{{1, 0}, {2, -1}, {0, 2, 1}}, 2, 2, 3, 4)
	require.NoError(t, err)
	want := [][]int{
		{51, 50, 100, 101, 102, -1, -1, -1},
		{52, -1, 101, 102, 103, -1, -1, -1},
		{50, 52, 102, 103, 104, -1, -1, -1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	one := []oracle.ExtendRequest{{SeqLen: 4, Extend: 1}}
	for name, c := range map[string]struct {
		requests []oracle.ExtendRequest
		selected [][]int
		want     string
	}{
		"too short":       {one, [][]int{{0}}, "needs a selection of 2"},
		"no selection":    {one, nil, "needs a selection"},
		"from the future": {one, [][]int{{0, 2}}, "row 2 of 2 visible"},
		"below -1":        {one, [][]int{{0, -2}}, "row -2"},
		"extends too far": {[]oracle.ExtendRequest{{SeqLen: 1, Extend: 2}}, nil, "by 2 of 1"},
	} {
		_, err := oracle.ExtendRows(c.requests, c.selected, 2, 2, 3, 1)
		require.ErrorContains(t, err, c.want, name)
	}
	_, err = oracle.ExtendRows(nil, nil, 1, 1, 0, 1)
	require.ErrorContains(t, err, "window 0")
}

// Any chunking of any batch, through gathered rows, is the one-shot attention of each request, and so
// is decode from the ring.
func TestExtendRowsAndRingEqualOneShot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const width, ratio, k = 2, 2, 2
		window := rapid.IntRange(1, 4).Draw(t, "window")
		lengths := rapid.SliceOfN(rapid.IntRange(1, 9), 1, 3).Draw(t, "lengths")
		in := oracle.ListAttentionInput{Heads: 1, Scale: 0.5, Sink: []float64{0.25}}
		var flat oracle.Mat
		var requests []oracle.ExtendRequest
		var selected [][]int
		var want []float64
		for _, n := range lengths {
			extend := rapid.IntRange(1, n).Draw(t, "extend")
			raw, compressed, q := drawMat(t, n, width, "raw"), drawMat(t, n/ratio+1, width, "compressed"),
				drawMat(t, n, width, "q")
			one := oracle.AttentionInput{
				Q:          q,
				Window:     raw,
				WindowSize: window,
				Compressed: compressed,
				Sink:       in.Sink,
				Scale:      in.Scale,
			}
			for p := range n {
				one.Positions = append(one.Positions, p)
				var chosen []int
				for s := range min(oracle.Visible(p, ratio), k) {
					chosen = append(chosen, oracle.Visible(p, ratio)-1-s)
				}
				one.Selected = append(one.Selected, chosen)
			}
			whole := oracle.Attention(one)
			want = append(want, whole.Slice(n-extend, n).Data...)
			gathered := min(n, extend+window-1)
			requests = append(requests, oracle.ExtendRequest{
				SeqLen:         n,
				Extend:         extend,
				WindowBase:     flat.Rows,
				CompressedBase: flat.Rows + gathered,
			})
			flat = flat.Append(raw.Slice(n-gathered, n)).Append(compressed)
			selected = append(selected, one.Selected[n-extend:]...)
			in.Q = in.Q.Append(q.Slice(n-extend, n))

			ring := oracle.NewMat(window, width)
			for i := range ring.Data {
				ring.Data[i] = math.NaN()
			}
			for p := range n {
				slots, err := oracle.RingSlots([]int{p}, window)
				require.NoError(t, err)
				copy(ring.Row(slots[0]), raw.Row(p))
				seen, err := oracle.RingSlots(oracle.CausalRows([]int{p}, 0, window)[0], window)
				require.NoError(t, err)
				step, _, _ := oracle.ListAttention(oracle.ListAttentionInput{
					Q: q.Slice(p, p+1), Heads: 1, Scale: in.Scale, Sink: in.Sink,
					Lists: []oracle.RowList{{Rows: ring, Indices: [][]int{seen}}, {Rows: compressed, Indices: one.Selected[p : p+1]}},
				}, oracle.LSEForm{})
				for d, v := range step.Data {
					if !close12(v, whole.Row(p)[d]) {
						t.Fatalf("decode at %d: %v, want %v", p, step.Data, whole.Row(p))
					}
				}
			}
		}
		rows, err := oracle.ExtendRows(requests, selected, k, ratio, window, 3)
		require.NoError(t, err)
		in.Lists = []oracle.RowList{{Rows: flat, Indices: rows}}
		got, _, _ := oracle.ListAttention(in, oracle.LSEForm{})
		for i, v := range got.Data {
			if !close12(v, want[i]) {
				t.Fatalf("element %d: %v, want %v", i, v, want[i])
			}
		}
	})
	_, err := oracle.RingSlots([]int{-1}, 4)
	require.ErrorContains(t, err, "position -1")
}
