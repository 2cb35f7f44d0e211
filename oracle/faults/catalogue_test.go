package faults_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/assay-suite/assay/oracle/faults"
)

// The catalogue MUST have 76 rows with IDs and slugs of their own, a known class and a known killer; 24 of them are not
// functions of an operator's inputs and outputs.
func TestCatalogue(t *testing.T) {
	slug := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	seen, by := map[string]bool{}, map[string]int{}
	for _, r := range faults.Catalogue() {
		assert.False(t, seen[r.ID] || seen[r.Slug], "%s or %s stands twice", r.ID, r.Slug)
		seen[r.ID], seen[r.Slug] = true, true
		assert.Regexp(t, slug, r.Slug)
		assert.Contains(t, faults.Classes(), r.Class, r.ID)
		by[r.KilledBy]++
		found, err := faults.ByRow(r.ID)
		assert.NoError(t, err)
		assert.Equal(t, r, found)
	}
	assert.Equal(t, map[string]int{faults.Output: 52, faults.StateModel: 23, faults.DeviceOnly: 1}, by)
	_, err := faults.ByRow("Z9")
	assert.ErrorContains(t, err, "Z9")
}
