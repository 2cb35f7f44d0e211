package kernels_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	kernels "github.com/assay-suite/assay/kernels_test"
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
)

func exactly() bench.Candidate {
	return kernel(func(x float32) float32 { return x / (1 + float32(math.Exp(-float64(x)))) })
}

// halves offers the operator and answers calls of one row only.
type halves struct{ bench.Candidate }

func (h halves) Run(ctx context.Context, call bench.Call) (bench.Reply, error) {
	if call.Views["gate"].Shape[0] == 1 {
		return bench.Reply{}, fmt.Errorf("one row: %w", bench.ErrUnsupported)
	}
	return h.Candidate.Run(ctx, call)
}

// rounded is the suite with a looser contract below the first, and the kernel that meets only that.
func rounded(t *testing.T) (bench.Suite, bench.Candidate) {
	t.Helper()
	s := swiglu
	f := s.Families[0]
	exact := f.Expect
	f.Contracts = []numerics.Contract{{Name: "fp32"}, {Name: "bf16-steps"}}
	f.Facets = bench.FacetRule{Main: []string{"gate", "up"}, Out: "y", Looser: []string{"bf16-steps"}}
	f.Expect = func(c bench.Case, p bench.Problem) ([]bench.Expected, error) {
		all, err := exact(c, p)
		if err == nil && c.Contract.Name == "bf16-steps" {
			for i, y := range all[0].Want { // silu rounded to bf16 before the product: half an ulp of it, times up
				all[0].Bound[i] += math.Abs(y) * math.Ldexp(1, -8)
			}
		}
		return all, err
	}
	s.Families = []bench.Family{f}
	return s, kernel(func(x float32) float32 {
		return float32(bench.Round(bench.BF16, float64(x)/(1+math.Exp(-float64(x)))))
	})
}

// Every way a run can end has its code, and a verdict that says why.
func TestCodesOfRun(t *testing.T) {
	own := kernels.WithSuites(swiglu)
	suite2, coarse := rounded(t)
	meant := []kernels.Option{kernels.WithSuites(suite2)}
	ended, end := context.WithCancel(t.Context())
	end()
	for name, row := range map[string]struct {
		ctx     context.Context
		under   bench.Candidate
		opts    []kernels.Option
		code    int
		verdict string
	}{
		"correct":           {nil, exactly(), []kernels.Option{own}, 0, "equivalent: 2 of 2 facets, 8 cases"},
		"nobody":            {nil, nil, []kernels.Option{own}, 2, "there is no candidate"},
		"no such worker":    {nil, kernels.Worker(t.Context(), "/no/such/worker"), nil, 2, "/no/such/worker"},
		"no such operator":  {nil, exactly(), []kernels.Option{own, kernels.Operators("swigloo")}, 2, "use one of swiglu"},
		"no such contract":  {nil, exactly(), []kernels.Option{own, kernels.Contract("fp64")}, 2, "use one of fp32"},
		"an empty suite":    {nil, exactly(), []kernels.Option{kernels.WithSuites(bench.Suite{})}, 2, "no family"},
		"nothing offered":   {nil, exactly(), []kernels.Option{kernels.Operators("topk")}, 3, "offers no facet"},
		"in part":           {nil, halves{exactly()}, []kernels.Option{own}, 3, "partial"},
		"stopped":           {ended, exactly(), []kernels.Option{own}, 3, "stopped"},
		"looser":            {nil, coarse, meant, 3, "meets bf16-steps"},
		"looser, as meant":  {nil, coarse, append(meant, kernels.Contract("bf16-steps")), 0, "equivalent"},
		"sharper than that": {nil, exactly(), meant, 0, "equivalent"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			if row.ctx != nil {
				ctx = row.ctx
			}
			r, err := kernels.Run(ctx, row.under, row.opts...)
			assert.Equal(t, row.code, r.Code, r.Verdict)
			assert.Contains(t, r.Verdict, row.verdict)
			assert.Equal(t, row.code == 2, err != nil, "an error says that there is no judgement: %v", err)
		})
	}
}

// A run says what it looked at: facets with their cases, what was not answered, what is not offered, and what nobody
// knows.
func TestCoverageOfRun(t *testing.T) {
	both := bench.FromKernels("both", map[string]bench.Kernel{"swiglu": nil, "relu2": nil})
	s := swiglu
	gelu := s.Families[0]
	gelu.Op, gelu.Slug = "gelu", "gelu"
	s.Families = []bench.Family{s.Families[0], gelu}
	r, err := kernels.Run(t.Context(), both, kernels.WithSuites(s))
	require.NoError(t, err)
	assert.Equal(t, []string{"gelu"}, r.NotOffered)
	assert.Equal(t, []string{"relu2"}, r.Unknown)
	assert.Equal(t, 1, r.Code, r.Verdict) // a kernel that crashes is a fault
	r, err = kernels.Run(t.Context(), halves{exactly()}, kernels.WithSuites(swiglu))
	require.NoError(t, err)
	i := slices.IndexFunc(r.Facets, func(f kernels.Facet) bool { return f.Unsupported > 0 })
	require.GreaterOrEqual(t, i, 0)
	assert.Contains(t, r.Facets[i].NotJudged[0], "one row")
	assert.Equal(t, kernels.Partial, r.Facets[i].State)
}

// Artifacts are what a report needs and a script for every failure.
func TestArtifactsOfRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	bad := kernel(func(x float32) float32 { return x })
	r, err := kernels.Run(t.Context(), bad, kernels.WithSuites(swiglu), kernels.Artifacts(dir))
	require.NoError(t, err)
	assert.FileExists(t, filepath.Join(dir, "report.html"))
	assert.FileExists(t, filepath.Join(dir, "junit.xml"))
	require.NotEmpty(t, r.Facets[0].Failures)
	assert.FileExists(t, filepath.Join(r.Facets[0].Failures[0].Repro, "repro.py"))
}

const doorChild = "KERNELS_DOOR_CHILD"

// TestDoorChild is what TestTestFails starts.
func TestDoorChild(t *testing.T) {
	under := map[string]bench.Candidate{
		"correct": exactly(), "fault": kernel(func(x float32) float32 { return x }), "partial": halves{exactly()},
		"usage": kernels.Worker(t.Context(), "/no/such/worker"),
	}[os.Getenv(doorChild)]
	if under != nil {
		kernels.Test(t, under, kernels.WithSuites(swiglu))
	}
}

// Test MUST fail for every code but 0, with code and verdict as its message.
func TestTestFails(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	for kind, want := range map[string]string{
		"correct": "equivalent under fp32 in 5 cases", "fault": "code 1: fault: 2 of 2 facets",
		"partial": "code 3: partial: 0 of 2 facets", "usage": "code 2: usage: the worker \"/no/such/worker\" does not start",
	} {
		t.Run(kind, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestDoorChild$", "-test.v")
			cmd.Env = append(os.Environ(), doorChild+"="+kind)
			out, err := cmd.CombinedOutput()
			assert.Equal(t, kind == "correct", err == nil, "%s", out)
			assert.Contains(t, string(out), want)
			assert.NotContains(t, string(out), "SKIP")
			if kind == "fault" {
				assert.Contains(t, string(out), "go test ./kernels_test -count=1 -run '^TestDoorChild$'")
			}
		})
	}
}

// The table of operators that a candidate can offer.
func TestKnown(t *testing.T) {
	assert.True(t, slices.ContainsFunc(kernels.Known(), func(o kernels.Operator) bool { return o.Name == "topk" }))
}
