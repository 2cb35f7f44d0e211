package oracle_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/assay-suite/assay/oracle"
)

func TestTopKPagesByHand(t *testing.T) {
	got, err := oracle.TopKPages([]int{5, 0, -1, 7}, []int{6, 3}, 4, 6)
	require.NoError(t, err)
	if want := []int{13, 24, -1, 15, -1, -1}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for name, c := range map[string]struct {
		chosen, table []int
		size, k       int
		want          string
	}{
		"page of 3":  {[]int{0}, []int{0}, 3, 1, "power of two"},
		"too many":   {[]int{0, 1}, []int{0}, 4, 1, "a row holds 1"},
		"past table": {[]int{4}, []int{0}, 4, 1, "key 4 has no page"},
		"no page":    {[]int{4}, []int{0, -1}, 4, 1, "key 4 has no page"},
		"below -1":   {[]int{-2}, []int{0}, 4, 1, "key -2"},
	} {
		_, err := oracle.TopKPages(c.chosen, c.table, c.size, c.k)
		require.ErrorContains(t, err, c.want, name)
	}
}

// Shifts and masks agree with division and remainder, and the rows that come out hold the scores that
// were chosen: an index-coded cache is read back through them.
func TestSelectTopKPagesReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := 1 << rapid.IntRange(0, 3).Draw(t, "b")
		n := rapid.IntRange(1, 20).Draw(t, "n")
		visible, k := rapid.IntRange(0, n).Draw(t, "visible"), rapid.IntRange(0, 24).Draw(t, "k")
		scores := drawMat(t, 1, n, "scores")
		table, pages := drawTable(t, []int{n}, size)
		cache := oracle.NewPaged(pages, size, 1)
		coded := oracle.NewMat(n, 1)
		for i := range n {
			coded.Data[i] = float64(i + 1)
		}
		if err := cache.Write(table[0], 0, coded); err != nil {
			t.Fatalf("%v", err)
		}
		got, err := oracle.SelectTopKPages(scores.Data, visible, k, oracle.HighestIndex, table[0], size)
		if err != nil || len(got) != k {
			t.Fatalf("%v, %v", got, err)
		}
		want, err := oracle.SelectTopK(scores.Data, visible, k, oracle.HighestIndex)
		if err != nil {
			t.Fatalf("%v", err)
		}
		for i, row := range got {
			switch {
			case i >= len(want):
				if row != -1 {
					t.Fatalf("entry %d past the %d chosen is %d", i, len(want), row)
				}
			case int(cache.Rows.Row(row)[0]) != want[i]+1:
				t.Fatalf("entry %d is row %d, which holds key %v; want %d", i, row, cache.Rows.Row(row)[0]-1, want[i])
			}
		}
	})
}
