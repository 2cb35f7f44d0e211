package checkpoint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/assay-suite/assay/numerics/format"
)

// unroutedBias is a selection bias that no score makes up for: scores are sigmoids or logits of a few units.
const unroutedBias = -1e3

// unrouted tells why no token ever reaches an expert, "" where tokens may: its row of the router is zero, its selection
// bias rules it out, or its layer is routed by a table that does not name it. Such an expert may well hold nothing.
func (p *patient) unrouted(t *tensor, expert int) string {
	head, _, ok := strings.Cut(t.canon, ".ffn.experts.")
	if !ok || expert < 0 {
		return ""
	}
	at := head + ".ffn.gate."
	if table := p.byCanon[at+"tid2eid"]; table != nil {
		ids, err := table.file.Int64s(table.stored)
		if err == nil && !slices.Contains(ids, int64(expert)) {
			return table.stored + " never names it"
		}
		return ""
	}
	if bias := p.byCanon[at+"bias"]; bias != nil && len(bias.info.Shape) == 1 && expert < bias.info.Shape[0] {
		if v := bias.values(); v != nil && v[expert] < unroutedBias {
			return fmt.Sprintf("%s is %g for it", bias.stored, v[expert])
		}
	}
	router, ok := p.weightIn(p.byCanon[at+"weight"])
	if !ok || expert >= router.rows {
		return ""
	}
	row, err := router.w.Read(expert, expert+1)
	if err != nil || slices.ContainsFunc(row, func(v float64) bool { return v != 0 }) {
		return ""
	}
	return "its row of " + router.t.stored + " is zero"
}

// emptyExperts tells whether the experts of a router's zero rows hold nothing either.
func (p *patient) emptyExperts(t *tensor, runs []hole) bool {
	head, ok := strings.CutSuffix(t.canon, "gate.weight")
	if !ok {
		return false
	}
	row := t.rowBytes()
	for _, h := range runs {
		for e := h.from / row; e < h.to/row; e++ {
			w1 := p.byCanon[fmt.Sprintf("%sexperts.%d.w1.weight", head, e)]
			if w1 == nil || w1.scan.nonzero {
				return false
			}
		}
	}
	return true
}

// values decodes a small tensor of a float dtype; nil where it cannot be.
func (t *tensor) values() []float64 {
	if v := t.head(); len(v) == t.info.Elements() {
		return v
	}
	return nil
}

// head decodes the first values of a tensor of a float dtype, up to a megabyte of them.
func (t *tensor) head() []float64 {
	f, err := format.ByDType(string(t.info.DType))
	if err != nil {
		return nil
	}
	s, err := t.file.Section(t.stored)
	if err != nil {
		return nil
	}
	raw := make([]byte, min(t.info.Size, 1<<20))
	if n, _ := s.ReadAt(raw, 0); n < len(raw) {
		return nil
	}
	v, err := format.DecodeBytes(f, raw)
	if err != nil {
		return nil
	}
	return v
}
