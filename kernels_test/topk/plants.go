package topk

import (
	"math"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle/faults"
)

var (
	both  = []string{opTopK, opPages}
	paged = []string{opPages}
)

// plants lists the faults: those of the catalogue, and this package's own in selecting, in lengths, in pages and in
// memory.
func plants() []bench.Plant {
	return slices.Concat(catalogued(), selectionPlants(), lengthPlants(), pagePlants(), memoryPlants())
}

// fault is a plant of the correct kernel with other steps.
func fault(name, class, effect, origin string, change func(k *kernel)) bench.Plant {
	return bench.Plant{
		Name: name, Effect: effect, Origin: origin, Class: class, On: both,
		Build: func(string) (bench.Candidate, error) { return correct(change).candidate(name), nil },
	}
}

// choosing replaces the selection.
func choosing(c chooser) func(k *kernel) { return func(k *kernel) { k.choose = c } }

// catalogued are the rows of the catalogue.
func catalogued() []bench.Plant {
	plant := func(row faults.Row, c chooser) bench.Plant {
		return bench.RowPlant(row, both, func(string) (bench.Candidate, error) {
			return correct(choosing(c)).candidate(row.Slug), nil
		})
	}
	return []bench.Plant{
		plant(faults.T1, stashed(2048, byArrival)),
		plant(faults.T2, stashed(4096, byIndex)),
		plant(faults.T3, cappedTies(1024)),
	}
}

// memoryPlants read what is not theirs, ignore a layout, leave slots unwritten, or write into inputs.
func memoryPlants() []bench.Plant {
	plant := func(name, class, effect, origin string, build bench.Builder) bench.Plant {
		return bench.Plant{Name: name, Effect: effect, Origin: origin, Class: class, On: both, Build: build}
	}
	table := plant("table-stride-ignored", "strides", "the rows of the page table are taken to lie without gaps",
		"a table sliced out of a wider one", bench.Builder(built).Before(bench.StrideIgnored("block_table")))
	table.On = paged
	return []bench.Plant{
		plant("stride-ignored", "strides", "the rows of scores are taken to lie without gaps",
			"a view treated as contiguous", bench.Builder(built).Before(bench.StrideIgnored("scores"))),
		table,
		plant("lengths-offset-ignored", "strides", "lengths are read from the start of their storage",
			"a slice of a metadata buffer read without its offset", bench.Builder(built).Before(bench.OffsetIgnored("lengths"))),
		plant("captured-lengths", "graph", "a replayed graph keeps the lengths that it was captured with",
			"lengths baked into a launch: sgl-project/sglang#9675", bench.Builder(built).Before(bench.StaleCapture("lengths"))),
		plant("last-tile-unwritten", "unwritten", "rows of a last tile of 4 that is not full are never written",
			"grid rounded down", bench.Builder(built).After(bench.LastTileUnwritten(4))),
		plant("scores-sorted-in-place", "input-overwritten", "the chosen scores are set to -Inf in the caller's buffer",
			"repeated maximum with masking in place", bench.Builder(built).After(func(c bench.Call, _ *bench.Reply) {
				v := c.Views["scores"]
				if v.Len() > 0 {
					c.Storage[v.Storage].Data[v.Offset] = math.Inf(-1)
				}
			})),
		fault("lengths-ignored", "unread-memory", "all S scores are ranked, whatever the length",
			"mask left to the caller", func(k *kernel) {
				k.length = func(_ []int, _, width int) int { return width }
			}),
		fault("tail-tile-read", "unread-memory", "the row is read to the next multiple of 32, and a NaN there is "+
			"dropped by the comparison", "partial vector read whole", choosing(func(r row) []int {
			all := first(min((r.n+31)/32*32, len(r.scores)))
			slices.SortStableFunc(all, func(a, b int) int {
				switch {
				case r.scores[a] > r.scores[b]:
					return -1
				case r.scores[a] < r.scores[b]:
					return 1
				}
				return 0
			})
			return all[:r.k]
		})),
	}
}
