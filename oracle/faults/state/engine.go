package state

import (
	"maps"
	"slices"
)

// enginePage is one physical page. Its cells hold old data until they are written again.
type enginePage struct {
	cells []uint64
	users int    // tables that name it
	hash  uint64 // of the tokens up to its end once it is full, 0 before
}

// engineSequence is one request. Cell p of its cache is made from token p and cell p-1, so that damage
// to one travels to the later ones as it does through layers.
type engineSequence struct {
	tokens []int
	prompt int
	table  []int
	host   []uint64 // cells that were swapped out
	out    bool     // preempted
}

// engine is the cache of an inference engine: pages, a free list in order of release, hashes of full
// blocks, and sequences whose tables share pages and copy them on write. The fault is a slug of
// EngineModels, empty for the correct one.
type engine struct {
	size      int
	pages     []enginePage
	free      []int
	cached    map[uint64]int
	sequences map[int]*engineSequence
	next      int
	fault     string
	err       error // the first thing that went wrong; operations after it do nothing
}

// newEngine has a free list that is no identity: page 3 first, then 7 further each time. identity makes
// it 0, 1, 2, ..., which hides a table that is never read.
func newEngine(size, pages int, fault string, identity bool) *engine {
	e := &engine{
		size:      size,
		pages:     make([]enginePage, pages),
		cached:    map[uint64]int{},
		sequences: map[int]*engineSequence{},
		fault:     fault,
	}
	for i := range pages {
		e.pages[i].cells = slices.Repeat([]uint64{0xdead}, size)
		at := i
		if !identity {
			at = (7*i + 3) % pages // pages is prime and not 7: every page once
		}
		e.free = append(e.free, at)
	}
	return e
}

// cellOf is what a layer stores for a token at a position, given the cell before it.
func cellOf(token, position int, before uint64) uint64 {
	return mix(uint64(token), uint64(position), before)
}

// blockHash identifies the tokens of block b and everything before it.
func (e *engine) blockHash(tokens []int, b int) uint64 {
	from := 0
	if e.fault == "hash-without-parent" {
		from = b * e.size
	}
	h := uint64(1)
	for _, t := range tokens[from : (b+1)*e.size] {
		h = mix(h, uint64(t))
	}
	return h
}

// take gives out the page that has been free for longest; what it held is no longer cached.
func (e *engine) take() int {
	if len(e.free) == 0 {
		e.fail(violated("the engine runs out of %d pages", len(e.pages)))
		return 0
	}
	at := e.free[0]
	e.free = e.free[1:]
	p := &e.pages[at]
	if e.cached[p.hash] == at && e.fault != "evict-keeps-hash" {
		delete(e.cached, p.hash)
	}
	p.users, p.hash = 1, 0
	return at
}

// share adds a user to a page, which may have been free.
func (e *engine) share(at int) {
	if e.pages[at].users == 0 {
		e.free = slices.DeleteFunc(e.free, func(f int) bool { return f == at })
	}
	e.pages[at].users++
}

// drop takes a user from a page and frees it after the last.
func (e *engine) drop(at int) {
	e.pages[at].users--
	if e.pages[at].users == 0 || e.fault == "release-frees-shared" {
		e.pages[at].users = 0
		e.free = append(e.free, at)
	}
}

// cell reads position p through the table.
func (e *engine) cell(s *engineSequence, p int) uint64 {
	if p/e.size >= len(s.table) {
		e.fail(violated("position %d lies beyond a table of %d pages of %d", p, len(s.table), e.size))
		return 0
	}
	return e.pages[s.table[p/e.size]].cells[p%e.size]
}

// write computes the cell of a position and stores it, on a page of its own.
func (e *engine) write(s *engineSequence, p, token int) {
	if p/e.size == len(s.table) {
		s.table = append(s.table, e.take())
	}
	var before uint64
	if p > 0 {
		before = e.cell(s, p-1)
	}
	if e.cell(s, p); e.err != nil {
		return
	}
	at := s.table[p/e.size]
	if e.pages[at].users > 1 && e.fault != "fork-no-copy" {
		own := e.take()
		copy(e.pages[own].cells, e.pages[at].cells)
		e.drop(at)
		s.table[p/e.size], at = own, own
	}
	e.pages[at].cells[p%e.size] = cellOf(token, p, before)
}

// publish makes the full blocks of some tokens known to later prompts.
func (e *engine) publish(s *engineSequence, tokens []int) {
	for b := 0; (b+1)*e.size <= len(tokens) && b < len(s.table); b++ {
		p, h := &e.pages[s.table[b]], e.blockHash(tokens, b)
		if _, known := e.cached[h]; !known && p.hash == 0 {
			p.hash = h
			e.cached[h] = s.table[b]
		}
	}
}

// reuse fills an empty table with cached blocks and returns how many tokens they cover: at least one
// token is left to compute, as its output is wanted.
func (e *engine) reuse(s *engineSequence) int {
	for b := 0; (b+1)*e.size < len(s.tokens); b++ {
		at, hit := e.cached[e.blockHash(s.tokens, b)]
		if !hit {
			break
		}
		if e.fault == "hit-identity-table" {
			at = b
		}
		e.share(at)
		s.table = append(s.table, at)
	}
	return len(s.table) * e.size
}

// output is what attention over all cells of a sequence gives.
func (e *engine) output(id int) uint64 {
	s := e.sequences[id]
	h := uint64(1)
	for p := range s.tokens {
		h = mix(h, e.cell(s, p))
	}
	return h
}

// ids lists the sequences that are, or are not, preempted.
func (e *engine) ids(out bool) []int {
	var ids []int
	for _, id := range slices.Sorted(maps.Keys(e.sequences)) {
		if e.sequences[id].out == out {
			ids = append(ids, id)
		}
	}
	return ids
}

func (e *engine) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}
