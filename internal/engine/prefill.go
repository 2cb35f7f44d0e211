package engine

// piece is one prefill chunk of one request: token i of [from, to) comes from the ids of source at i+shift and is
// written at position i+turn into place i.
type piece struct {
	from, to int
	shift    int
	turn     int
	source   *request
}

// prefillOps are the decisions of chunked prefill that a bug can get wrong.
type prefillOps struct {
	plan func(req *request, lo, hi int, mates []*request) piece
	size func(budget, left int) int // tokens to take in this step
}

func soundPrefill() prefillOps {
	return prefillOps{
		plan: func(req *request, lo, hi int, _ []*request) piece { return piece{from: lo, to: hi, source: req} },
		size: func(budget, left int) int { return min(budget, left) },
	}
}

// prefill writes the rows of [lo, hi) of a request's tokens.
func (m *machine) prefill(rk *rank, req *request, lo, hi int, mates []*request) {
	req.chunk = lo
	pc := m.pre.plan(req, lo, hi, mates)
	pl := rk.pool
	for i := pc.from; i < pc.to; i++ {
		tok := pc.source.token(i + pc.shift)
		at := m.pg.write(req.table, i, m.p.Page)
		if at < 0 || at >= len(pl.rows) {
			continue
		}
		pl.rows[at] = m.pg.store(pl, at, row{tok: tok, pos: int32(i + pc.turn), key: m.sp.store(req, i, false)})
	}
	for k := lo / m.p.Page; k <= (hi-1)/m.p.Page && k < len(req.table); k++ {
		pl.ver[req.table[k]]++
	}
	req.computed = hi
}
