package compressor_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/compressor"
)

// Every operand, output and attribute that a case has MUST be in the operators' documents.
func TestDocuments(t *testing.T) {
	for _, c := range compressor.Suite().Cases() {
		p, err := c.Problem()
		require.NoError(t, err)
		for _, text := range c.Family.Undocumented(p) {
			t.Errorf("%s: %s", c.ID, text)
		}
	}
}

// Every operand MUST lie padded in some case, and what no block and no state looks at MUST be poisoned.
func TestPaddedAndUnread(t *testing.T) {
	padded, unread := map[string]bool{}, map[string]bool{}
	for _, c := range compressor.Suite().Cases() {
		p, err := c.Problem()
		require.NoError(t, err)
		for name, l := range p.Layout {
			padded[c.Family.Op+" "+name] = padded[c.Family.Op+" "+name] || l.Lead+l.Gap+l.Inner+l.Tail > 0
		}
		for name, hidden := range p.Unread {
			for i := range p.Operands[name].Values {
				if hidden(i) {
					unread[c.Family.Op+" "+name] = true
				}
			}
		}
	}
	for _, f := range compressor.Suite().Families {
		for _, o := range f.Doc.Operands {
			if !padded[f.Op+" "+o.Name] {
				t.Errorf("no case pads %s of %s", o.Name, f.Op)
			}
		}
	}
	for _, want := range []string{
		"compress kv", "compress gate", "compress_extend state_kv", "compress_extend state_gate",
	} {
		if !unread[want] {
			t.Errorf("no case leaves a part of %s unread", want)
		}
	}
}

// The diagnosis MUST name what was planted for the plants whose twins are sharp, on the first case by ID that stops
// them. All plants are logged under ASSAY_BUDGET=full.
func TestCauses(t *testing.T) {
	s := compressor.Suite()
	sharp := []string{
		"bias-missing", "slot-is-sequence", "values-in-bf16", "kv-stride-ignored", "maximum-from-0", "captured-slots",
		"left-over-masked",
	}
	benches := map[string]*bench.Bench{}
	firsts, among, all := 0, 0, 0
	for _, p := range s.Plants {
		must := slices.Contains(sharp, p.Name)
		if !must && bench.Every() > 1 {
			continue
		}
		b := firstKiller(t, s, p, benches)
		if b == nil {
			continue // TestSuite says so
		}
		under, err := p.Build(b.Case.Contract.Name)
		require.NoError(t, err)
		r, err := b.Judge(t.Context(), under)
		var causes []bench.Cause
		if err == nil {
			causes = b.Explain(t.Context(), under, r)
		}
		at := slices.IndexFunc(causes, func(c bench.Cause) bool { return c.Class == p.Class })
		named := ""
		if len(causes) > 0 {
			named = causes[0].Class
		}
		t.Logf("%-28s %-18s first %-18s place %d of %d, %s", p.Name, p.Class, named, at+1, len(causes), b.Case.ID)
		all++
		if at == 0 {
			firsts++
		}
		if at >= 0 {
			among++
		}
		if must && at < 0 {
			t.Errorf("%s: the diagnosis of %s does not name its class %q", b.Case.ID, p.Name, p.Class)
		}
	}
	t.Logf("%d plants, %d named first, %d among", all, firsts, among)
}

// firstKiller is the first case by ID that stops a plant.
func firstKiller(t *testing.T, s bench.Suite, p bench.Plant, benches map[string]*bench.Bench) *bench.Bench {
	t.Helper()
	for _, c := range s.Cases() {
		if !p.Concerns(c) {
			continue
		}
		b := benches[c.ID]
		if b == nil {
			var err error
			b, err = bench.New(c)
			require.NoError(t, err)
			benches[c.ID] = b
		}
		gate, err := b.Kill(t.Context(), p)
		require.NoError(t, err)
		if gate != "" {
			return b
		}
	}
	return nil
}
