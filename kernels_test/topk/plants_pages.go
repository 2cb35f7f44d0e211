package topk

import "github.com/assay-suite/assay/kernels_test/bench"

// pagePlants turn chosen keys into the wrong rows of the cache.
func pagePlants() []bench.Plant {
	// page is a fault of the transform; entry is the page of an entry of the query's own row of the table.
	page := func(name, class, effect, origin string,
		f func(table bench.Tensor, entry func(i int) int, t, key, size int) int,
	) bench.Plant {
		p := fault(name, class, effect, origin, func(k *kernel) {
			k.page = func(table bench.Tensor, request []int, t, key, size int) int {
				return f(table, func(i int) int { return int(table.Row(request[t])[i]) }, t, key, size)
			}
		})
		p.On = paged
		return p
	}
	unused := fault("unused-slots-looked-up", "paging", "unused slots go through the table, too, as key 0", "-1 not kept",
		func(k *kernel) {
			k.short = func(r row) []int {
				chosen := first(r.n)
				for r.n > 0 && len(chosen) < r.k {
					chosen = append(chosen, 0)
				}
				return chosen
			}
		})
	unused.On = paged
	return []bench.Plant{
		page("pages-not-applied", "paging", "logical keys are written in place of rows of the cache",
			"transform skipped on one path", func(_ bench.Tensor, _ func(int) int, _, key, _ int) int { return key }),
		page("page-64-assumed", "paging", "pages have 64 keys whatever page_size says", "a constant of one model",
			func(t bench.Tensor, entry func(int) int, _, key, _ int) int {
				return entry(min(key/64, t.Dim(1)-1))*64 + key%64
			}),
		page("table-by-token", "paging", "the table is read as if it had an entry for each token", "sgl-project/sglang#23757",
			func(t bench.Tensor, entry func(int) int, _, key, _ int) int { return entry(key % t.Dim(1)) }),
		page("offset-dropped", "paging", "every key becomes the first row of its page", "offset in the page dropped",
			func(_ bench.Tensor, entry func(int) int, _, key, size int) int { return entry(key/size) * size }),
		page("page-not-scaled", "paging", "the page id is added to the offset without the page size", "shift dropped",
			func(_ bench.Tensor, entry func(int) int, _, key, size int) int { return entry(key/size) + key%size }),
		page("next-page-at-edge", "paging", "the last key of each page goes through the next entry",
			"off by one at the edge of a page", func(_ bench.Tensor, entry func(int) int, _, key, size int) int {
				return entry((key+1)/size)*size + key%size
			}),
		page("table-of-first-request", "batch", "all queries go through the first sequence's table",
			"row of the table dropped", func(t bench.Tensor, _ func(int) int, _, key, size int) int {
				return int(t.Row(0)[key/size])*size + key%size
			}),
		page("table-by-query", "batch", "query t goes through row t of the table", "queries and requests confused",
			func(t bench.Tensor, _ func(int) int, q, key, size int) int {
				return int(t.Row(q % t.Dim(0))[key/size])*size + key%size
			}),
		page("row-in-16-bits", "address", "rows of the cache are computed in 16 bits", "narrow index",
			func(_ bench.Tensor, entry func(int) int, _, key, size int) int {
				return (entry(key/size)*size + key%size) & 0xffff
			}),
		page("row-through-float", "address", "rows of the cache go through fp32", "indices kept as floats",
			func(_ bench.Tensor, entry func(int) int, _, key, size int) int {
				return int(float32(entry(key/size)*size + key%size))
			}),
		unused,
	}
}
