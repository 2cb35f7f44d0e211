package indexer

import (
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle/faults"
)

const (
	raggedOp = "indexer_logits"
	pagedOp  = "indexer_logits_paged"
	storeOp  = "index_key_store"
)

var (
	logitOps  = []string{raggedOp, pagedOp}
	pagedOps  = []string{pagedOp}
	raggedOps = []string{raggedOp}
)

// changed builds the contract's own kernel with other steps.
func changed(c change) bench.Builder {
	return func(contract string) (bench.Candidate, error) {
		return bench.FromKernels("changed", correct(following(contract), c).kernels()), nil
	}
}

// edited builds candidates whose launch is edited.
func edited(e edit) bench.Builder { return changed(func(k *kernel) { k.edits = append(k.edits, e) }) }

// own is a plant of no row of the catalogue.
func own(name, effect, origin, class string, on []string, build bench.Builder) bench.Plant {
	return bench.Plant{Name: name, Effect: effect, Origin: origin, Class: class, On: on, Build: build}
}

// plants lists the faults: those of the catalogue, and this package's own in masks, values, pages, memory and stores.
func plants() []bench.Plant {
	out := slices.Concat(rowPlants(), maskPlants(), valuePlants(), pagePlants(), memoryPlants(), storePlants())
	for i, p := range out {
		if p.Declared == nil {
			out[i].Declared = append([]string{"bf16-steps"}, every...)
		}
	}
	return out
}

// rowPlants are the rows of the catalogue.
func rowPlants() []bench.Plant {
	// extending edits calls that extend a prefix: fresh is how many of the request's keys this chunk has stored.
	extending := func(row faults.Row, f func(l *launch, stored, fresh func(t int) int)) bench.Plant {
		return bench.RowPlant(row, pagedOps, edited(func(a bench.Args, l *launch) {
			if !a.Has("prefix_lens") {
				return
			}
			prefix, n := a.In("prefix_lens").Ints(), a.In("q").Dim(1)
			f(l, func(t int) int { return prefix[t/n] }, func(t int) int { return l.hi[t/n*n+n-1] - prefix[t/n] })
		}))
	}
	return []bench.Plant{
		extending(faults.T6, func(l *launch, _, fresh func(t int) int) {
			l.keyed = func(t, j int) bool { return j < fresh(t) }
		}),
		extending(faults.T7, func(l *launch, stored, fresh func(t int) int) {
			at := l.at
			l.at = func(t, j int) int {
				if n := fresh(t); j < stored(t) && n > 0 {
					j = stored(t) + j%n // the scratch holds what this chunk put there
				}
				return at(t, j)
			}
		}),
	}
}
