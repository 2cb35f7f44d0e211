package evidence_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/assay-suite/assay/fidelity/evidence"
)

// Runs MUST add up by arm, unmeasured ones apart, and a missing arm must not look like one that failed.
func TestCounts(t *testing.T) {
	var s evidence.Set
	s.Count(evidence.Length, "len-2048", 2048, "exact", true, true, "")
	s.Count(evidence.Length, "len-2048", 2048, "denial", false, true, "there is none")
	s.Count(evidence.Length, "len-2048", 2048, "", false, false, "")
	s.Count(evidence.Length, "len-512", 512, "exact", true, true, "")
	a, ok := s.Arm(evidence.Length, "len-2048")
	assert.True(t, ok)
	assert.Equal(t, evidence.Arm{
		Probe:      evidence.Length,
		Name:       "len-2048",
		At:         2048,
		Runs:       2,
		Right:      1,
		Classes:    map[string]int{"exact": 1, "denial": 1},
		Unmeasured: 1,
		Shows:      []string{"there is none"},
	}, a)
	_, ok = s.Arm(evidence.Length, "len-4096")
	assert.False(t, ok)
	assert.Equal(t, "len-512", s.Of(evidence.Length)[0].Name)
	_, measured := (evidence.Arm{Unmeasured: 3}).Rate()
	assert.False(t, measured)
	assert.Len(t, evidence.Order(), 27)
}
