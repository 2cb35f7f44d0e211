package engine

import (
	"slices"
	"sync"
	"time"
)

// rank is one data-parallel replica: its KV pool, prefix cache and batch. Whoever holds the lock steps it for all.
type rank struct {
	m       *machine
	mu      *sync.Mutex
	pool    *pool
	cache   prefixCache
	tier    *tier
	batch   *batch
	waiting []*request
	served  int // requests admitted
	steps   int
	busy    float64   // seconds of engine time spent
	until   time.Time // when the last step is over
	debt    time.Duration
	owed    []owedCopy  // copies of evicted pages that are still to be made
	late    []lateWrite // rows on their way into pages that were given up
	deaf    bool        // the token that comes is one of a draft whose end is not looked for

	toks   []int32 // scratch of look
	spans  []span
	score  []float32
	blocks []scored
}

func newRank(m *machine) *rank {
	rk := &rank{m: m, mu: &sync.Mutex{}, pool: newPool(m.p.Pool, m.p.Page, m.p.LIFO), batch: newBatch(m.p.Slots)}
	switch m.p.Cache {
	case "radix":
		rk.cache = newRadixCache(rk.pool, m.cch)
	case "blocks":
		rk.cache = newBlockCache(rk.pool, m.cch)
	default:
		rk.cache = noCache{}
	}
	rk.tier = newTier(m.p.Tier)
	return rk
}

// submit queues a request.
func (rk *rank) submit(req *request) {
	req.m, req.slot = rk.m, -1
	if rk.m.fit.rank != nil {
		req.prompt = rk.m.fit.rank(req.prompt)
	}
	rk.waiting = append(rk.waiting, req)
}

// step does what one forward pass does: admits, prefills up to the chunk budget,
// decodes one step of every request that
// was decoding. It reports whether there was anything to do.
func (rk *rank) step() bool {
	rk.admit()
	rk.reserve()
	if len(rk.batch.reqs) == 0 {
		return len(rk.waiting) > 0
	}
	rk.steps++
	m, b := rk.m, rk.batch
	budget := m.p.Chunk
	left := 0 // prompts that are not done; they share the budget, as concurrent partial prefills do
	for _, req := range b.reqs {
		left += btoi(req.computed < req.goal)
	}
	produce := make([]bool, len(b.reqs))
	for slot, req := range b.reqs {
		if req.computed >= req.goal {
			produce[slot] = true
			continue
		}
		if budget <= 0 {
			continue
		}
		n := m.pre.size((budget+left-1)/left, req.goal-req.computed)
		budget -= n
		left--
		rk.busy += float64(n) * prefillSeconds
		m.prefill(rk, req, req.computed, req.computed+n, b.reqs)
	}
	rk.settleLate()
	dists := make([]dist, len(b.reqs))
	have := make([]bool, len(b.reqs))
	for slot, req := range b.reqs {
		switch {
		case produce[slot]:
			m.bat.sync(b, slot)
			rk.feed(req, b.last[slot])
		case req.computed < req.goal:
			continue
		}
		if req.err == nil {
			dists[slot], have[slot] = rk.next(req, produce[slot]), true
		}
	}
	for _, at := range m.bat.pad(len(b.reqs)) {
		rk.pool.put(at, row{0, 0, 0})
	}
	rk.busy += decodeSeconds
	for slot, req := range slices.Clone(b.reqs) {
		if !have[slot] {
			continue
		}
		d := dists[slot]
		if k := m.bat.row(slot, len(b.reqs)); k != slot && k < len(dists) && have[k] && b.reqs[k].raw == req.raw {
			d = dists[k]
		}
		if produce[slot] && m.p.Draft > 0 {
			rk.speculate(req, d)
		} else {
			rk.emit(req, d)
		}
	}
	for slot, req := range b.reqs {
		if k := m.bat.ended(b, slot); k != slot && k < len(b.reqs) && b.reqs[k].done && !req.done && len(req.gen) > 0 {
			req.finish, req.done = "stop", true
		}
	}
	for _, req := range b.reqs {
		if m.bat.deadline > 0 && !req.done && rk.busy-req.began > m.bat.deadline {
			req.finish, req.done = "stop", true
		}
	}
	for slot, req := range slices.Backward(slices.Clone(b.reqs)) {
		if req.done || req.err != nil {
			rk.release(req)
			b.remove(m, slot)
		}
	}
	return true
}

// prefillSeconds and decodeSeconds are a mid-size model on one accelerator: 50 us a prompt token, 5 ms a step.
const (
	prefillSeconds = 50e-6
	decodeSeconds  = 5e-3
)

// admit moves waiting requests into the batch while slots and pages last.
func (rk *rank) admit() {
	for len(rk.waiting) > 0 && len(rk.batch.reqs) < rk.m.p.Slots {
		req := rk.waiting[0]
		if !rk.allocate(req) {
			if len(rk.batch.reqs) == 0 {
				rk.waiting = rk.waiting[1:]
				req.err, req.done = errFull, true
				continue
			}
			return
		}
		rk.waiting = rk.waiting[1:]
		req.arrived, req.nonce, req.began = rk.served, uint64(rk.served)*0x9e37+1, rk.busy
		rk.served++
		rk.batch.put(rk.m, req, req.arrived)
	}
}

