package kernels_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/suite"
	kernels "github.com/assay-suite/assay/kernels_test"
)

// Every case MUST be registered once, be valid, say why it is there, and declare a contract.
func TestEveryCaseIsRegistered(t *testing.T) {
	var ids []string
	for _, c := range kernels.Cases() {
		ids = append(ids, c.ID)
		assert.NoError(t, c.Validate())
		assert.NotEmpty(t, c.Kase.Why, c.ID)
		assert.NotEmpty(t, c.Contract.Name, c.ID)
	}
	slices.Sort(ids)
	assert.Equal(t, ids, suite.IDs(suite.Cases("kernels/")))
	t.Logf("%d cases", len(ids))
}

// A case's inputs MUST follow from its ID: the same twice, the same under every contract, other in another case.
func TestInputsFollowFromTheID(t *testing.T) {
	draw := func(id string) []float32 {
		p, err := find(t, id).Problem()
		require.NoError(t, err)
		return p.Operands["x"].Values
	}
	once := draw("kernels/mhc-pre/unit-scale/nano-t4/fp32")
	assert.Equal(t, once, draw("kernels/mhc-pre/unit-scale/nano-t4/fp32"))
	assert.Equal(t, once, draw("kernels/mhc-pre/unit-scale/nano-t4/bf16"))
	assert.NotEqual(t, once, draw("kernels/mhc-head/unit-scale/nano-t4/fp32"))
}

// No generator MUST leave a factor at 1 or an addend at 0 for all of an operand, unless its row says so: a kernel that drops
// it would pass.
func TestNothingIsNeutralByDefault(t *testing.T) {
	zero := map[string]bool{"uniform-comb": true} // fn is 0 on purpose
	for _, c := range kernels.Cases() {
		p, err := c.Problem()
		require.NoError(t, err)
		for name, o := range p.Operands {
			neutral := len(o.Values) > 0 && !(name == "fn" && zero[c.Kase.ID])
			for _, v := range o.Values {
				neutral = neutral && (v == 0 || v == 1)
			}
			if neutral && c.Kase.ID != "cyclic-comb" {
				t.Errorf("%s: every value of operand %q is 0 or 1", c.ID, name)
			}
		}
		assert.NotEqual(t, 1.0, p.Attrs["hc_mult"], c.ID)
	}
}

// Every operand MUST lie in a padded layout of its own in some case, so that each view is exercised.
func TestEveryOperandIsPaddedSomewhere(t *testing.T) {
	for _, f := range kernels.Families() {
		padded := map[string]bool{}
		var operands []string
		for _, c := range f.Cases() {
			p, err := c.Problem()
			require.NoError(t, err)
			operands = operands[:0]
			for name := range p.Operands {
				operands = append(operands, name)
				padded[name] = padded[name] || p.Layout[name] != (kernels.Layout{})
			}
		}
		for _, name := range operands {
			if !padded[name] {
				t.Errorf("%s: no case lays operand %q out with memory around it", f.Op, name)
			}
		}
	}
}
