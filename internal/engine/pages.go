package engine

import "errors"

// row is what the KV pool holds of one token: what it is, the position it was rotated to, its key in the index of the
// sparse selection, and whether its scale is that of its page.
type row struct {
	tok, pos, key int32
}

// pool is the paged KV memory of one rank.
type pool struct {
	size int // tokens in a page
	rows []row
	ref  []int32  // holders of a page: requests and the prefix cache
	ver  []uint32 // writes to a page, so that a reader knows when to read again
	gen  []uint32 // times a page was handed out
	free []int32
	lifo bool
}

// pageOps are the decisions of the paged memory that a bug can get wrong.
type pageOps struct {
	write   func(table []int32, i, size int) int // row address of token i, for writing
	read    func(table []int32, i, size int) int // the same in the attention kernel
	store   func(pl *pool, at int, r row) row    // what the quantised write keeps of a row
	extent  func(n, size int) int                // tokens that the kernel takes the table to hold
	release func(pl *pool, page int32)
	share   func(pl *pool, page int32) // a request takes a page of the prefix cache
	null    bool                       // nothing is evicted, and a page that is not there is page zero
}

func soundPages() pageOps {
	address := func(table []int32, i, size int) int { return int(table[i/size])*size + i%size }
	return pageOps{
		write: address, read: address,
		store:   func(_ *pool, _ int, r row) row { return r },
		extent:  func(n, _ int) int { return n },
		release: func(pl *pool, page int32) { pl.drop(page) },
		share:   func(pl *pool, page int32) { pl.ref[page]++ },
	}
}

func newPool(tokens, size int, lifo bool) *pool {
	n := tokens / size
	pl := &pool{
		size: size, rows: make([]row, n*size), ref: make([]int32, n), ver: make([]uint32, n), gen: make([]uint32, n),
		lifo: lifo,
	}
	for i := range pl.rows {
		pl.rows[i] = row{-1, -1, -1}
	}
	for i := range n {
		pl.free = append(pl.free, int32(i))
	}
	return pl
}

var errFull = errors.New("the KV pool is full")

// take hands out a page with one holder. Its rows are those of the last owner until they are written.
func (pl *pool) take() (int32, error) {
	n := len(pl.free)
	if n == 0 {
		return 0, errFull
	}
	page := pl.free[0]
	if pl.lifo {
		page, pl.free = pl.free[n-1], pl.free[:n-1]
	} else {
		pl.free = pl.free[1:]
	}
	pl.ref[page] = 1
	pl.ver[page]++
	pl.gen[page]++
	return page, nil
}

// drop ends one hold of a page; without holders it is free.
func (pl *pool) drop(page int32) {
	if pl.ref[page]--; pl.ref[page] == 0 {
		pl.free = append(pl.free, page)
	}
}

// put writes one row.
func (pl *pool) put(at int, r row) {
	if at >= 0 && at < len(pl.rows) {
		pl.rows[at] = r
		pl.ver[at/pl.size]++
	}
}
