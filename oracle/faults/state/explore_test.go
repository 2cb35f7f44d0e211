package state

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func idle(n int) []step {
	return slices.Repeat([]step{act("idle", func(*machine, int) {})}, n)
}

func anyEnd(*machine) error { return nil }

// The numbers of states are known: threads without a barrier make a grid of their places, a barrier
// after n steps of each of two makes (n+2)^2 - 1 states before it (both waiting is the state behind) and
// starts a second grid.
func TestExploreVisitsEveryState(t *testing.T) {
	for n := range 6 {
		got, err := explore([][]step{idle(n), idle(n)}, nil, 0, anyEnd)
		require.NoError(t, err)
		assert.Equal(t, (n+1)*(n+1), got, "two threads of %d steps", n)
		got, err = explore([][]step{idle(n), idle(n), idle(2)}, nil, 0, anyEnd)
		require.NoError(t, err)
		assert.Equal(t, (n+1)*(n+1)*3, got, "a third of two steps")
		p := slices.Concat(idle(n), []step{barrier()}, idle(2))
		got, err = explore([][]step{p, p}, nil, 0, anyEnd)
		require.NoError(t, err)
		assert.Equal(t, (n+2)*(n+2)-1+9, got, "a barrier after %d steps", n)
	}
}

// Two threads that add 1 by reading and writing end at 1 or 2; with a barrier between them, only at 2.
func TestExploreLosesUpdates(t *testing.T) {
	add := []step{
		act("read", func(m *machine, t int) { m.regs[t][0] = m.shared[0] }),
		act("write", func(m *machine, t int) { m.shared[0] = m.regs[t][0] + 1 }),
	}
	ends := func(programs ...[]step) []int {
		results := map[int]bool{}
		_, err := explore(programs, []int{0}, 1, func(m *machine) error {
			results[m.shared[0]] = true
			return nil
		})
		require.NoError(t, err)
		return slices.Sorted(maps.Keys(results))
	}
	assert.Equal(t, []int{1, 2}, ends(add, add))
	assert.Equal(t, []int{2}, ends(slices.Concat(add, []step{barrier()}), slices.Concat([]step{barrier()}, add)))
	assert.Equal(t, []int{1, 2, 3}, ends(add, add, add))
}

func TestExploreFindsDeadlocks(t *testing.T) {
	never := step{name: "a flag nobody sets", ready: func(m *machine) bool { return m.shared[0] == 1 }}
	_, err := explore([][]step{{never}, idle(2)}, []int{0}, 0, anyEnd)
	var found *ViolationError
	require.ErrorAs(t, err, &found)
	assert.Contains(t, err.Error(), "0: a flag nobody sets")
	assert.Contains(t, err.Error(), "1: its end")

	// a thread that has ended does not hold up the barrier
	_, err = explore([][]step{{barrier()}, idle(1)}, nil, 0, anyEnd)
	assert.NoError(t, err)
}

func TestExploreRefusesWhatIsTooLarge(t *testing.T) {
	programs := slices.Repeat([][]step{idle(30)}, 5)
	_, err := explore(programs, nil, 0, anyEnd)
	assert.ErrorContains(t, err, fmt.Sprint(statesAtMost))
}

// A barrier that one thread skips pairs with the other's next one: what lies between two barriers is seen
// by a thread behind both, and may be missed by one that skipped the first.
func TestExploreBarriersCountArrivals(t *testing.T) {
	marks := []step{barrier(), act("mark", func(m *machine, _ int) { m.shared[0] = 1 }), barrier()}
	look := act("look", func(m *machine, t int) { m.regs[t][0] = m.shared[0] })
	for name, c := range map[string]struct {
		looks []step
		want  []int
	}{
		"both": {[]step{barrier(), barrier(), look}, []int{1}},
		"one":  {[]step{barrier(), look}, []int{0, 1}},
	} {
		results := map[int]bool{}
		_, err := explore([][]step{marks, c.looks}, []int{0}, 1, func(m *machine) error {
			results[m.regs[1][0]] = true
			return nil
		})
		require.NoError(t, err)
		assert.Equal(t, c.want, slices.Sorted(maps.Keys(results)), name)
	}
}
