package state

import (
	"maps"
	"slices"
)

// start takes a prompt: cached blocks first, the rest is computed. It returns the sequence.
func (e *engine) start(prompt ...int) int {
	id := e.next
	e.next++
	s := &engineSequence{tokens: slices.Clone(prompt), prompt: len(prompt)}
	e.sequences[id] = s
	e.fillFrom(s, e.reuse(s))
	return id
}

// fillFrom computes the cells from a position to the end.
func (e *engine) fillFrom(s *engineSequence, from int) {
	for p := from; p < len(s.tokens) && e.err == nil; p++ {
		e.write(s, p, s.tokens[p])
	}
	e.publish(s, s.tokens)
}

// decode appends one token.
func (e *engine) decode(id, token int) {
	s := e.sequences[id]
	e.write(s, len(s.tokens), token)
	s.tokens = append(s.tokens, token)
	e.publish(s, s.tokens)
}

// fork makes a second sequence that continues the same tokens on shared pages.
func (e *engine) fork(id int) int {
	s := e.sequences[id]
	other := &engineSequence{tokens: slices.Clone(s.tokens), prompt: s.prompt, table: slices.Clone(s.table)}
	for _, at := range s.table {
		e.share(at)
	}
	e.sequences[e.next] = other
	e.next++
	return e.next - 1
}

// verify writes the cells of a draft in one step, keeps those that agree with the truth, drops the rest
// and appends the true token after them: the same as decoding truth[:accepted+1].
func (e *engine) verify(id int, draft, truth []int) {
	s := e.sequences[id]
	n := len(s.tokens)
	for i, t := range draft {
		e.write(s, n+i, t)
	}
	if e.fault == "verify-hashes-draft" {
		e.publish(s, slices.Concat(s.tokens, draft))
	}
	accepted := 0
	for accepted < len(draft) && accepted+1 < len(truth) && draft[accepted] == truth[accepted] {
		accepted++
	}
	at := n + accepted
	if e.fault == "verify-keeps-rejected" {
		at = n + len(draft)
	}
	s.tokens = append(s.tokens, truth[:accepted]...)
	for needed := (at + e.size - 1) / e.size; len(s.table) > needed; s.table = s.table[:len(s.table)-1] {
		e.drop(s.table[len(s.table)-1])
	}
	e.write(s, at, truth[accepted])
	s.tokens = append(s.tokens, truth[accepted])
	e.publish(s, s.tokens)
}

// preempt gives up the pages of a sequence, after its cells have been copied to the host if swap is set.
func (e *engine) preempt(id int, swap bool) {
	s := e.sequences[id]
	if swap {
		s.host = make([]uint64, len(s.tokens))
		for p := range s.host {
			s.host[p] = e.cell(s, p)
		}
	}
	e.release(s)
	if !swap || e.fault != "resume-stale-table" {
		s.table = nil
	}
	s.out = true
}

// resume brings a sequence back: its cells from the host, or computed again.
func (e *engine) resume(id int) {
	s := e.sequences[id]
	s.out = false
	switch {
	case len(s.table) > 0: // the fault: the pages of before, as if nobody had used them since
		for _, at := range s.table {
			e.share(at)
		}
	case s.host != nil:
		for p, cell := range s.host {
			if p%e.size == 0 {
				s.table = append(s.table, e.take())
			}
			e.pages[s.table[p/e.size]].cells[p%e.size] = cell
		}
		e.publish(s, s.tokens)
	case e.fault == "resume-drops-generated":
		from := e.reuse(s)
		for p := from; p < len(s.tokens); p++ {
			if p/e.size == len(s.table) {
				s.table = append(s.table, e.take())
			}
			if p < s.prompt {
				e.write(s, p, s.tokens[p])
			}
		}
	default:
		e.fillFrom(s, e.reuse(s))
	}
	s.host = nil
}

// finish ends a sequence. Its full blocks stay cached until their pages are taken.
func (e *engine) finish(id int) {
	if s := e.sequences[id]; !s.out {
		e.release(s)
	}
	delete(e.sequences, id)
}

// release drops the pages of a sequence, the last first, so that the start of a prompt is cached longest.
func (e *engine) release(s *engineSequence) {
	for _, at := range slices.Backward(s.table) {
		e.drop(at)
	}
}

// move brings page p to place to[p], for all pages at once.
func (e *engine) move(to []int) {
	pages := make([]enginePage, len(e.pages))
	for p, page := range e.pages {
		pages[to[p]] = page
	}
	e.pages = pages
	for i, p := range e.free {
		e.free[i] = to[p]
	}
	if e.fault != "move-keeps-hash" {
		for h, p := range e.cached {
			e.cached[h] = to[p]
		}
	}
	updated := map[int]bool{}
	for _, id := range slices.Sorted(maps.Keys(e.sequences)) {
		s := e.sequences[id]
		if s.out {
			continue
		}
		for i, p := range s.table {
			if e.fault == "move-one-table" && updated[p] {
				continue // the first table that names a page is the only one
			}
			updated[p] = true
			s.table[i] = to[p]
		}
	}
}

// defragment moves the pages in use to the front, in order.
func (e *engine) defragment() {
	to, front, back := make([]int, len(e.pages)), 0, 0
	for _, p := range e.pages {
		if p.users > 0 {
			back++
		}
	}
	for at, p := range e.pages {
		if p.users > 0 {
			to[at] = front
			front++
		} else {
			to[at] = back
			back++
		}
	}
	e.move(to)
}
