package oracle_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/assay-suite/assay/oracle"
)

// drawMat is a matrix of small integers, on which sums and products are exact in float64.
func drawMat(t *rapid.T, rows, cols int, label string) oracle.Mat {
	m := oracle.NewMat(rows, cols)
	for i, v := range rapid.SliceOfN(rapid.IntRange(-8, 8), rows*cols, rows*cols).Draw(t, label) {
		m.Data[i] = float64(v)
	}
	return m
}

// drawTable lays sequences of these lengths over a shuffled pool with spare pages.
func drawTable(t *rapid.T, lengths []int, size int) (table oracle.PageTable, pages int) {
	for _, n := range lengths {
		pages += (n + size - 1) / size
	}
	pages += 2
	free := make([]int, pages)
	for i := range free {
		free[i] = i
	}
	table, err := oracle.BuildPageTable(lengths, size, rapid.Permutation(free).Draw(t, "free"), 0)
	if err != nil {
		t.Fatalf("build: %v", err)
	}
	return table, pages
}

func TestPageSlotByHand(t *testing.T) {
	// Pages 7, 0, 3 of 4 tokens: token 6 is the third of page 0, token 9 the second of page 3.
	for token, want := range map[int]int{0: 28, 3: 31, 4: 0, 6: 2, 9: 13} {
		got, err := oracle.PageSlot([]int{7, 0, 3}, 4, token)
		require.NoError(t, err)
		if got != want {
			t.Errorf("token %d is at %d, want %d", token, got, want)
		}
	}
	for name, c := range map[string]struct {
		table       []int
		size, token int
		want        string
	}{
		"no page":     {[]int{1, -1}, 4, 5, "names no page"},
		"past table":  {[]int{1}, 4, 4, "outside"},
		"negative":    {[]int{1}, 4, -1, "outside"},
		"page size 0": {[]int{1}, 0, 0, "page size is 0"},
	} {
		_, err := oracle.PageSlot(c.table, c.size, c.token)
		require.ErrorContains(t, err, c.want, name)
	}
}

func TestBuildPageTable(t *testing.T) {
	got, err := oracle.BuildPageTable([]int{5, 0, 4}, 4, []int{9, 2, 5, 1}, 3)
	require.NoError(t, err)
	if diff := cmp.Diff(oracle.PageTable{{9, 2, -1}, {-1, -1, -1}, {5, -1, -1}}, got); diff != "" {
		t.Error(diff)
	}
	for name, c := range map[string]struct {
		lengths []int
		free    []int
		width   int
	}{
		"too few pages": {[]int{9}, []int{0, 1}, 0},
		"page twice":    {[]int{1}, []int{3, 3}, 0},
		"negative page": {[]int{1}, []int{-1}, 0},
		"row too short": {[]int{9}, []int{0, 1, 2}, 2},
	} {
		_, err := oracle.BuildPageTable(c.lengths, 4, c.free, c.width)
		require.Error(t, err, name)
	}
}

// Writing in chunks and reading in other chunks gives back each sequence; no sequence sees another;
// a cache that ignores the table fails at once.
func TestPagedRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 5).Draw(t, "size")
		lengths := rapid.SliceOfN(rapid.IntRange(0, 12), 1, 4).Draw(t, "lengths")
		table, pages := drawTable(t, lengths, size)
		cache := oracle.NewPaged(pages, size, 2)
		contents := make([]oracle.Mat, len(lengths))
		for b, n := range lengths {
			contents[b] = oracle.NewMat(n, 2)
			for i := range n {
				contents[b].Row(i)[0], contents[b].Row(i)[1] = float64(b+1), float64(i)
			}
			cut := rapid.IntRange(0, n).Draw(t, "cut")
			for _, err := range []error{
				cache.Write(table[b], 0, contents[b].Slice(0, cut)),
				cache.Write(table[b], cut, contents[b].Slice(cut, n)),
			} {
				if err != nil {
					t.Fatalf("write: %v", err)
				}
			}
		}
		for b, n := range lengths {
			first := rapid.IntRange(0, n).Draw(t, "first")
			got, err := cache.Read(table[b], first, n-first)
			if err != nil || !slices.Equal(got.Data, contents[b].Slice(first, n).Data) {
				t.Fatalf("sequence %d: %v, %v", b, got.Data, err)
			}
		}
	})
}

func TestPagedWriteIsAllOrNothing(t *testing.T) {
	cache := oracle.NewPaged(2, 2, 1)
	x := oracle.Mat{Rows: 3, Cols: 1, Data: []float64{1, 2, 3}}
	require.ErrorContains(t, cache.Write([]int{1}, 0, x), "token 2")
	require.ErrorContains(t, cache.Write([]int{1, 2}, 0, x), "the cache has 2")
	if cache.Rows.MaxAbs() != 0 {
		t.Errorf("a refused write left %v", cache.Rows.Data)
	}
}
