package precision

import (
	"context"
	"fmt"

	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/oracle"
)

const (
	// seededKeys is how many index keys are drawn for a selection: enough for top-k 512 and 1024 to choose.
	seededKeys = 2048
	// askers is how many queries are asked in one layer, the last ones.
	askers = 16
	// outputRows bounds the rows of an index projection whose products are emulated, evenly spaced: wq_b has 8,192.
	outputRows = 512
	// largeSelection is the multiplications of one exact set of keys above which selections are measured in the first, a
	// middle and the last indexer only.
	largeSelection = 1 << 31
)

// indexJobs has a step for every indexer.
func (m *meter) indexJobs(prefixes []string) []job {
	var out []job
	for i, prefix := range prefixes {
		work := m.keyWork(prefix)
		selects := true
		if work > largeSelection && len(m.states.passes) == 0 {
			selects = i == 0 || i == len(prefixes)/2 || i == len(prefixes)-1
		}
		if !selects && i == 1 {
			m.note("selections are measured in the first, a middle and the last of %d indexers; the others' projections by "+
				"their products alone", len(prefixes))
		}
		var cost float64
		for _, tail := range indexNames {
			if rows, cols, ok := m.shape(prefix + tail); ok {
				cost += emulated * float64(min(rows, outputRows)*cols*m.o.Tokens)
			}
		}
		if selects {
			cost += 7 * work * summed // both projections exactly, and each on six paths
		}
		out = append(out, job{prefix + "*", cost, func(context.Context) ([]Row, error) { return m.indexer(prefix, selects) }})
	}
	return out
}

// keyWork is the multiplications that one set of drawn keys takes.
func (m *meter) keyWork(prefix string) float64 {
	rows, cols, _ := m.shape(prefix + "compressor.wkv.weight")
	ratio, _, _ := m.shape(prefix + "compressor.ape")
	if rows == 0 {
		rows, cols, _ = m.shape(prefix + "wk.weight")
		ratio = 1
	}
	return 2 * float64(rows) * float64(cols) * float64(ratio) * float64(m.keyCount())
}

func (m *meter) keyCount() int {
	if m.o.Keys > 0 {
		return m.o.Keys
	}
	return max(seededKeys, 2*m.set.indexTopK)
}

