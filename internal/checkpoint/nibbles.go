package checkpoint

import (
	"math"
	"strings"
)

// orders tests whether the codes of an expert's fp4 weights lie in their bytes in the right order. A
// wrong order exchanges the columns 2j and 2j+1 and leaves every block maximum as it is, so that no rule
// about scales sees it; two other facts do:
//
//   - rows of w1 and w3 live in the same input subspace as the rows of the shared experts (or of the gate),
//     which are not packed: (w.r)^2 summed over references r is larger in the right order;
//   - column i of w2 belongs to row i of w3, and their norms go together (see balance): within the pair
//     2j, 2j+1 the differences of the two correlate.
//
// Each gives a z, negative in the wrong order.
func (p *patient) orders(e *profile, w1, w3 matrix) error {
	packed := func(w weight) bool { return w.q != nil && (w.q.scheme == mxfp4 || w.q.scheme == nvfp4) }
	if packed(e.w2) && len(e.up) >= 32 {
		a, b := gaps(e.down), gaps(e.up)
		e.order[1] = fisher(pearson(a, b)) * math.Sqrt(float64(len(a)-3))
	}
	if !packed(e.w1) && !packed(e.w3) {
		return nil
	}
	refs, err := p.references(e.w1.t, w1.cols)
	if err != nil || len(refs) == 0 {
		return err
	}
	if packed(e.w1) {
		e.order[0] = affinity(w1, refs)
	}
	if packed(e.w3) {
		e.order[2] = affinity(w3, refs)
	}
	return nil
}

// references gives rows of unpacked weights with the same input as w1 of the expert that t belongs to.
func (p *patient) references(t *tensor, cols int) ([]matrix, error) {
	head, _, _ := strings.Cut(t.canon, ".ffn.")
	prefix := head + ".ffn."
	var out []matrix
	for _, name := range []string{"shared_experts.w1.weight", "shared_experts.w3.weight", "gate.weight"} {
		w, ok := p.weightIn(p.byCanon[prefix+name])
		if !ok || w.q != nil && w.q.scheme != blockFP8 || len(out) == 2 {
			continue
		}
		m, err := w.corner(32, cols)
		if err != nil {
			return nil, err
		}
		if m.cols == cols {
			out = append(out, m)
		}
	}
	return out, nil
}

// affinity is the t statistic, over rows of m, of the summed squared products with the references in the
// stored order minus those with neighbours exchanged.
func affinity(m matrix, refs []matrix) float64 {
	work := 0
	for _, r := range refs {
		work += r.rows * r.cols
	}
	n := max(16, min(m.rows, (8<<20)/max(1, work)))
	n = min(n, m.rows)
	var sum, squares float64
	for i := range n {
		row, norm, d := m.row(i), tiny, 0.0
		for _, v := range row {
			norm += v * v
		}
		for _, ref := range refs {
			for k := range ref.rows {
				a, b := products(row, ref.row(k))
				d += a*a - b*b
			}
		}
		d /= norm
		sum += d
		squares += d * d
	}
	mean := sum / float64(n)
	variance := (squares - sum*mean) / float64(max(1, n-1))
	if n < 8 || !(variance > 0) {
		return 0
	}
	return mean / math.Sqrt(variance/float64(n))
}

// products are x.y as stored and with the neighbours of x exchanged.
func products(x, y []float64) (straight, crossed float64) {
	var s0, s1, c0, c1 float64
	for len(x) >= 2 && len(y) >= 2 {
		s0 += x[0] * y[0]
		s1 += x[1] * y[1]
		c0 += x[1] * y[0]
		c1 += x[0] * y[1]
		x, y = x[2:], y[2:]
	}
	return s0 + s1, c0 + c1
}

// nibbles reports the weights whose order is wrong beyond the stated risk.
func (p *patient) nibbles(all []*profile) {
	limit := -critical(risk, 3*len(all))
	for _, e := range all {
		for i, w := range []weight{e.w1, e.w2, e.w3} {
			if z := e.order[i]; z < limit {
				p.add(Likely, KindNibbles, []string{w.t.stored}, "%s looks packed with the even element in the high nibble: "+
					"with neighbouring columns exchanged it agrees with the other weights of its layer, as stored it disagrees (z = "+
					"%.1f, limit %.1f for the whole checkpoint at risk %g); pack the even element into the low nibble", w.t.stored, z,
					limit, risk)
			}
		}
	}
}
