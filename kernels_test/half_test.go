package kernels_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/internal/job"
)

// Streams and gains in bf16 are facets of their own: a sound kernel MUST be equivalent in them, and one that truncates
// what it stores there, or rounds the gain to fp8 on its way, a fault.
func TestHalfFacets(t *testing.T) {
	cut := func(output string) func(bench.Call, *bench.Reply) {
		return func(c bench.Call, r *bench.Reply) {
			if s := r.Outputs[output]; c.Outputs[output].DType == bench.BF16 {
				for i, v := range s.Data {
					s.Data[i] = float64(math.Float32frombits((math.Float32bits(float32(v)) - 1<<15) &^ (1<<16 - 1)))
				}
			}
		}
	}
	coarse := func(c *bench.Call) {
		if s := c.Storage[c.Views["weight"].Storage]; s.DType == bench.BF16 {
			bench.Misread("weight", func(_ int, v float64) float64 { return bench.Round(bench.E4M3, v) })(c)
		}
	}
	for op, faulty := range map[string]func(bench.Candidate) bench.Candidate{
		"mhc_pre":    func(c bench.Candidate) bench.Candidate { return bench.After(c, cut("y")) },
		"mhc_post":   func(c bench.Candidate) bench.Candidate { return bench.After(c, cut("out")) },
		"mhc_head":   func(c bench.Candidate) bench.Candidate { return bench.After(c, cut("y")) },
		"rms_norm":   func(c bench.Candidate) bench.Candidate { return bench.Before(c, coarse) },
		"layer_norm": func(c bench.Candidate) bench.Candidate { return bench.Before(c, coarse) },
	} {
		t.Run(op, func(t *testing.T) {
			s := only(t, op)
			o := job.Options{Suites: []bench.Suite{s}, Keep: func(id string) bool {
				return strings.Contains(id, "-half") && !strings.Contains(id, "/long") && !strings.Contains(id, "flash")
			}}
			for want, under := range map[job.State]bench.Candidate{
				job.Equivalent: sound(t, op, nil), job.Fault: faulty(sound(t, op, nil)),
			} {
				all, err := job.Run(t.Context(), under, o)
				require.NoError(t, err)
				judged := 0
				for _, j := range all {
					if len(j.Rows) > 0 && strings.Contains(j.Facet.Format, "BF16") {
						judged++
						assert.Equal(t, want, j.State, j.Facet.String())
					}
				}
				assert.NotZero(t, judged)
			}
		})
	}
}
