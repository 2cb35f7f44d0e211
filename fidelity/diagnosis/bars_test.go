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

// At budget full each kind MUST be detected in 19 runs of 20, the right class MUST come first for 40 kinds of 44 and be
// among the first two for all, each in 19 runs of 20.
func TestKindsAtFull(t *testing.T) {
	all := measured(t)["full"]
	first := 0
	for _, k := range scripted.Kinds() {
		c := all[k.Slug]
		if !assert.NotNil(t, c, k.Slug) {
			continue
		}
		assert.Equal(t, kindSeeds, c.runs, k.Slug)
		assert.LessOrEqual(t, 20*(c.runs-c.detected), c.runs, "%s: %s", k.Slug, called(c))
		assert.LessOrEqual(t, 20*(c.runs-c.two), c.runs, "%s: %s", k.Slug, called(c))
		if 20*(c.runs-c.first) <= c.runs {
			first++
		}
	}
	assert.GreaterOrEqual(t, first, 40)
}

// Two faults at once MUST never be called clean, over at least 20 combinations; for at least 16 of these both MUST be
// named, or be among those of an ambiguous report.
func TestTwoFaults(t *testing.T) {
	both := 0
	all := measured(t)["full"]
	for _, name := range pairs {
		c := all[name]
		if !assert.NotNil(t, c, name) {
			continue
		}
		assert.Equal(t, c.runs, c.detected, "%s: %s", name, called(c))
		if c.both == c.runs {
			both++
		}
	}
	assert.GreaterOrEqual(t, len(pairs), 20)
	assert.GreaterOrEqual(t, both, 16)
}
