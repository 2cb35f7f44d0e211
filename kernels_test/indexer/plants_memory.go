package indexer

import (
	"strings"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// memoryPlants read what is not theirs, ignore a layout, leave elements unwritten, or write into inputs.
func memoryPlants() []bench.Plant {
	var out []bench.Plant
	for _, of := range []struct {
		operand string
		on      []string
	}{
		{"q", logitOps},
		{"k", raggedOps},
		{"pages", pagedOps},
		{"weights", logitOps},
		{"context_lens", pagedOps},
		{"block_table", pagedOps},
		{"x", []string{storeOp}},
	} {
		out = append(out, own("stride-of-"+strings.ReplaceAll(of.operand, "_", "-")+"-ignored",
			of.operand+" is taken to lie without gaps", "a view treated as contiguous", "strides", of.on,
			bench.Builder(built).Before(bench.StrideIgnored(of.operand))))
	}
	return append(out,
		own("offset-of-weights-ignored", "weights are read from the start of their storage", "a slice without its offset",
			"strides", logitOps, bench.Builder(built).Before(bench.OffsetIgnored("weights"))),
		own("tail-of-page-masked", "the key after a context is scored, times 0",
			"a tile of keys read whole and masked by a product", "unread-memory", pagedOps,
			edited(func(_ bench.Args, l *launch) {
				l.keyed = func(t, j int) bool {
					if at := l.at(t, j); j == l.hi[t]-1 && at+1 < len(l.keys) {
						l.scale[at] += 0 * l.keys[at+1][0]
					}
					return true
				}
			})),
		own("key-before-range-masked", "the key before a range is scored, times 0", "an aligned load", "unread-memory",
			raggedOps, edited(func(_ bench.Args, l *launch) {
				l.keyed = func(t, j int) bool {
					if j == l.lo[t] && j > 0 {
						l.w[t][0] += 0 * l.keys[j-1][0]
					}
					return true
				}
			})),
		own("stale-entry-followed", "the table's entry after the last page is followed, times 0",
			"a prefetch that is used", "unread-memory", pagedOps, edited(func(a bench.Args, l *launch) {
				table, n, page := a.In("block_table"), a.In("q").Dim(1), a.Int("page_size")
				for t := range l.hi {
					if i := (l.hi[t/n*n+n-1] + page - 1) / page; i < table.Dim(1) {
						id := int(table.Row(t / n)[i])
						l.w[t][0] += 0 * l.keys[id*page][0]
					}
				}
			})),
		own("last-tile-unwritten", "rows of a last tile of 2 that is not full are never written", "grid rounded down",
			"unwritten", logitOps, bench.Builder(built).After(bench.LastTileUnwritten(2))),
		own("rows-missing", "the output has one row too few", "shape rounded down", "unwritten",
			[]string{raggedOp, pagedOp, storeOp}, bench.Builder(built).After(func(c bench.Call, r *bench.Reply) {
				for name, s := range r.Outputs {
					if rows := c.Outputs[name].Shape[0]; rows > 0 {
						r.Outputs[name] = bench.Storage{DType: s.DType, Data: s.Data[:len(s.Data)/rows*(rows-1)]}
					}
				}
			})),
		own("queries-scaled-in-place", "q is changed by the call", "scales folded in place", "input-overwritten", logitOps,
			bench.Builder(built).After(func(c bench.Call, _ *bench.Reply) {
				v := c.Views["q"]
				data := c.Storage[v.Storage].Data
				v.Each(func(_, at int) { data[at] *= 0.5 })
			})),
		own("order-by-arrival", "the sum over heads is added in another order in every run", "atomic additions", "race",
			logitOps, changed(func(k *kernel) {
				run := 0
				k.edits = []edit{func(bench.Args, *launch) { run++ }}
				k.heads = func(v []float32) float32 {
					if run%2 == 1 {
						return bench.Reversed(v)
					}
					return bench.Sequential(v)
				}
			})).Under("fp32-bitwise"),
	)
}
