package topk_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/topk"
)

// Which sets of 3 of 7 keys a row accepts MUST be those that brute force finds by the rule itself: no key outside is
// better than one inside, and of equal keys the first ones, the last ones or any, as declared.
func TestAcceptedSets(t *testing.T) {
	for _, row := range []string{"all-equal", "few-values", "lengths"} {
		for _, contract := range []string{"lowest-index", "highest-index", "ties-any"} {
			id := fmt.Sprintf("kernels/topk/%s/tiny-s7-t4/%s", row, contract)
			if row == "lengths" {
				id = fmt.Sprintf("kernels/topk/%s/tiny-s7-t9/%s", row, contract)
			}
			c, ok := caseOf(id)
			if !ok {
				require.Equal(t, "lengths", row, id)
				continue
			}
			b, err := bench.New(c)
			require.NoError(t, err)
			problem := b.Problem()
			scores := problem.In("scores").Row(0)
			built, err := topk.Suite().Built(contract)
			require.NoError(t, err)
			accepted := 0
			for set := range 1 << 7 {
				chosen := members(set)
				if len(chosen) != 3 {
					continue
				}
				r, err := b.Judge(t.Context(), bench.After(built, func(_ bench.Call, r *bench.Reply) {
					for i, v := range chosen {
						r.Outputs["indices"].Data[2-i] = float64(v)
					}
				}))
				require.NoError(t, err)
				if want := admissible(scores, set, contract); r.Accepted() != want {
					t.Errorf("%s: keys %v of scores %v are accepted: %v, by the rule %v", id, chosen, scores, r.Accepted(), want)
				}
				if r.Accepted() {
					accepted++
				}
			}
			if accepted == 0 || contract != "ties-any" && accepted != 1 ||
				row == "all-equal" && contract == "ties-any" && accepted != 35 {
				t.Errorf("%s: %d sets are accepted", id, accepted)
			}
		}
	}
}

func members(set int) []int {
	var out []int
	for i := range 7 {
		if set>>i&1 == 1 {
			out = append(out, i)
		}
	}
	return out
}

func admissible(scores []float64, set int, contract string) bool {
	for i := range scores {
		for j := range scores {
			if set>>i&1 == 0 || set>>j&1 == 1 {
				continue // i is in the set, j is not
			}
			switch {
			case scores[j] > scores[i]:
				return false
			case scores[j] < scores[i]:
			case contract == "lowest-index" && j < i, contract == "highest-index" && j > i:
				return false
			}
		}
	}
	return true
}

func caseOf(id string) (bench.Case, bool) {
	for _, c := range topk.Suite().Cases() {
		if c.ID == id {
			return c, true
		}
	}
	return bench.Case{}, false
}

// Wrong counts, duplicates, keys beyond the end and holes MUST be stopped, whatever the rule of ties.
func TestMalformedRows(t *testing.T) {
	c, ok := caseOf("kernels/topk/lengths/tiny-s7-t9/ties-any")
	require.True(t, ok)
	b, err := bench.New(c)
	require.NoError(t, err)
	built, err := topk.Suite().Built("ties-any")
	require.NoError(t, err)
	lengths := b.Problem().In("lengths").Ints()
	short := -1
	for i, n := range lengths {
		if n == 1 {
			short = i
		}
	}
	require.GreaterOrEqual(t, short, 0)
	for name, edit := range map[string]func(v []float64){
		"twice":         func(v []float64) { v[0] = v[1] },
		"hole":          func(v []float64) { v[0] = -1 },
		"beyond":        func(v []float64) { v[0] = 7 },
		"negative":      func(v []float64) { v[0] = -2 },
		"tail of 0":     func(v []float64) { v[short*3+2] = 0 },
		"hole in front": func(v []float64) { v[short*3], v[short*3+1] = -1, 0 },
	} {
		r, err := b.Judge(t.Context(), bench.After(built, func(_ bench.Call, r *bench.Reply) {
			edit(r.Outputs["indices"].Data)
		}))
		require.NoError(t, err)
		if r.Accepted() {
			t.Errorf("a row with %s is accepted", name)
		}
	}
}
