package kernels_test

import (
	"context"
	"fmt"
	"path"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/internal/job"
)

// whole is a candidate that offers every facet of some operators: each call is answered by the candidate that follows
// the contract of its case to the letter, with the fault in it.
type whole struct {
	ops   []string
	build func(contract string) (bench.Candidate, error)
	made  map[string]bench.Candidate
}

func (w *whole) Hello(context.Context) (bench.Hello, error) {
	h := bench.Hello{Name: "whole", Ops: map[string]bench.Capability{}}
	for _, op := range w.ops {
		h.Ops[op] = bench.Capability{Modes: []string{"eager", "graph"}}
	}
	return h, nil
}

func (w *whole) Run(ctx context.Context, call bench.Call) (bench.Reply, error) {
	contract := path.Base(call.Case)
	for at := call.Case; len(contract) > 5 && contract[:5] == "part-" || contract == "captured" || len(contract) > 5 &&
		contract[:5] == "with-"; contract = path.Base(at) {
		at = path.Dir(at)
	}
	c, ok := w.made[contract]
	if !ok {
		var err error
		if c, err = w.build(contract); err != nil {
			return bench.Reply{}, fmt.Errorf("%s: %w", call.Case, err)
		}
		w.made[contract] = c
	}
	return c.Run(ctx, call)
}

// The rows of the catalogue MUST be stopped in the job as a user starts it, with every facet offered: as a fault, or,
// for a fault of arithmetic that is another contract's letter, as looser than its format (code 3), and as a fault once
// the format's own contract is demanded. Under ASSAY_BUDGET=full all of them run, else two.
func TestRowsThroughTheJob(t *testing.T) {
	stopped, first, among, rows := 0, 0, 0, 0
	everyRow := budget() == "full"
	t.Setenv("ASSAY_BUDGET", "standard") // what a user starts
	n := 0
	for _, s := range job.Suites() {
		for _, p := range s.Plants {
			if p.Row == "" {
				continue
			}
			if n++; !everyRow && n%26 != 12 {
				continue
			}
			t.Run(p.Name, func(t *testing.T) {
				rows++
				narrowed := s
				narrowed.Families, narrowed.Plants = nil, nil // the causes are found without knowing the catalogue
				for _, f := range s.Families {
					for _, op := range p.On {
						if f.Op == op {
							narrowed.Families = append(narrowed.Families, f)
						}
					}
				}
				run := func(demanded string) (worst *job.Judged, looser bool) {
					all, err := job.Run(t.Context(), &whole{p.On, p.Build, map[string]bench.Candidate{}}, job.Options{
						Suites: []bench.Suite{narrowed}, Contract: demanded,
					})
					require.NoError(t, err, p.Name)
					for i := range all {
						looser = looser || all[i].State == job.Looser
						if all[i].State == job.Fault && (worst == nil || share(all[i]) > share(*worst)) {
							worst = &all[i]
						}
					}
					return worst, looser
				}
				worst, looser := run("")
				if worst == nil && looser {
					t.Logf("%s %s is looser than its format", p.Row, p.Name)
					worst, _ = run("fp32")
				}
				if worst == nil {
					t.Errorf("%s %s is not stopped", p.Row, p.Name)
					return
				}
				stopped++
				named := ""
				for at, c := range worst.Causes {
					if at == 0 {
						named = c.Class + " (" + c.Name + ")"
						if c.Class == p.Class {
							first++
						}
					}
					if c.Class == p.Class {
						among++
						break
					}
				}
				t.Logf("%-4s %-28s %-18s first %-50s %s %d of %d", p.Row, p.Name, p.Class, named, worst.Facet,
					worst.Count("fail"), len(worst.Rows))
			})
		}
	}
	t.Logf("%d rows: %d stopped, class named first %d, among the answers %d", rows, stopped, first, among)
	assert.Equal(t, rows, stopped)
}

func share(j job.Judged) float64 { return float64(j.Count("fail")) / float64(len(j.Rows)) }
