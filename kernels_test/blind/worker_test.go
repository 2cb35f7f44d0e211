package blind_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/blind"
	"github.com/assay-suite/assay/kernels_test/internal/job"
)

const workerFamily = "kernels/blind-worker"

// drawnMutants is how many mutants are judged again through a worker.
const drawnMutants = 100

// again is what the job said of a mutant around the numpy worker.
type again struct {
	Facet   string `json:"facet"`
	Mutants string `json:"fate"`    // in this process, around the built-in kernel
	Code    int    `json:"code"`    // of the job
	Stopped bool   `json:"stopped"` // by the job, in this facet
}

// A hundred drawn mutants MUST get the same answer around the numpy worker from the whole job, by all the rows of a
// drawn facet that it offers, as they get around the built-in kernel in this process.
func TestWorkerAgrees(t *testing.T) {
	if budget, _ := suite.Value("ASSAY_BUDGET"); budget != "full" {
		t.Skip("a hundred runs of the job are part of ASSAY_BUDGET=full")
	}
	python, _ := suite.Value("ASSAY_PYTHON")
	require.NotEmpty(t, python, "set ASSAY_PYTHON to an interpreter with numpy")
	t.Setenv("ASSAY_BUDGET", "standard")
	script, err := filepath.Abs("../../adapters/python/reference.py")
	require.NoError(t, err)
	worker, err := bench.StartWorker(t.Context(), python+" "+script)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, worker.Close()) })

	rng, share := suite.Rand("mutants for the worker"), map[string]int{}
	var ops []string
	suites := map[string]bench.Suite{}
	for _, s := range job.Suites() {
		for _, f := range s.Families {
			ops = append(ops, f.Op)
			one := s
			one.Families = []bench.Family{f}
			suites[f.Op] = one
		}
	}
	for range drawnMutants {
		share[ops[rng.IntN(len(ops))]]++
	}
	cases := map[string]any{}
	for _, op := range ops {
		if share[op] == 0 {
			continue
		}
		t.Run(op, func(t *testing.T) {
			s := suites[op]
			o, err := blind.Prepare(t.Context(), s, s.Families[0])
			require.NoError(t, err)
			for n := range share[op] {
				m, a := one(t, o, s, worker, fmt.Sprintf("%s mutant %d", op, n))
				cases[op+": "+m.Name] = a
			}
		})
	}
	golden.Assert(t, workerFamily, golden.Doc{Provenance: golden.Provenance{
		Generator: "kernels_test/blind.TestWorkerAgrees", Seed: suite.RandDescription,
		Source: "adapters/python, a second implementation of the operators, around which the mutants are put",
	}, Cases: cases}, golden.All(golden.Count("mutants, workers and the job are deterministic")))
}

// one draws a mutant and a facet that it can change, and compares both ways.
func one(t *testing.T, o *blind.Operator, s bench.Suite, worker *bench.Worker, seed string) (blind.Mutant, again) {
	t.Helper()
	rng := suite.Rand(seed)
	all := o.Mutants()
	m := all[rng.IntN(len(all))]
	facets := slices.Clone(o.Facets())
	rng.Shuffle(len(facets), func(i, j int) { facets[i], facets[j] = facets[j], facets[i] })
	hello, err := worker.Hello(t.Context())
	require.NoError(t, err)
	fate, facet := blind.Unreached, facets[0]
	for _, f := range facets {
		if !bench.Offers(hello, f) {
			continue
		}
		if fate, err = o.JudgeFacet(t.Context(), m, f.String()); fate != blind.Unreached {
			facet = f
			break
		}
	}
	require.NoError(t, err)
	only := offering{m.Wrap(worker), o.Op, facet}
	out, err := job.Whole(t.Context(), only, job.Options{Suites: []bench.Suite{s}})
	require.NoError(t, err)
	a := again{Facet: facet.Slug(), Mutants: string(fate), Code: out.Verdict().Code}
	for _, j := range out.Judged {
		if j.Facet.String() == facet.String() {
			a.Stopped = j.State == job.Fault || j.State == job.Looser
		}
	}
	assert.Equal(t, fate.Stopped(), a.Stopped, "%s: %s is %s in %s, and the job ends with %q", o.Op, m.Name, fate, facet,
		out.Verdict().Text)
	assert.True(t, !a.Stopped || a.Code != 0, "%s: %s is stopped, and the job ends with code 0", o.Op, m.Name)
	return m, a
}

// offering is a candidate that offers one facet of what another one does.
type offering struct {
	bench.Candidate
	op    string
	facet bench.Facet
}

// Hello offers the facet.
func (w offering) Hello(ctx context.Context) (bench.Hello, error) {
	h, err := w.Candidate.Hello(ctx)
	can := h.Ops[w.op]
	mode := w.facet.Mode
	if mode == "" {
		mode = "eager"
	}
	can.Facets = []bench.Offer{{
		DTypes: strings.Split(w.facet.Format, "+"), Out: w.facet.Out, Layout: w.facet.Layout, Phase: w.facet.Phase,
		Mode: mode,
	}}
	can.Attrs = map[string][]string{}
	words := strings.Fields(w.facet.Attrs)
	for i := 0; i+1 < len(words); i += 2 {
		can.Attrs[words[i]] = []string{words[i+1]}
	}
	h.Ops = map[string]bench.Capability{w.op: can}
	return h, err
}
