package indexer

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// byGroup has the scales of fp4 pages group by group.
func byGroup(i, group, page, dim int) int { return page*dim/2 + (group*page+i)%(4*page) }

// pagePlants follow page tables, or read pages, otherwise.
func pagePlants() []bench.Plant {
	return append(tablePlants(), codecPlants()...)
}

// tablePlants look up the wrong page or token.
func tablePlants() []bench.Plant {
	// plant finds key j of request b, of pages of some size, whose last query sees last keys.
	plant := func(name, effect, origin, class string, at func(entry func(b, i int) int, size, b, j, last int) int,
	) bench.Plant {
		return own(name, effect, origin, class, pagedOps, edited(func(a bench.Args, l *launch) {
			table, n := a.In("block_table"), a.In("q").Dim(1)
			entry := func(b, i int) int { return int(table.Row(b)[i%table.Dim(1)]) }
			l.at = func(t, j int) int {
				return at(entry, a.Int("page_size"), t/n, j, l.hi[t/n*n+n-1]) % max(len(l.keys), 1)
			}
		}))
	}
	type entry = func(b, i int) int
	return []bench.Plant{
		plant("table-ignored", "pages are taken in order", "contiguous cache assumed", "paging",
			func(_ entry, _, _, j, _ int) int { return j }),
		plant("table-of-request-0", "all requests read the first one's pages", "stride of the table left out", "paging",
			func(e entry, size, _, j, _ int) int { return e(0, j/size)*size + j%size }),
		plant("page-halved", "the table is followed as if pages had half as many tokens", "two page sizes confused", "paging",
			func(e entry, size, b, j, _ int) int {
				half := max(size/2, 1)
				return e(b, j/half)*size + j%half
			}),
		plant("first-page-again", "keys after the first page are read from it", "page index not advanced", "paging",
			func(e entry, size, b, j, _ int) int { return e(b, 0)*size + j%size }),
		plant("last-page-before", "the last page is the one before it", "page index clamped too early", "paging",
			func(e entry, size, b, j, last int) int {
				i := j / size
				if i == (last-1)/size && i > 0 {
					i--
				}
				return e(b, i)*size + j%size
			}),
		plant("table-by-slots", "entries of the table are taken for first slots", "page ids and slots confused", "paging",
			func(e entry, size, b, j, _ int) int { return e(b, j/size) + j%size }),
		plant("page-ids-of-8-bits", "page ids lose all but three bits", "a narrow index", "address",
			func(e entry, size, b, j, _ int) int { return e(b, j/size)%8*size + j%size }),
		plant("rows-reversed", "tokens of a page are read from its end", "a layout of another engine", "paging",
			func(e entry, size, b, j, _ int) int { return e(b, j/size)*size + size - 1 - j%size }),
	}
}

// codecPlants decode pages otherwise.
func codecPlants() []bench.Plant {
	plant := func(name, effect, origin, class string, change func(c *codec)) bench.Plant {
		return own(name, effect, origin, class, pagedOps, changed(func(k *kernel) { change(&k.codec) }))
	}
	return []bench.Plant{
		plant("scale-after-its-key", "a token's scale is taken to follow its values", "interleaved pages", "scale-layout",
			func(c *codec) { c.fp8 = afterValues }),
		plant("scale-of-neighbour", "a key has the scale of the token after it", "a row index off by one", "scale-layout",
			func(c *codec) {
				c.fp8 = func(i, page, dim int) (values, scale int) { return i * dim, page*dim + 4*((i+1)%page) }
				c.fp4 = func(i, group, page, dim int) int { return page*dim/2 + 4*((i+1)%page) + group }
			}),
		plant("scale-dropped", "all keys have one scale", "a scale tensor not loaded", "scale", func(c *codec) {
			c.scale = func(uint32) float32 { return 1.0 / 128 }
			c.power = func(byte) float64 { return 0.25 }
		}),
		plant("scale-exponent-only", "a scale is truncated to a power of two", "fp32 scales read as ue8m0", "encoding",
			func(c *codec) {
				c.scale = func(bits uint32) float32 { return math.Float32frombits(bits &^ 0x7fffff) }
			}),
		plant("nibbles-swapped", "the high nibble is the even channel", "another packing", "encoding", func(c *codec) {
			c.nibble = func(b byte, channel int) byte { return b >> (4 * (1 - channel%2)) }
		}),
		plant("fp4-groups-swapped", "scales of fp4 pages lie group by group", "another layout of scales", "scale-layout",
			func(c *codec) { c.fp4 = byGroup }),
		plant("e4m3-as-fnuz", "e4m3 is read with the bias of the fnuz variant", "ROCm's fp8", "encoding",
			func(c *codec) { c.e4m3 = e4m3FNUZ }),
		plant("bf16-bytes-swapped", "bf16 is read high byte first", "byte order", "encoding", func(c *codec) {
			right := c.bf16
			c.bf16 = func(first, second byte) float32 { return right(second, first) }
		}),
	}
}
