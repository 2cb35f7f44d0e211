package dense_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/kernels_test/dense"
)

// Every operand that an operator's document names lies in a wider buffer in some case, and so does every one that may
// have elements which nobody reads have some; nothing that a case has is missing in the document.
func TestEveryOperandIsPaddedSomewhere(t *testing.T) {
	padded, hidden, drawn := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, c := range dense.Suite().Cases() {
		p, err := c.Problem()
		require.NoError(t, err)
		for _, missing := range c.Family.Undocumented(p) {
			t.Errorf("%s: %s", c.ID, missing)
		}
		for name := range p.Operands {
			key := c.Family.Op + " " + name
			drawn[key] = true
			l := p.Layout[name]
			padded[key] = padded[key] || l.Lead > 0 && l.Tail > 0
			if f := p.Unread[name]; f != nil {
				for i := range p.Operands[name].Values {
					hidden[key] = hidden[key] || f(i)
				}
			}
		}
	}
	for _, f := range dense.Suite().Families {
		for _, o := range f.Doc.Operands {
			key := f.Op + " " + o.Name
			if !drawn[key] {
				t.Errorf("no case of %s has operand %q", f.Op, o.Name)
			}
			if !padded[key] {
				t.Errorf("operand %q of %s lies contiguous everywhere", o.Name, f.Op)
			}
		}
	}
	for _, key := range []string{
		"gqa_attention q", "gqa_attention k", "gqa_attention v", "gqa_attention k_cache", "gqa_attention v_cache",
		"gqa_attention page_table", "gqa_attention workspace",
		"mla_attention q_nope", "mla_attention q_pe", "mla_attention ckv_cache", "mla_attention kpe_cache",
		"mla_attention page_table",
		"kv_write k", "kv_write v", "kv_write full_to_swa", "mla_kv_write latent", "mla_kv_write k_pe",
		"page_table req_to_token",
	} {
		if !hidden[key] {
			t.Errorf("no element of %s is ever unread", key)
		}
	}
}

// At least 40 correct variants, three contracts and every phase for each attention operator.
func TestSuiteIsWide(t *testing.T) {
	s := dense.Suite()
	phases, contracts := map[string]map[string]bool{}, map[string]map[string]bool{}
	for _, c := range s.Cases() {
		for _, m := range []map[string]map[string]bool{phases, contracts} {
			if m[c.Family.Op] == nil {
				m[c.Family.Op] = map[string]bool{}
			}
		}
		phases[c.Family.Op][c.Scenario.Phase], contracts[c.Family.Op][c.Contract.Name] = true, true
	}
	for _, op := range []string{"gqa_attention", "mla_attention"} {
		if len(phases[op]) != 3 || len(contracts[op]) != 4 {
			t.Errorf("%s runs in phases %v under contracts %v", op, phases[op], contracts[op])
		}
	}
	if n := len(s.Variants); n < 40 {
		t.Errorf("%d correct variants, want at least 40", n)
	}
	require.GreaterOrEqual(t, len(s.Cases()), 80)
	_, err := s.Built("int4")
	require.ErrorContains(t, err, "\"int4\"")
}
