package diagnosis_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/assay-suite/assay/internal/scripted"
)

// What smoke alone must name MUST be named first in every run measured.
func TestSmokeNames(t *testing.T) {
	all := measured(t)["smoke"]
	for _, name := range smokeNames {
		c := all[name]
		if assert.NotNil(t, c, name) {
			assert.Equal(t, c.runs, c.first, "%s: %s", name, called(c))
		}
	}
}

// Controls MUST be called clean in every run of every budget.
func TestControlsAreClean(t *testing.T) {
	for budget, m := range measured(t) {
		for name, c := range m {
			if strings.HasPrefix(name, "control.") {
				assert.Equal(t, c.runs, c.detected, "%s %s: %s", budget, name, called(c))
			}
		}
	}
}

// At budget full all but 5 % of the runs of kinds MUST be detected, the right class MUST come first in nine of ten, and
// be among the first two in 92 %. Tools that a template ignores are a note and no fault, whatever made it so.
func TestKindsAtFull(t *testing.T) {
	var sum count
	for _, k := range scripted.Kinds() {
		if c := measured(t)["full"][k.Slug]; assert.NotNil(t, c, k.Slug) {
			sum.runs, sum.detected = sum.runs+c.runs, sum.detected+c.detected
			sum.first, sum.two = sum.first+c.first, sum.two+c.two
		}
	}
	assert.GreaterOrEqual(t, 100*sum.detected, 95*sum.runs)
	assert.GreaterOrEqual(t, 100*sum.first, 90*sum.runs)
	assert.GreaterOrEqual(t, 100*sum.two, 92*sum.runs)
}

// Two faults at once MUST never be called clean; for seven of ten combinations both MUST be named, or be among those of
// an ambiguous report.
func TestTwoFaults(t *testing.T) {
	both, runs := 0, 0
	for _, name := range pairs {
		c := measured(t)["standard"][name]
		if c == nil {
			continue // not measured; the page says so
		}
		runs++
		assert.Equal(t, c.runs, c.detected, "%s: %s", name, called(c))
		if c.both == c.runs {
			both++
		}
	}
	assert.GreaterOrEqual(t, runs, leastPairs)
	assert.GreaterOrEqual(t, 10*both, 7*runs)
}
