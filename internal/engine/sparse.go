package engine

import (
	"cmp"
	"slices"
)

// sparseOps are the decisions of the sparse selection that a bug can get wrong. Keys are pooled over a block of ratio
// tokens, an indexer scores every block against the query, the best are attended beside a local window.
type sparseOps struct {
	budget func(topk, ratio int) int                      // blocks to keep
	better func(a, b scored) int                          // order of blocks, best first
	tokens func(block, ratio, n int) span                 // tokens of a selected block
	score  func(q query, block int, s float32) float32    // what the indexer returns
	store  func(req *request, i int, restored bool) int32 // index key beside a row: the token, or nothing
	blocks func(n int) int                                // blocks that are scored, of n
	kept   func(req *request, fresh []int) []int          // the selection that is used
}

type scored struct {
	block int
	score float32
}

func soundSparse() sparseOps {
	return sparseOps{
		budget: func(topk, _ int) int { return topk },
		better: func(a, b scored) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.block, a.block)) },
		tokens: func(block, ratio, n int) span { return span{block * ratio, min(n, (block+1)*ratio)} },
		score:  func(_ query, _ int, s float32) float32 { return s },
		store:  func(req *request, i int, _ bool) int32 { return req.token(i) },
		blocks: func(n int) int { return n },
		kept:   func(_ *request, fresh []int) []int { return fresh },
	}
}

// selectBlocks scores every block before far and returns the best, in order.
func (m *machine) selectBlocks(rk *rank, q query, blocks, far int, out []int) []int {
	p := m.p
	want := m.interest(q)
	raw := rk.score[:0]
	for b := range blocks {
		var s float32
		for i := b * p.Ratio; i < min(far, (b+1)*p.Ratio); i++ {
			at := m.pg.read(q.table, i, p.Page)
			if at < 0 || at >= len(rk.pool.rows) {
				continue
			}
			if k := rk.pool.rows[at].key; k >= 0 && int(k) < len(want) {
				s += want[k]
			}
		}
		raw = append(raw, s)
	}
	rk.score = raw
	around := max(1, reach/p.Ratio)
	list := rk.blocks[:0]
	var sum float32 // of raw over the window of blocks around b
	for b := range min(around, blocks) {
		sum += raw[b]
	}
	for b := range blocks {
		if b+around < blocks {
			sum += raw[b+around]
		}
		if b-around-1 >= 0 {
			sum -= raw[b-around-1]
		}
		list = append(list, scored{b, m.sp.score(q, b, raw[b]+sum/2)})
	}
	rk.blocks = list
	keep := min(m.sp.budget(p.TopK, p.Ratio), len(list))
	if keep < len(list) {
		slices.SortFunc(list, m.sp.better)
	}
	for _, s := range list[:max(0, keep)] {
		out = append(out, s.block)
	}
	slices.Sort(out)
	return out
}

// reach is how far, in tokens,
// a compressed key tells of its neighbours: what a token says depends on those before it.
const reach = 24

// sinks is how many first tokens every query attends.
const sinks = 4

// choose returns what a sparse model attends: the first tokens, the selected blocks, the local window.
func (m *machine) choose(rk *rank, q query, out []span) []span {
	p := m.p
	far := q.n - p.Local
	if far <= sinks+p.Ratio {
		return append(out, span{0, q.n})
	}
	blocks := m.sp.blocks((far + p.Ratio - 1) / p.Ratio)
	req := q.request
	if key := m.versions(rk, q)*31 + uint64(blocks); req.chosenFor != key || req.chosen == nil {
		req.chosen, req.chosenFor = m.sp.kept(req, m.selectBlocks(rk, q, blocks, far, req.chosen[:0])), key
	}
	out = append(out, span{0, sinks})
	for _, b := range req.chosen {
		t := m.sp.tokens(b, p.Ratio, q.n)
		t.lo, t.hi = max(t.lo, sinks), min(t.hi, far)
		if t.lo >= t.hi {
			continue
		}
		if last := &out[len(out)-1]; last.hi >= t.lo {
			last.hi = max(last.hi, t.hi)
		} else {
			out = append(out, t)
		}
	}
	if last := &out[len(out)-1]; last.hi >= far {
		last.hi = q.n
		return out
	}
	return append(out, span{far, q.n})
}

// questionTokens is how much of the end of the prompt the indexer's queries are taken from.
const questionTokens = 64

// interest weighs token ids by how much the end of the prompt asks for them; what is rare in the prompt weighs more,
// and
// names that the model knows to belong together call each other up.
func (m *machine) interest(q query) []float32 {
	req := q.request
	if req.want != nil {
		return req.want
	}
	req.want = make([]float32, m.lex.size)
	add := func(ids []int32, own float32) {
		for _, id := range ids {
			if id < m.lex.base {
				req.want[id] = own
			}
		}
	}
	end := req.prompt[max(0, len(req.prompt)-questionTokens):]
	add(end, 1)
	for _, kin := range kinOf(m.lex, end) {
		add(m.tok.encode(" "+kin), 1)
	}
	count := make([]int32, m.lex.size)
	for _, id := range req.prompt {
		if int(id) < len(count) && id >= 0 {
			count[id]++
		}
	}
	for id, w := range req.want {
		if w > 0 {
			req.want[id] = min(1, 3/float32(count[id]+1))
			if t := m.lex.text[id]; len(t) <= 1 || stopWords[lowerTrim(t)] {
				req.want[id] = 0.01
			}
		}
	}
	return req.want
}
