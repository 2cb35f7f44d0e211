package engine

import (
	"math/bits"
	"sort"
)

// view is what the reader gets of a prompt: its text with a zero byte for every token that it cannot see.
type view struct {
	text   []byte
	offs   []int32 // offset of every token in text, and the end
	hidden int
	hash   uint64
	tail   []int32 // the generated tokens as they stand in memory, -1 hidden
	sig    uint64
}

// token returns the token that holds a byte of the text.
func (v *view) token(off int) int {
	return sort.Search(len(v.offs), func(i int) bool { return int(v.offs[i]) > off }) - 1
}

func mix(h, x uint64) uint64 {
	hi, lo := bits.Mul64(h^x^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	return hi ^ lo
}

func hashBytes(b []byte) uint64 {
	h := uint64(len(b)) + 1
	for len(b) >= 8 {
		x := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 | uint64(b[4])<<32 | uint64(b[5])<<40 |
			uint64(b[6])<<48 | uint64(b[7])<<56
		h, b = mix(h, x), b[8:]
	}
	for _, c := range b {
		h = mix(h, uint64(c))
	}
	return h
}

func hashString(s string) uint64 {
	h := uint64(len(s)) + 7
	for i := range len(s) {
		h = mix(h, uint64(s[i]))
	}
	return h
}

// unit maps a hash to [0, 1).
func unit(h uint64) float64 { return float64(mix(h, 0x5bd1)>>11) / (1 << 53) }

// spansOf returns what a query sees, in rising positions.
func (m *machine) spansOf(rk *rank, q query) []span {
	out := m.att.spans(q, rk.spans[:0])
	if m.p.Sparse {
		chosen := m.choose(rk, q, nil)
		if len(out) == 1 && out[0] == (span{0, q.n}) {
			out = chosen
		} else {
			out = meet(out, chosen)
		}
	}
	rk.spans = out
	return out
}

// meet is the intersection of two lists of spans.
func meet(a, b []span) []span {
	var out []span
	for i, j := 0, 0; i < len(a) && j < len(b); {
		lo, hi := max(a[i].lo, b[j].lo), min(a[i].hi, b[j].hi)
		if lo < hi {
			out = append(out, span{lo, hi})
		}
		if a[i].hi < b[j].hi {
			i++
		} else {
			j++
		}
	}
	return out
}

// signature changes whenever what a query sees can have changed.
func (m *machine) signature(rk *rank, q query, spans []span) uint64 {
	h := mix(uint64(q.prompt), uint64(len(q.table)))
	for _, s := range spans {
		if s.lo < q.prompt {
			h = mix(h, uint64(s.lo)<<32|uint64(min(s.hi, q.prompt)))
		}
	}
	return mix(h, m.versions(rk, q))
}

// versions changes with every write to the full pages of a prompt.
func (m *machine) versions(rk *rank, q query) uint64 {
	var sum uint64
	full := min(q.prompt/m.p.Page, len(q.table))
	for _, page := range q.table[:full] {
		if int(page) < len(rk.pool.ver) {
			sum += uint64(rk.pool.ver[page])*0x9e37 + uint64(page)
		}
	}
	return sum
}

const (
	hole  = -1
	clash = -2
)

// look reads the memory of a request into its view and reports whether the prompt looks different from the last time.
func (m *machine) look(rk *rank, q query) (v *view, changed bool) {
	req := q.request
	q.n = min(m.pg.extent(q.n, m.p.Page), len(q.table)*m.p.Page)
	spans := m.spansOf(rk, q)
	v = &req.mind.view
	sig := m.signature(rk, q, spans)
	fresh := req.mind.seen && sig == v.sig && q.n >= q.prompt
	from := 0
	if fresh { // only the generated tokens are read again
		from = q.prompt
	}
	n := max(q.n, q.prompt)
	toks := rk.toks[:0]
	for range n - from {
		toks = append(toks, hole)
	}
	rk.toks = toks
	rows := rk.pool.rows
	for _, s := range spans {
		for i := max(s.lo, from); i < s.hi; i++ {
			at := m.pg.read(q.table, i, m.p.Page)
			if at < 0 || at >= len(rows) {
				continue
			}
			r := rows[at]
			if m.att.value != nil {
				r.tok = m.att.value(q, i, at, r.tok)
			}
			pos, ok := m.att.angle(q, r.pos)
			k := int(pos) - from
			if !ok || k < 0 || k >= len(toks) {
				continue
			}
			switch toks[k] {
			case hole:
				toks[k] = r.tok
			case r.tok:
			default:
				toks[k] = clash // two rows at one angle cannot be told apart
			}
		}
	}
	if fresh {
		v.tail = append(v.tail[:0], toks...)
		return v, false
	}
	v.text, v.offs, v.hidden = v.text[:0], v.offs[:0], 0
	view := m.lex.view
	for _, t := range toks[:q.prompt] {
		v.offs = append(v.offs, int32(len(v.text)))
		if t < 0 || int(t) >= len(view) {
			v.hidden++
			v.text = append(v.text, 0)
			continue
		}
		v.text = append(v.text, view[t]...)
	}
	v.offs = append(v.offs, int32(len(v.text)))
	v.tail = append(v.tail[:0], toks[q.prompt:]...)
	hash := hashBytes(v.text)
	changed = !req.mind.seen || hash != v.hash
	v.hash, v.sig, req.mind.seen = hash, sig, true
	return v, changed
}
