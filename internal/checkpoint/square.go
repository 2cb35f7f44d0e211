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
	squareLeast = 1
)

// square reports square matrices that lie the other way than their peers.
func (p *patient) square() error {
	type entry struct {
		w weight
		d float64
	}
	classes := map[string][]entry{}
	var oblong []float64
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
	if err := p.oblong(&oblong); err != nil {
		return err
	}
	for _, list := range classes {
		if len(list) < 4 {
			for _, e := range list {
				p.loneSquare(e.w, e.d, oblong)
			}
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

// oblong measures the weights that are not square, which cannot lie the other way.
func (p *patient) oblong(out *[]float64) error {
	for _, t := range p.tensors {
		w, ok := p.weightIn(t)
		if !ok || t.weight.Slices > 1 || w.rows == w.cols || min(w.rows, w.cols) < 64 || roleOf(t) != roleLinear ||
			len(*out) >= maxOblong {
			continue
		}
		m, err := w.corner(min(512, w.rows), 512)
		if err != nil {
			return err
		}
		n := min(m.rows, m.cols)
		square := matrix{n, n, slicePart(m, n)}
		if a, b := deviation64(rowNorms(square)), deviation64(columnNorms(square)); a > 0 && b > 0 {
			d := math.Log(a / b)
			if w.w.InputMajor {
				d = -d
			}
			*out = append(*out, d)
		}
	}
	return nil
}

const maxOblong = 256

// loneSquare reports a matrix with few peers that lies the other way than nearly all weights of the checkpoint do,
// where those agree among themselves.
func (p *patient) loneSquare(w weight, d float64, oblong []float64) {
	if w.w.InputMajor {
		d = -d
	}
	usual, same := median(oblong), 0
	for _, x := range oblong {
		if x*usual > 0 && math.Abs(x) > squareLeast/2 {
			same++
		}
	}
	if len(oblong) < 6 || float64(same) < mostly*float64(len(oblong)) || d*usual > 0 || math.Abs(usual) < squareLeast ||
		math.Abs(d+usual) > 0.35*math.Abs(usual) {
		return
	}
	p.add(Likely, KindTransposed, []string{w.t.stored}, "%s looks transposed: the norms of its rows spread %.2f times as "+
		"wide as those of its columns, and in %d of the %d other weights about %.2f times; store [outputs, "+
		"inputs]", w.t.stored,
		math.Exp(d), same, len(oblong), math.Exp(usual))
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