// indexer measures one layer's projections, and its selection by rounded projections and keys.
func (m *meter) indexer(prefix string, selects bool) ([]Row, error) {
	l, err := m.readIndexer(prefix, m.set)
	if err != nil {
		return nil, err
	}
	var asked, whole *question
	var h site
	if selects {
		if asked, whole, h, err = m.ask(l); err != nil {
			return nil, err
		}
	}
	var rows []Row
	for _, tail := range indexNames {
		canon := prefix + tail
		if !m.has(canon) {
			continue
		}
		w := l.weight(tail)
		name := module(canon, "input_layernorm.out")
		if tail == "wq_b.weight" {
			name = module(canon, "self_attn.q_a_norm.out")
		}
		x, _ := m.enters(canon, name, w.Cols, m.o.Tokens).sample(m.o.Tokens)
		more, err := m.products(canon, Index, x, every(w, outputRows), func(p Path, _ product, r *Row) error {
			if !selects {
				return nil
			}
			u := asked
			if tail != "wq_b.weight" && tail != "weights_proj.weight" {
				u = whole
			}
			if u == nil {
				r.Note = "the captured states lack the positions that the keys are made of, so no selection"
				return nil
			}
			return u.under(p, tail, h, r)
		})
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	if asked != nil {
		more, err := asked.keyRows()
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// every takes at most n evenly spaced rows.
func every(w oracle.Mat, n int) oracle.Mat {
	if w.Rows <= n {
		return w
	}
	out := oracle.NewMat(0, w.Cols)
	for i := range n {
		out = out.Append(w.Slice(i*w.Rows/n, i*w.Rows/n+1))
	}
	return out
}

// ask sets up the layer's selections: asked has the most keys, whole has the states that its keys are made of in h.
// Both may be one, and whole is nil where no such pass was captured.
func (m *meter) ask(l *indexLayer) (asked, whole *question, h site, err error) {
	name := module(l.prefix, "input_layernorm.out")
	if len(m.states.passes) == 0 || m.states.at(name, l.proj.Cols, 0).n == 0 {
		n := m.keyCount() * l.ratio
		h = m.states.at(name, l.proj.Cols, n)
		whole, err = l.questionOf(h, m.states.at(module(l.prefix, "self_attn.q_a_norm.out"), l.wqB.Cols, n), n,
			m.set.indexTopK)
		return whole, whole, h, err
	}
	for i := range m.states.passes {
		one := &States{Source: m.states.Source, seed: m.states.seed, passes: m.states.passes[i : i+1]}
		p := &one.passes[0]
		at, qr := one.at(name, l.proj.Cols, 0), one.at(module(l.prefix, "self_attn.q_a_norm.out"), l.wqB.Cols, 0)
		if at.n == 0 || at.n != qr.n {
			continue
		}
		var u *question
		if p.kept == p.length {
			if u, err = l.questionOf(at, qr, p.length, m.set.indexTopK); err != nil {
				return nil, nil, h, err
			}
			if whole == nil || u.k.Rows > whole.k.Rows {
				whole, h = u, at
			}
		} else if u, err = l.recorded(p, at, qr, m.set.indexTopK); err != nil {
			return nil, nil, h, err
		}
		if u != nil && (asked == nil || u.k.Rows > asked.k.Rows) {
			asked = u
		}
	}
	if asked == nil {
		return nil, nil, h, fmt.Errorf("%s: no captured pass has both input_layernorm.out and self_attn.q_a_norm.out of "+
			"this layer's widths", l.prefix)
	}
	return asked, whole, h, nil
}

// questionOf makes queries and keys of n tokens.
func (l *indexLayer) questionOf(h, qr site, n, own int) (*question, error) {
	k, err := l.keys(h, n/l.ratio*l.ratio, nil, nil)
	if err != nil {
		return nil, err
	}
	return l.questionWith(h, qr, k, own)
}

// recorded takes the keys that a pass recorded, nil if it did not.
func (l *indexLayer) recorded(p *pass, h, qr site, own int) (*question, error) {
	k := p.mat(module(l.prefix, "self_attn.compressor.indexer.scorer.in.1"), 0)
	if k.Rows == 0 || k.Cols != l.dim {
		return nil, nil
	}
	return l.questionWith(h, qr, k, own)
}

func (l *indexLayer) questionWith(h, qr site, k oracle.Mat, own int) (*question, error) {
	from := max(0, h.n-askers)
	at, visible := make([]int, h.n-from), make([]int, h.n-from)
	for i := range at {
		at[i] = h.first + from + i
		visible[i] = min(oracle.Visible(at[i], l.ratio), k.Rows)
	}
	x, r := h.rows(from, h.n), qr.rows(from, h.n)
	q, w, err := l.queries(r, x, at, exactly, exactly)
	if err != nil {
		return nil, err
	}
	u := newQuestion(l, q, w, k, visible, topKs(own, visible[len(visible)-1]))
	u.h, u.qr, u.at = x, r, at
	if h.captured {
		u.attend(h.pass, from)
	}
	return u, nil
}

// attend takes needle and attention mass from a recorded pass, whose kept row from is the first query.
func (u *question) attend(p *pass, from int) {
	last := u.q.Rows - 1
	if needle := p.needle / u.l.ratio; p.needle >= 0 && needle < u.visible[last] {
		u.prompt = true
		u.needle = func(t int) int {
			if t == last { // the one that is about to answer
				return needle
			}
			return -1
		}
	}
	weights := p.mat(module(u.l.prefix, "self_attn.out.1"), 0)
	window := weights.Cols - u.k.Rows
	if weights.Rows == 0 || weights.Rows%p.kept != 0 || window < 0 {
		return
	}
	heads := weights.Rows / p.kept
	u.mass = func(t, s int) float64 {
		var sum float64
		for h := range heads {
			sum += weights.Row(h*p.kept + from + t)[window+s]
		}
		return sum / float64(heads)
	}
}

// under scores with one projection on a path and the others exact. h is where whole's keys come from.
func (u *question) under(p Path, tail string, h site, r *Row) error {
	l, k := u.l, u.k
	qb, proj := exactly, exactly
	var kv, gate linear
	switch tail {
	case "wq_b.weight":
		qb = p.quick
	case "weights_proj.weight":
		proj = p.quick
	case "compressor.wgate.weight":
		gate = p.quick
	default:
		kv = p.quick
	}
	if kv != nil || gate != nil {
		var err error
		if k, err = l.keys(h, k.Rows*l.ratio, kv, gate); err != nil {
			return err
		}
		r.Numbers["rel-l2-keys"] = numerics.RelL2(k.Data, u.k.Data)
	}
	q, w, err := l.queries(u.qr, u.h, u.at, qb, proj)
	if err != nil {
		return err
	}
	r.Note = u.note()
	return u.compare(oracle.IndexerLogits(q, k, w, u.visible), r.Numbers)
}
