package engine

import "slices"

// radixCache is a tree over pages of tokens (SGLang's RadixAttention): a node holds a run of pages, children differ in
// their first page.
type radixCache struct {
	ops   cacheOps
	pool  *pool
	roots map[uint64]*node
	clock uint64
	size  int
}

type node struct {
	ids      []int32 // len(pages) x page size tokens
	pages    []int32
	chains   []uint64
	children []*node
	parent   *node
	used     uint64
}

func newRadixCache(pl *pool, ops cacheOps) *radixCache {
	return &radixCache{ops: ops, pool: pl, roots: map[uint64]*node{}, size: pl.size}
}

// shared is how many whole pages of a begin b.
func (c *radixCache) shared(a, b []int32) int {
	n := min(len(a), len(b))
	i := 0
	for i < n && a[i] == b[i] {
		i++
	}
	return i / c.size
}

// walk follows ids from the root; it returns the pages on the way, the last node, and how many of its pages agree.
func (c *radixCache) walk(root *node, ids []int32) (pages []int32, at *node, agree int) {
	at, agree = root, len(root.pages)
	for len(ids) >= c.size {
		var next *node
		k := 0
		for _, child := range at.children {
			if k = c.shared(child.ids, ids); k > 0 {
				next = child
				break
			}
		}
		if next == nil {
			return pages, at, agree
		}
		next.used = c.clock
		at, agree = next, k
		pages = append(pages, next.pages[:k]...)
		if k < len(next.pages) {
			return pages, at, agree
		}
		ids = ids[k*c.size:]
	}
	return pages, at, agree
}

func (c *radixCache) match(ids []int32, key cacheKey) []int32 {
	c.clock++
	root := c.roots[key.root(c.ops)]
	if root == nil {
		return nil
	}
	pages, _, _ := c.walk(root, ids)
	return pages
}

func (c *radixCache) insert(ids []int32, key cacheKey, pages []int32) {
	r := key.root(c.ops)
	root := c.roots[r]
	if root == nil {
		root = &node{}
		c.roots[r] = root
	}
	known, at, agree := c.walk(root, ids)
	n := min(len(ids)/c.size, len(pages))
	if n <= len(known) {
		return
	}
	if agree < len(at.pages) {
		at = c.cutNode(at, agree)
	}
	var hashes []uint64
	if c.size > 1 {
		hashes = chain(c.ops, r, ids[:n*c.size], c.size)[len(known):]
	}
	fresh := &node{
		ids: slices.Clone(ids[len(known)*c.size : n*c.size]), pages: slices.Clone(pages[len(known):n]), chains: hashes,
		parent: at, used: c.clock,
	}
	for _, p := range fresh.pages {
		c.pool.ref[p]++
	}
	at.children = append(at.children, fresh)
}

// cutNode splits a node behind its first k pages and returns the upper half.
func (c *radixCache) cutNode(n *node, k int) *node {
	upper := &node{
		ids: n.ids[: k*c.size : k*c.size], pages: slices.Clone(n.pages[:k]), parent: n.parent, used: n.used,
		children: []*node{n},
	}
	if n.chains != nil {
		upper.chains, n.chains = n.chains[:k:k], n.chains[k:]
	}
	for i, s := range n.parent.children {
		if s == n {
			n.parent.children[i] = upper
		}
	}
	from := c.ops.split(len(n.pages), k)
	rest := slices.Clone(n.pages[k:])
	copy(rest, n.pages[from:])
	n.ids, n.parent = n.ids[k*c.size:], upper
	c.swap(n, k, rest)
	return upper
}

// swap gives a node its pages behind a split and keeps the counts of holders right.
func (c *radixCache) swap(n *node, k int, rest []int32) {
	for i, p := range rest {
		if old := n.pages[k+i]; old != p {
			c.pool.ref[p]++
			c.pool.drop(old)
		}
	}
	n.pages = rest
}

func (c *radixCache) evict(need int, gone func(uint64, int32)) bool {
	for len(c.pool.free) < need {
		leaf := c.oldest()
		if leaf == nil {
			return false
		}
		for len(leaf.pages) > 0 && len(c.pool.free) < need {
			last := len(leaf.pages) - 1
			if c.pool.ref[leaf.pages[last]] != 1 {
				break
			}
			var h uint64
			if leaf.chains != nil {
				h, leaf.chains = leaf.chains[last], leaf.chains[:last]
			}
			gone(h, leaf.pages[last])
			c.pool.drop(leaf.pages[last])
			if !c.ops.forget {
				leaf.used = c.clock + 1 // the entry stays and points at a free page
				return len(c.pool.free) >= need || c.evict(need, gone)
			}
			leaf.pages, leaf.ids = leaf.pages[:last], leaf.ids[:last*c.size]
		}
		if len(leaf.pages) == 0 {
			up := leaf.parent
			up.children = slices.DeleteFunc(up.children, func(n *node) bool { return n == leaf })
		}
	}
	return true
}

// oldest returns the least recently used leaf whose last page nobody else holds.
func (c *radixCache) oldest() *node {
	var best *node
	var visit func(n *node)
	visit = func(n *node) {
		for _, child := range n.children {
			visit(child)
		}
		if len(n.children) == 0 && len(n.pages) > 0 && c.pool.ref[n.pages[len(n.pages)-1]] == 1 &&
			(best == nil || n.used < best.used) {
			best = n
		}
	}
	for _, root := range c.roots {
		visit(root)
	}
	return best
}

func (c *radixCache) flush() {
	c.evict(len(c.pool.ref)+1, func(uint64, int32) {})
}
