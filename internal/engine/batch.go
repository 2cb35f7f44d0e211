package engine

// batch is the state of running requests by slot,
// as a runner keeps it in arrays: what a slot holds must be set when a
// request enters and moved when one leaves.
type batch struct {
	reqs   []*request
	tables [][]int32
	temps  []float64
	shares []float64 // top_p
	last   []int32   // token to feed next
}

// batchOps are the decisions of the batch that a bug can get wrong.
type batchOps struct {
	enter func(b *batch, slot int, served int) // a request was put into a slot
	sync  func(b *batch, slot int)             // its page table has grown
	move  func(b *batch, dst, src int)         // a slot is filled from another
	row   func(slot, size int) int             // row of the logits that belongs to a slot
	ended func(b *batch, slot int) int         // slot whose end ends this one
	pad   func(size int) []int                 // extra rows that the padded batch writes, as row addresses
	keep  func(req *request) int               // generated tokens that survive a preemption

	resume   func(req *request, at int) int // first token to compute when a request enters
	base     func(slot int) bool            // a slot whose adapter is not applied; nil: none
	deadline float64                        // seconds after which an answer ends as if it were over; 0: never
	resend   func(req *request) int         // tokens of a first attempt that were sent before the second; nil: none
	writer   bool                           // pages of an aborted request are given away while they are written
}

func soundBatch() batchOps {
	return batchOps{
		enter: func(b *batch, slot, _ int) { b.load(slot) },
		sync:  func(b *batch, slot int) { b.tables[slot] = b.reqs[slot].table },
		move: func(b *batch, dst, src int) {
			b.reqs[dst], b.tables[dst], b.temps[dst] = b.reqs[src], b.tables[src], b.temps[src]
			b.shares[dst], b.last[dst] = b.shares[src], b.last[src]
		},
		row:   func(slot, _ int) int { return slot },
		ended: func(_ *batch, slot int) int { return slot },
		pad:   func(int) []int { return nil },
		keep:  func(req *request) int { return len(req.gen) },

		resume: func(_ *request, at int) int { return at },
	}
}

// load sets everything that a slot holds of its request.
func (b *batch) load(slot int) {
	r := b.reqs[slot]
	b.tables[slot], b.temps[slot], b.shares[slot] = r.table, r.temp, r.topP
}

func newBatch(slots int) *batch {
	return &batch{
		tables: make([][]int32, slots), temps: make([]float64, slots), shares: make([]float64, slots),
		last: make([]int32, slots),
	}
}

// put takes a request into the next slot.
func (b *batch) put(m *machine, req *request, served int) {
	req.slot = len(b.reqs)
	b.reqs = append(b.reqs, req)
	m.bat.enter(b, req.slot, served)
}

// remove frees a slot and fills it from the last one.
func (b *batch) remove(m *machine, slot int) {
	b.reqs[slot].slot = -1
	last := len(b.reqs) - 1
	if slot != last {
		m.bat.move(b, slot, last)
		b.reqs[slot].slot = slot
	}
	b.reqs = b.reqs[:last]
}
