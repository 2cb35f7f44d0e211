package sparse

import (
	"math"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// lengthened reads n entries more of every list.
func lengthened(n int) func(k *kernel[float32]) {
	return func(k *kernel[float32]) {
		lanes := k.lanes
		k.lanes = func(length, width, queries int) int { return lanes(length+n, width, queries) }
	}
}

// listPlants are faults of lists, page tables and cached bytes.
func listPlants() []bench.Plant {
	all, bytes, several := sampled(), []string{v4Pages, v32Pages}, []string{fp32, flashMLA}
	const mla = "deepseek-ai/FlashMLA"
	return []bench.Plant{
		replacing("list-one-short", "mask-edge", "the last entry of every list is left out", "a bound taken as inclusive",
			all, lengthened(-1)),
		replacing("list-one-long", "mask-edge", "one entry after the end of every list is read",
			"a bound taken as exclusive", all, lengthened(1)),
		replacing("extra-list-main-length", "unread-memory", "the extra list is taken to have the main list's length", mla,
			several, func(k *kernel[float32]) {
				k.lengths = func(a bench.Args, _ string) []int { return a.In("topk_length").Ints() }
			}),
		replacing("extra-pages-main-size", "paging", "the extra cache is walked with the main cache's page size", mla,
			[]string{fp32, flashMLA, flashInfer, v4Later}, func(k *kernel[float32]) {
				k.size = func(a bench.Args, _ string) int { return a.Int("page_size") }
				k.lookup = func(l list, t, position int) int { return l.row(l.request[t], position) % l.rows }
			}),
		replacing("table-not-read", "paging", "positions are taken for rows", "a test with an identity table passes",
			append(sampled(), production), func(k *kernel[float32]) {
				k.lookup = func(_ list, _, position int) int { return position }
			}),
		replacing("query-for-request", "paging", "the table row is that of the query's number, not of its request",
			"wrong from the first verify step on", all, func(k *kernel[float32]) {
				k.lookup = func(l list, t, position int) int { return l.row(t%l.table.Dim(0), position) }
			}),
		replacing("minus-one-is-row-0", "empty-row", "a lane without a row is read as row 0 and counted", mla, all,
			func(k *kernel[float32]) { k.none = 0 }),
		replacing("partial-tile-dropped", "tile", "entries of a partial last tile of 16 are left out", "grid rounded down",
			all, func(k *kernel[float32]) {
				lanes := k.lanes
				k.lanes = func(n, width, queries int) int {
					if n = lanes(n, width, queries); n >= 16 {
						n -= n % 16
					}
					return n
				}
			}),
		replacing("masked-by-product", "unread-memory",
			"row 0 is read for lanes without a row and multiplied by a weight of 0", mla, all, func(k *kernel[float32]) {
				k.value = func(g gathered, row []float64) []float64 {
					if row == nil {
						row = g.caches[0][0]
					}
					return row[:g.dv]
				}
			}),
		replacing("rows-not-rounded", "variant", "rows do not go through fp8, as in the first release",
			"DeepSeek-V4, first and later inference/kernel.py", []string{v4Later}, func(k *kernel[float32]) {
				k.end = func(int, int) int { return 0 }
			}),
		replacing("scale-of-next-group", "scale-layout", "each group has its neighbour's scale", mla, bytes,
			func(k *kernel[float32]) {
				k.group = func(group, groups int) int { return (group + 1) % groups }
			}),
		replacing("scales-in-row", "scale-layout", "scales are read after each row, not after all rows of the page", mla,
			[]string{v4Pages}, func(k *kernel[float32]) {
				k.scaleV4 = func(page []byte, _, t int) []byte { return page[min(584*t+576, len(page)-8):] }
			}),
		replacing("scales-not-applied", "scale", "codes are used without their scales", mla, bytes,
			func(k *kernel[float32]) { k.decoder.scale = func(float32) float32 { return 1 } }),
		replacing("fnuz-codes", "encoding", "e4m3 codes are read as e4m3fnuz", "AMD's fp8 has another bias", bytes,
			func(k *kernel[float32]) { k.code = func(code byte) float32 { return minifloat(code, 8) } }),
		replacing("extra-cache-left-out", "selection", "only the main list is attended to", "local-only attention", all,
			func(k *kernel[float32]) {
				k.rows = func(g gathered, t int) [][]float64 {
					g.lists = g.lists[:1]
					return listedRows(g, t)
				}
			}),
		replacing("rows-counted-once", "selection", "a row listed twice counts once", "a set in place of a list", several,
			ordered(func(rows [][]float64) [][]float64 {
				seen := map[*float64]bool{}
				return slices.DeleteFunc(rows, func(row []float64) bool {
					if row == nil {
						return false
					}
					was := seen[&row[0]]
					seen[&row[0]] = true
					return was
				})
			})),
		own("q-strides-ignored", "strides", "queries are taken to lie without gaps", "a view treated as contiguous", all,
			seeing(bench.StrideIgnored("q"))),
		own("kv-strides-ignored", "strides", "rows are taken to lie without gaps", "a view treated as contiguous", all,
			seeing(bench.StrideIgnored("kv"))),
		own("indices-strides-ignored", "strides", "lists are taken to lie without gaps", "a view treated as contiguous",
			several, seeing(bench.StrideIgnored("indices"))),
		own("table-strides-ignored", "strides", "tables are taken to lie without gaps", "a view treated as contiguous",
			several, seeing(bench.StrideIgnored("block_table"))),
		own("reads-past-q", "unread-memory", "a partial tile of queries is read whole and masked by a product",
			"out-of-bounds load", all, seeing(bench.RowsBeyondMasked("q"))),
		own("last-queries-unwritten", "unwritten", "queries of a partial last tile of 4 are never written",
			"grid rounded down", all, after(bench.LastTileUnwritten(4))),
		own("writes-into-q", "input-overwritten", "queries are scaled in place", "in-place scaling", all,
			after(func(c bench.Call, _ *bench.Reply) {
				v := c.Views["q"]
				v.Each(func(_, at int) { c.Storage[v.Storage].Data[at] /= 2 })
			})),
		own("differs-between-runs", "race", "one output element differs from run to run in its last bit", "atomic additions",
			[]string{production}, restless),
	}
}

// roundingPlants are faults of kv_rounding.
func roundingPlants() []bench.Plant {
	plant := func(name, class, effect, origin string, change func(k *kernel[float32])) bench.Plant {
		return replacing(name, class, effect, origin, []string{v4Later}, change)
	}
	return []bench.Plant{
		plant("rounding-every-second-group", "variant", "the first 64 of each 128 channels are rounded",
			"a block of threads that covers half of a tile", func(k *kernel[float32]) { k.step = 128 }),
		plant("rounding-groups-of-128", "scale-layout", "128 channels share a scale", "the block of the weights' format",
			func(k *kernel[float32]) { k.groupSize, k.step = 128, 128 }),
		plant("rounding-one-scale", "scale-layout", "all rounded channels of a row share a scale", "a scale per token",
			func(k *kernel[float32]) { k.groupSize, k.step = math.MaxInt32, math.MaxInt32 }),
		plant("rounding-short-group-lost", "variant", "a last group of fewer than 64 channels is not rounded",
			"a loop over whole groups", func(k *kernel[float32]) {
				k.end = func(lead, _ int) int { return lead / 64 * 64 }
			}),
		plant("rounding-through-rope", "variant", "the rotated channels are rounded, too", "the whole row quantised",
			func(k *kernel[float32]) { k.end = func(_, width int) int { return width } }),
		plant("rounding-floor-low", "eps", "the floor of the largest magnitude is 1e-8",
			"sgl-project/sglang quant_k_cache.py", func(k *kernel[float32]) { k.floor = 1e-8 }),
	}
}
