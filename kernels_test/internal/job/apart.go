package job

import (
	"fmt"
	"maps"
	"slices"

	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/kernels_test/bench"
)

// witnesses is how many accepted cases must lie on the other side before a size is named.
const witnesses = 5

// apart names the dimension of which every failing case has more than any accepted one: the kernel's own tile, grid or
// buffer ends in between. Of several the one with the widest gap, by ratio.
func apart(rows []Row, asked []int) (bench.Cause, bool) {
	least, most, accepted := maps.Clone(rows[asked[0]].Case.Shape.Dims), map[string]int{}, 0
	for _, r := range rows {
		switch dims := r.Case.Shape.Dims; r.Outcome {
		case suite.Passed:
			accepted++
			for name := range least {
				most[name] = max(most[name], dims[name])
			}
		case suite.Failed:
			for name := range least {
				least[name] = min(least[name], dims[name])
			}
		}
	}
	best, gap := "", 1.0
	for _, name := range slices.Sorted(maps.Keys(least)) {
		if r := float64(least[name]) / float64(max(most[name], 1)); r > gap && most[name] > 1 {
			best, gap = name, r
		}
	}
	if best == "" || accepted < witnesses {
		return bench.Cause{}, false
	}
	return bench.Cause{Class: "tile", Name: fmt.Sprintf("more than %d %s", most[best], best), Why: fmt.Sprintf(
		"every failing case has %s of %d and more, none of the %d accepted ones more than %d", best, least[best], accepted,
		most[best])}, true
}

// residual tells whether a cause was read from the differences of one case, and is not a cure of it: such causes name
// what the error looks like and not where it comes from. An error that grows with a size is none of them.
func residual(c bench.Cause, f bench.Family) bool {
	if slices.ContainsFunc(f.Twins, func(t bench.Twin) bool { return t.Name == c.Name }) {
		return false
	}
	return slices.Contains([]string{"scale", "offset", "tile", "log-base", "empty-row"}, c.Class)
}
