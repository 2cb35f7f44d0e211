package kernels_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/internal/job"
)

// insideContracts are the contracts that a kernel inside the model can follow: those of its fp32 or bf16 facets.
var insideContracts = map[string][]string{
	"indexer_logits":   {"fp32", "hopper-fp8", "bf16-dot"},
	"topk":             {"lowest-index", "highest-index", "ties-any"},
	"sparse_attention": {"fp32", "v4-first"},
	"mhc_pre":          {"fp32", "tf32-rn", "bf16"},
	"mhc_post":         {"fp32"},
}

// The range of what the emulation of each contract does inside the model is derived once, under ASSAY_BUDGET=full with
// -update, and committed: a candidate beyond it is a fault whatever its cases said.
func TestInsideRanges(t *testing.T) {
	if budget() != "full" {
		t.Skip("ASSAY_BUDGET=full derives the ranges: 24 prompts for each of the contracts, some minutes")
	}
	cases := map[string]any{}
	for _, s := range job.Suites() {
		for _, f := range s.Families {
			for _, contract := range insideContracts[f.Op] {
				built, err := s.Built(contract)
				require.NoError(t, err)
				lines, err := job.RunInside(t.Context(), alone{built, f.Op}, job.InsideOptions{
					Needles: 24, Tokens: 1024, Chunk: 256,
				})
				require.NoError(t, err)
				require.Len(t, lines, 1)
				l := lines[0]
				require.NoError(t, l.Err, "%s %s", f.Op, contract)
				cases[f.Op+" "+contract] = map[string]any{
					"lost": l.Exact.Found - l.Recall.Found, "shift": golden.Float(twoDigits(job.ShiftRange(l.Shifts, 2e-5))),
				}
				t.Logf("%s %s: %d of %d, largest shift %.2g", f.Op, contract, l.Recall.Found, l.Recall.Of, l.Shift)
			}
		}
	}
	golden.Assert(t, "kernels/inside", golden.Doc{Provenance: provenance("TestInsideRanges"), Cases: cases},
		golden.All(golden.Factor(1.5, "ranges keep two digits and compare within x1.5")))
}

// alone is a candidate that offers one of its operators.
type alone struct {
	bench.Candidate
	op string
}

func (a alone) Hello(ctx context.Context) (bench.Hello, error) {
	h, err := a.Candidate.Hello(ctx)
	h.Ops = map[string]bench.Capability{a.op: h.Ops[a.op]}
	return h, err
}

// The tolerance limit MUST cover 99.9 % of a log-normal population in at least 95 % of samples, by simulation, and not
// be so wide that it judges nothing.
func TestShiftRangeCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	covered, widest := 0, 0.0
	const trials = 2000
	for range trials {
		shifts := make([]float64, 24)
		for i := range shifts {
			shifts[i] = math.Exp(rng.NormFloat64())
		}
		limit := job.ShiftRange(shifts, 1e-9)
		if math.Log(limit) >= 3.0902 {
			covered++
		}
		widest = max(widest, math.Log(limit))
	}
	assert.GreaterOrEqual(t, covered, trials*95/100)
	assert.Less(t, widest, 8.0)
}
