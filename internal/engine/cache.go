package engine

import (
	"cmp"
	"slices"
)

// prefixCache finds KV pages of a prompt that a rank has computed before. All of them work on whole pages.
type prefixCache interface {
	// match returns the cached pages of the longest known prefix of ids.
	match(ids []int32, key cacheKey) []int32
	// insert makes the full pages of ids known; it holds every page that it did not know before.
	insert(ids []int32, key cacheKey, pages []int32)
	// evict drops what nobody else holds, oldest first, until n pages are free; gone is told what goes.
	evict(n int, gone func(chain uint64, page int32)) bool
	// flush forgets everything that nobody holds.
	flush()
}

// cacheKey is what must agree beside the tokens.
type cacheKey struct {
	salt   uint64
	images []uint64
	seed   uint64
}

func (k cacheKey) root(ops cacheOps) uint64 {
	h := mix(k.seed, k.salt)
	if ops.images {
		for _, i := range k.images {
			h = mix(h, i)
		}
	}
	return h
}

// cacheOps are the decisions of prefix caches that a bug can get wrong.
type cacheOps struct {
	images   bool // pictures are part of the key
	block    func(parent uint64, ids []int32) uint64
	split    func(n, at int) int             // where the pages of a node are cut when it is split at page at
	usable   func(hit, prompt, size int) int // cached tokens that a prompt may take: one at least is computed
	computed func(total int) int             // tokens with a row when a request of so many tokens ends
	forget   bool                            // an evicted page leaves the index
	early    bool                            // pages are made known before they are written
	restore  func(k, n int) int              // page of the host tier that goes to page k of n
	angle    func(pos, base int) int         // position of a restored row
	resume   func(hit, size int) int         // first token to compute behind a hit
	copied   func(i, size int) bool          // whether row i of a restored page is copied; nil: all are
	late     bool                            // an evicted page is copied into host memory after it was given away
}

func soundCache() cacheOps {
	return cacheOps{
		images: true,
		block: func(parent uint64, ids []int32) uint64 {
			h := parent
			for _, t := range ids {
				h = mix(h, uint64(t))
			}
			return h
		},
		split:    func(_, at int) int { return at },
		usable:   func(hit, prompt, size int) int { return min(hit, (prompt-1)/size*size) },
		computed: func(total int) int { return total - 1 },
		forget:   true,
		restore:  func(k, _ int) int { return k },
		angle:    func(pos, _ int) int { return pos },
		resume:   func(hit, _ int) int { return hit },
	}
}

// chain returns the hash of every full page of ids with all that stands before it.
func chain(ops cacheOps, root uint64, ids []int32, size int) []uint64 {
	out := make([]uint64, 0, len(ids)/size)
	h := root
	for i := 0; i+size <= len(ids); i += size {
		h = ops.block(h, ids[i:i+size])
		out = append(out, h)
	}
	return out
}

// noCache never finds anything.
type noCache struct{}

func (noCache) match([]int32, cacheKey) []int32     { return nil }
func (noCache) insert([]int32, cacheKey, []int32)   {}
func (noCache) evict(int, func(uint64, int32)) bool { return false }
func (noCache) flush()                              {}

// blockCache is a table of block hashes, each over its tokens and the hash of its parent (vLLM).
type blockCache struct {
	ops   cacheOps
	pool  *pool
	known map[uint64]int32
	of    map[int32]uint64 // the hash under which a page is known
	used  map[int32]uint64 // last use
	clock uint64
}

func newBlockCache(pl *pool, ops cacheOps) *blockCache {
	return &blockCache{ops: ops, pool: pl, known: map[uint64]int32{}, of: map[int32]uint64{}, used: map[int32]uint64{}}
}

func (c *blockCache) match(ids []int32, key cacheKey) []int32 {
	c.clock++
	var out []int32
	for _, h := range chain(c.ops, key.root(c.ops), ids, c.pool.size) {
		page, ok := c.known[h]
		if !ok {
			break
		}
		c.used[page] = c.clock
		out = append(out, page)
	}
	return out
}

func (c *blockCache) insert(ids []int32, key cacheKey, pages []int32) {
	for i, h := range chain(c.ops, key.root(c.ops), ids, c.pool.size) {
		if i >= len(pages) {
			return
		}
		page := pages[i]
		if _, ok := c.known[h]; ok {
			continue
		}
		if _, ok := c.of[page]; ok {
			continue // the page is known under another hash already
		}
		c.known[h], c.of[page], c.used[page] = page, h, c.clock
		c.pool.ref[page]++
	}
}

func (c *blockCache) evict(n int, gone func(uint64, int32)) bool {
	if len(c.pool.free) >= n {
		return true
	}
	var idle []int32
	for page := range c.used {
		if c.pool.ref[page] == 1 {
			idle = append(idle, page)
		}
	}
	// Of equal age the later page goes first: a child without its parent is of no use.
	slices.SortFunc(idle, func(a, b int32) int {
		return cmp.Or(cmp.Compare(c.used[a], c.used[b]), cmp.Compare(b, a))
	})
	for _, page := range idle {
		if len(c.pool.free) >= n {
			break
		}
		gone(c.of[page], page)
		c.drop(page)
	}
	return len(c.pool.free) >= n
}

func (c *blockCache) drop(page int32) {
	if c.ops.forget {
		delete(c.known, c.of[page])
	}
	delete(c.of, page)
	delete(c.used, page)
	c.pool.drop(page)
}

func (c *blockCache) flush() {
	for page := range c.used {
		if c.pool.ref[page] == 1 {
			c.drop(page)
		}
	}
	clear(c.known)
	for page, h := range c.of {
		c.known[h] = page
	}
}
