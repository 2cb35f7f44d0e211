package engine

// owedCopy is a copy of an evicted page into host memory that has not been made.
type owedCopy struct {
	chain uint64
	page  int32
}

// lateWrite is rows that a transfer still writes into pages of a request that is gone.
type lateWrite struct {
	due   int // step
	pages []int32
	rows  []row
}

// settleLate makes the copies that are owed and the late writes that are due. A sound rank has neither: it copies
// a page before it gives it away, and gives none away that somebody still writes.
func (rk *rank) settleLate() {
	for _, o := range rk.owed {
		rk.tier.put(rk.pool, o.chain, o.page)
	}
	rk.owed = rk.owed[:0]
	keep := rk.late[:0]
	for _, w := range rk.late {
		if w.due > rk.steps {
			keep = append(keep, w)
			continue
		}
		for k, page := range w.pages {
			for i, r := range w.rows[k*rk.pool.size : (k+1)*rk.pool.size] {
				if r.tok >= 0 {
					rk.pool.put(int(page)*rk.pool.size+i, r)
				}
			}
		}
	}
	rk.late = keep
}

// leave remembers the pages of an aborted request that its transfer goes on to write.
func (rk *rank) leave(req *request) {
	w := lateWrite{due: rk.steps + 1}
	for _, page := range req.table[req.hit/rk.pool.size:] {
		w.pages = append(w.pages, page)
		w.rows = append(w.rows, rk.pool.rows[int(page)*rk.pool.size:(int(page)+1)*rk.pool.size]...)
	}
	rk.late = append(rk.late, w)
}

// page takes a free page.
func (rk *rank) page() (int32, error) {
	p, err := rk.pool.take()
	if err != nil && rk.m.pg.null {
		rk.pool.ref[0]++
		return 0, nil
	}
	return p, err
}
