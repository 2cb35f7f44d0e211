package kernels_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/internal/job"
)

// Every case MUST be registered once, be valid, say why it is there, and declare a contract.
func TestEveryCaseIsRegistered(t *testing.T) {
	var ids []string
	for _, c := range job.Cases() {
		ids = append(ids, c.ID)
		assert.NoError(t, suite.Case{ID: c.ID, Claim: c.Claim, Catches: c.Catches}.Validate())
		assert.NotEmpty(t, c.Scenario.Why, c.ID)
		assert.NotEmpty(t, c.Contract.Name, c.ID)
	}
	slices.Sort(ids)
	assert.Equal(t, ids, suite.IDs(suite.Cases("kernels/")))
	t.Logf("%d cases", len(ids))
}

// A case's inputs MUST follow from its ID: the same twice. Every operand, output and attribute MUST be in the
// operator's table, every operand MUST lie somewhere with memory around it that nobody may read, and no floating-point
// operand may be 0 or 1 throughout in all cases of an operator: a kernel that drops it would pass.
func TestInputs(t *testing.T) {
	for _, s := range job.Suites() {
		for _, f := range s.Families {
			seen, padded, telling := map[string]bool{}, map[string]bool{}, map[string]bool{}
			for i, c := range s.Cases() {
				if c.Family.Op != f.Op {
					continue
				}
				p, err := c.Problem()
				require.NoError(t, err)
				for _, missing := range f.Undocumented(p) {
					t.Errorf("%s: %s", c.ID, missing)
				}
				again := p
				if i%8 == 0 { // a slice: every draw of a family takes the same way
					again, err = c.Problem()
					require.NoError(t, err)
				}
				for name, o := range p.Operands {
					seen[name] = true
					l := p.Layout[name]
					padded[name] = padded[name] || l.Lead+l.Gap+l.Inner+l.Tail > 0
					telling[name] = telling[name] || slices.ContainsFunc(o.Values, func(v float64) bool { return v != 0 && v != 1 })
					require.True(t, slices.EqualFunc(o.Values, again.Operands[name].Values, func(a, b float64) bool {
						return a == b || a != a && b != b
					}), "%s: operand %q", c.ID, name)
				}
			}
			for name := range seen {
				assert.True(t, padded[name], "%s: no case lays operand %q out with memory around it", f.Op, name)
				assert.True(t, telling[name], "%s: every value of operand %q is 0 or 1 in every case", f.Op, name)
			}
		}
	}
}

// The names of plants MUST be unique in their suite, the rows of the catalogue over all.
func TestPlantsAreNamedOnce(t *testing.T) {
	rows := map[string]string{}
	for _, s := range job.Suites() {
		names := map[string]bool{}
		for _, p := range s.Plants {
			assert.False(t, names[p.Name], "suite %s: plant %q stands twice", s.Name, p.Name)
			names[p.Name] = true
			assert.NotEmpty(t, p.Class, p.Name)
			if p.Row != "" {
				assert.Empty(t, rows[p.Row], "row %s is planted twice", p.Row)
				rows[p.Row] = p.Name
			}
		}
	}
}

func find(t *testing.T, id string) bench.Case {
	t.Helper()
	c, err := job.Find(id)
	require.NoError(t, err)
	return c
}

// plant finds a plant of a suite.
func plant(t *testing.T, suiteName, name string) (bench.Suite, bench.Plant) {
	t.Helper()
	for _, s := range job.Suites() {
		for _, p := range s.Plants {
			if s.Name == suiteName && p.Name == name {
				return s, p
			}
		}
	}
	t.Fatalf("no plant is called %q", name)
	return bench.Suite{}, bench.Plant{}
}
