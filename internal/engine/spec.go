package engine

// specOps are the decisions of speculative decoding that a bug can get wrong.
type specOps struct {
	right  func(j, k int, draft, target int32) bool // whether draft token j of k is accepted
	bonus  int                                      // times that the token behind an accepted draft is appended
	rewind bool                                     // rows of rejected drafts are given back
	greedy bool                                     // verification takes the best token at any temperature
	last   func(first, last dist) dist              // row of the logits that the bonus token comes from
	deaf   bool                                     // an end inside of a draft is not looked for
}

func soundSpec() specOps {
	return specOps{
		right: func(_, _ int, draft, target int32) bool { return draft == target }, bonus: 1, rewind: true,
		last: func(_, last dist) dist { return last },
	}
}

// speculate verifies draft tokens against the target: what is accepted is what plain decoding would have said.
func (rk *rank) speculate(req *request, d dist) {
	m := rk.m
	k, first := m.p.Draft, d
	for j := range k {
		target := m.sample(rk, req, d)
		if m.spc.greedy {
			target.tok = d.best
		}
		draft := m.draft(req, target.tok)
		if !m.spc.right(j, k, draft, target.tok) {
			rk.feed(req, draft)
			if m.spc.rewind {
				req.computed--
			}
			rk.accept(req, target)
			return
		}
		if draft != target.tok {
			target.tok = draft
		}
		rk.deaf = m.spc.deaf
		rk.accept(req, target)
		rk.deaf = false
		if req.done {
			return
		}
		rk.feed(req, target.tok)
		if req.err != nil {
			return
		}
		d = rk.next(req, true)
	}
	d = m.spc.last(first, d)
	e := m.sample(rk, req, d)
	if m.spc.greedy {
		e.tok = d.best
	}
	for range m.spc.bonus {
		rk.accept(req, e)
	}
}

// draft is what the small model proposes: the right token in a drawn share of places.
func (m *machine) draft(req *request, target int32) int32 {
	h := mix(uint64(target)<<20|uint64(len(req.gen)), req.mind.view.hash)
	if unit(h) < m.p.DraftHit {
		return target
	}
	return m.lookalike(target, h)
}
