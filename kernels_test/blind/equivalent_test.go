package blind

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/kernels_test/internal/job"
)

func prepared(t *testing.T, op string) *Operator {
	t.Helper()
	t.Setenv("ASSAY_BUDGET", "standard")
	for _, s := range job.Suites() {
		for _, f := range s.Families {
			if f.Op == op {
				o, err := Prepare(t.Context(), s, f)
				require.NoError(t, err)
				o.draws = 60
				return o
			}
		}
	}
	require.FailNow(t, "no operator is called "+op)
	return nil
}

// The oracle MUST call an attribute a hint that it does not look at, and refuse one that it does: whatever a Doc says.
func TestEquivalenceIsTheOracles(t *testing.T) {
	for _, row := range []struct {
		op, hint string
		want     Reason
	}{
		{"mhc_post", "hc_eps", Hint},
		{"extend_rows", "align", Hint},
		{"extend_rows", "window_size", ""},
		{"sinkhorn", "iterations", ""},
		{"extend_rows", "seq_len", ""},
		{"page_table", "seq_lens", ""},
	} {
		o := prepared(t, row.op)
		var about []Mutant
		for _, m := range o.Mutants() {
			if m.Hint == row.hint {
				about = append(about, m)
			}
		}
		if row.want != "" {
			require.NotEmpty(t, about, row)
		}
		if len(about) == 0 {
			continue
		}
		got, refuted, err := o.equivalent(t.Context(), row.hint, about)
		require.NoError(t, err)
		assert.Equal(t, row.want, got, "%s %s: %s", row.op, row.hint, refuted)
		assert.Equal(t, got == "", refuted != "", "%s %s", row.op, row.hint)
	}
}
