package kernels_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/suite"
	kernels "github.com/assay-suite/assay/kernels_test"
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/mhc"
	"github.com/assay-suite/assay/oracle"
	"github.com/assay-suite/assay/oracle/faults"
)

// A worker's contract MUST be found by itself: the sharpest that it meets in every case; a faulty one meets none and is
// refused under one, with a cause and the known bug.
func TestContractsAreFound(t *testing.T) {
	tf32, err := mhc.Built("tf32-rn")
	require.NoError(t, err)
	turned, err := faults.Lookup("hc-norm-sqrt2")
	require.NoError(t, err)
	heads := mhc.Suite()
	heads.Families = slices.DeleteFunc(heads.Families, func(f bench.Family) bool { return f.Op != "mhc_head" })
	for _, row := range []struct {
		name, contract string
		under          bench.Candidate
		fails          bool
	}{
		{"exact", "fp32", mhc.FromOps("exact", oracle.Reference()), false},
		{"tf32", "tf32-rn", mhc.FromOps("tf32", tf32.Ops()), false},
		{"faulty", "bf16", mhc.FromOps("faulty", turned.Apply(oracle.Reference())), true},
	} {
		t.Run(row.name, func(t *testing.T) {
			found := map[string]string{}
			rows, err := kernels.Run(t.Context(), row.under, kernels.Options{
				Suites: []bench.Suite{heads}, Declared: func(op string, d bench.Declared) { found[op] = d.Contract },
				Keep: func(id string) bool { return strings.Contains(id, "nano-t4") },
			})
			require.NoError(t, err)
			assert.Equal(t, row.contract, found["mhc_head"])
			failed := 0
			for _, r := range rows {
				if r.Outcome == suite.Failed {
					failed++
					if failed == 1 {
						assert.NotEmpty(t, r.Causes)
						assert.Equal(t, "hc-norm-sqrt2", r.Like[0].Name)
					}
				}
			}
			assert.Equal(t, row.fails, failed > 0)
			lines := kernels.Lines(rows)
			require.NotEmpty(t, lines)
			assert.Equal(t, map[bool]string{true: "differs", false: "equivalent"}[row.fails], lines[0].Verdict())
		})
	}
}

// A phase that never reaches the kernel which the others run MUST be named, and one that is not offered, too.
func TestReach(t *testing.T) {
	line := func(op, phase string, passed, skipped int, paths ...string) kernels.Line {
		return kernels.Line{Op: op, Phase: phase, Cases: passed + skipped, Passed: passed, Skipped: skipped, Paths: paths}
	}
	assert.Equal(t, []string{
		`sparse_attention: prefill never reached "sm90 sparse": every call took "torch fallback"`,
		"topk: extend is not offered, so nothing is known of it",
	}, kernels.Reach([]kernels.Line{
		line("sparse_attention", "prefill", 4, 0, "torch fallback"), line("sparse_attention", "decode", 4, 0, "sm90 sparse"),
		line("sparse_attention", "extend", 4, 0, "sm90 sparse"),
		line("topk", "decode", 3, 0, "radix"), line("topk", "extend", 0, 3),
		line("mhc_pre", "", 3, 0, "a"),
		line("gqa_attention", "decode", 0, 3), line("gqa_attention", "prefill", 0, 3),
	}))
}