// allocate finds what the cache has of a request and pages for the rest.
func (rk *rank) allocate(req *request) bool {
	m, size := rk.m, rk.m.p.Page
	req.goal = req.total()
	all := req.prompt
	if len(req.gen) > 0 {
		all = append(slices.Clone(req.prompt), req.gen...)
	}
	known := rk.cache.match(all, req.key(m))
	hit := m.cch.usable(len(known)*size, len(all), size)
	if req.score {
		hit = 0 // the log-probabilities of the prompt need its forward pass
	}
	pages := min(len(known), hit/size)
	known = known[:pages]
	for _, p := range known {
		m.pg.share(rk.pool, p)
	}
	req.table = append(req.table[:0:0], known...)
	req.restored = 0
	need := (req.goal+size)/size + 1 - len(known)
	if !rk.room(need) {
		rk.giveUp(req)
		return false
	}
	if len(known)*size == hit {
		rk.restore(req, all, hit)
	}
	for len(req.table)*size < req.goal+1 {
		page, err := rk.page()
		if err != nil {
			rk.giveUp(req)
			return false
		}
		req.table = append(req.table, page)
	}
	if req.restored > 0 {
		hit = len(known)*size + req.restored
	}
	req.hit = hit
	req.computed = min(m.bat.resume(req, m.cch.resume(hit, size)), req.goal-1)
	req.chunk = req.computed
	if m.cch.early {
		rk.cache.insert(all, req.key(m), req.table)
	}
	return true
}

func (rk *rank) giveUp(req *request) {
	for _, p := range req.table {
		rk.m.pg.release(rk.pool, p)
	}
	req.table = nil
}

// room makes n pages free, from the cache and then by preempting the youngest request.
func (rk *rank) room(n int) bool {
	if len(rk.pool.free) >= n || rk.m.pg.null {
		return true
	}
	return rk.cache.evict(n, func(chain uint64, page int32) {
		if rk.m.cch.late {
			rk.owed = append(rk.owed, owedCopy{chain, page})
			return
		}
		rk.tier.put(rk.pool, chain, page)
	})
}

// reserve preempts until every running request can take its next step.
func (rk *rank) reserve() {
	b := rk.batch
	need := len(b.reqs) * ((rk.m.p.Draft+1)/rk.m.p.Page + 1)
	for len(b.reqs) > 1 && !rk.room(need) && rk.preempt(nil) {
		need = len(b.reqs) * ((rk.m.p.Draft+1)/rk.m.p.Page + 1)
	}
	if !rk.m.tight || len(b.reqs) < 2 {
		return
	}
	// A tight pool: the youngest that has said something makes room once.
	for _, r := range b.reqs[1:] {
		if len(r.gen) >= 2 && !r.preempted && !r.done {
			rk.preempt(b.reqs[0])
			return
		}
	}
}

// preempt sends the youngest other request back to the queue; it will be computed again.
func (rk *rank) preempt(but *request) bool {
	var victim *request
	for _, r := range rk.batch.reqs {
		if r != but && !r.done && (victim == nil || r.arrived > victim.arrived) {
			victim = r
		}
	}
	if victim == nil {
		return false
	}
	if n := rk.m.bat.keep(victim); n < len(victim.gen) {
		victim.gen, victim.mind = victim.gen[:n], mind{}
	}
	victim.mind.seen, victim.preempted = false, true
	rk.giveUp(victim)
	victim.computed = 0
	rk.batch.remove(rk.m, victim.slot)
	rk.waiting = append([]*request{victim}, rk.waiting...)
	return true
}

// feed writes the row of the newest token.
func (rk *rank) feed(req *request, tok int32) {
	m := rk.m
	for req.computed >= len(req.table)*m.p.Page {
		if !rk.room(1) {
			req.err, req.done = errFull, true
			return
		}
		page, err := rk.page()
		if err != nil {
			req.err, req.done = err, true
			return
		}
		req.table = append(req.table, page)
		m.bat.sync(rk.batch, req.slot)
	}
	i := req.computed
	at := m.dec.place(m, req, i)
	key := m.sp.store(req, i, false)
	rk.pool.put(at, m.pg.store(rk.pool, at, row{tok: tok, pos: int32(m.dec.angle(req, i)), key: key}))
	req.computed++
}

// release gives a request's pages to the cache and drops its holds.
func (rk *rank) release(req *request) {
	m := rk.m
	all := append(slices.Clone(req.prompt), req.gen...)
	n := min(m.cch.computed(len(all)), len(all))
	if req.err == nil && req.computed >= len(req.prompt) {
		rk.cache.insert(all[:n], req.key(m), req.table)
	}
	rk.giveUp(req)
}

// key is what the cache compares beside the tokens.
func (r *request) key(m *machine) cacheKey {
	return cacheKey{salt: r.salt, images: r.images, seed: uint64(m.p.Hash)}
}
