package checkpoint

import (
	"math"
)

// Training leaves rows and columns of a matrix of different evenness: outputs differ in size and inputs do not, or the
// other way round, alike in every layer of a kind. A square matrix that is transposed has the two exchanged. The
// measure is the logarithm of the ratio of the spreads of the norms of rows and of columns; transposing negates it.

// squareLimit is how many spreads of its kind a matrix must be away, and squareLeast how much at least.
const (
	squareLimit = 8
	squareLeast = 0.4
)

// square reports square matrices that lie the other way than their peers.
func (p *patient) square() error {
	type entry struct {
		w weight
		d float64
	}
	classes := map[string][]entry{}
	for _, t := range p.tensors {
		w, ok := p.weightIn(t)
		if !ok || t.weight.Slices > 1 || w.rows != w.cols || w.rows < 64 || p.blamed[t] || !t.scan.differs {
			continue
		}
		m, err := w.corner(min(512, w.rows), 512)
		if err != nil {
			return err
		}
		n := min(m.rows, m.cols)
		square := matrix{n, n, slicePart(m, n)}
		rows, cols := rowNorms(square), columnNorms(square)
		a, b := deviation64(rows), deviation64(cols)
		if a <= 0 || b <= 0 {
			continue
		}
		classes[t.class] = append(classes[t.class], entry{w, math.Log(a / b)})
	}
	for _, list := range classes {
		if len(list) < 4 {
			continue
		}
		for i, e := range list {
			var others []float64
			for k, o := range list {
				if k != i {
					others = append(others, o.d)
				}
			}
			usual := median(others)
			width := math.Max(spread(others), 0.05)
			if math.Abs(usual) < squareLeast || e.d*usual > 0 || math.Abs(e.d-usual) < squareLimit*width ||
				math.Abs(e.d+usual) > math.Max(0.35*math.Abs(usual), 4*width) {
				continue
			}
			p.add(Likely, KindTransposed, []string{e.w.t.stored}, "%s looks transposed: the norms of its rows spread %.2f "+
				"times as wide as those of its columns, and in the %d others of its kind %.2f times; store [outputs, inputs]",
				e.w.t.stored, math.Exp(e.d), len(others), math.Exp(usual))
		}
	}
	return nil
}

// slicePart is the leading n x n part.
func slicePart(m matrix, n int) []float64 {
	if m.cols == n {
		return m.data[:n*n]
	}
	out := make([]float64, 0, n*n)
	for r := range n {
		out = append(out, m.row(r)[:n]...)
	}
	return out
}

// deviation64 is the standard deviation.
func deviation64(x []float64) float64 {
	var sum, squares float64
	for _, v := range x {
		sum, squares = sum+v, squares+v*v
	}
	n := float64(len(x))
	return math.Sqrt(math.Max(0, squares/n-sum/n*sum/n))
}
