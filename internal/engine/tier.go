package engine

import "slices"

// tier is host memory behind the device cache: evicted pages by the hash of their chain, oldest dropped first.
type tier struct {
	most  int
	pages map[uint64][]row
	order []uint64
}

func newTier(most int) *tier { return &tier{most: most, pages: map[uint64][]row{}} }

// put copies a page that the device evicts.
func (t *tier) put(pl *pool, chain uint64, page int32) {
	if t.most == 0 || chain == 0 {
		return
	}
	if _, ok := t.pages[chain]; !ok {
		t.order = append(t.order, chain)
	}
	t.pages[chain] = slices.Clone(pl.rows[int(page)*pl.size : (int(page)+1)*pl.size])
	for len(t.order) > t.most {
		delete(t.pages, t.order[0])
		t.order = t.order[1:]
	}
}

// restore brings pages that follow the device's hit back from the host into fresh pages of the request.
func (rk *rank) restore(req *request, all []int32, hit int) {
	m, size := rk.m, rk.m.p.Page
	if rk.tier.most == 0 || size == 1 || req.score {
		return
	}
	hashes := chain(m.cch, req.key(m).root(m.cch), all, size)
	from := hit / size
	var found [][]row
	for k := from; k < len(hashes) && (k+1)*size < len(all); k++ {
		rows, ok := rk.tier.pages[hashes[k]]
		if !ok {
			break
		}
		found = append(found, rows)
	}
	for k := range found {
		page, err := rk.pool.take()
		if err != nil {
			return
		}
		req.table = append(req.table, page)
		rows := found[min(len(found)-1, max(0, m.cch.restore(k, len(found))))]
		for i, r := range rows {
			if m.cch.copied != nil && !m.cch.copied(i, size) {
				continue
			}
			at := int(page)*size + i
			r.pos = int32(m.cch.angle(int(r.pos), from*size))
			if k := m.sp.store(req, (from+k)*size+i, true); k < 0 {
				r.key = -1
			}
			rk.pool.put(at, r)
		}
		req.restored += size
	}
}
