package inflate

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// axis is how a small axis of n numbers lies in a large one of N. Either every large number has one source, with a
// factor for each way of use, or it is a combination of all small ones.
type axis struct {
	n, N  int
	basis []float64 // [N, n], orthonormal columns; nil where every number has one source

	source []int     // [N], -1: always zero
	iso    []float64 // [N]: squares over the places of one source sum to 1
	share  []float64 // [N]: positive, over the places of one source they sum to 1
}

// way is what a matrix does with an axis.
type way int

const (
	copied way = iota // the source as it is
	iso               // by iso, or by the basis
	shared            // by share
)

// part is an axis in one of its ways, dims are the parts of one side of a matrix, the last one fastest.
type (
	part struct {
		*axis
		way
	}
	dims []part
)

// placed is a small axis at the given places of a large one.
func placed(N int, at []int) *axis {
	a := &axis{n: len(at), N: N, source: fill(N, -1), iso: make([]float64, N), share: make([]float64, N)}
	for i, j := range at {
		a.source[j], a.iso[j], a.share[j] = i, 1, 1
	}
	return a
}

// spread is a large axis whose every number j has source[j].
func spread(n int, source []int, r *rand.Rand) *axis {
	N := len(source)
	a := &axis{n: n, N: N, source: source, iso: make([]float64, N), share: make([]float64, N)}
	squares, sums := make([]float64, n), make([]float64, n)
	for j, i := range source {
		if i < 0 {
			continue
		}
		a.iso[j], a.share[j] = 0.5+r.Float64(), 0.5+r.Float64()
		if r.IntN(2) == 1 {
			a.iso[j] = -a.iso[j]
		}
		squares[i] += a.iso[j] * a.iso[j]
		sums[i] += a.share[j]
	}
	for j, i := range source {
		if i >= 0 {
			a.iso[j] /= math.Sqrt(squares[i])
			a.share[j] /= sums[i]
		}
	}
	return a
}

// rotated is a large axis of random orthonormal columns in its first rows; the last spare rows are zero.
func rotated(n, N, spare int, r *rand.Rand) *axis {
	rows := N - spare
	g := mat.NewDense(rows, n, nil)
	for i := range rows {
		for j := range n {
			g.Set(i, j, r.NormFloat64())
		}
	}
	var qr mat.QR
	qr.Factorize(g)
	var q mat.Dense
	qr.QTo(&q)
	a := &axis{n: n, N: N, basis: make([]float64, N*n)}
	for i := range rows {
		for j := range n {
			a.basis[i*n+j] = q.At(i, j)
		}
	}
	return a
}

// at is the source of large number j and its factor.
func (p part) at(j int) (source int, factor float64) {
	switch {
	case p.basis != nil:
		return j, 1 // the core is expanded
	case p.source[j] < 0:
		return -1, 0
	case p.way == iso:
		return p.source[j], p.iso[j]
	case p.way == shared:
		return p.source[j], p.share[j]
	}
	return p.source[j], 1
}

// width is how many numbers of the part the core has.
func (p part) width() int {
	if p.basis != nil {
		return p.N
	}
	return p.n
}

func (d dims) small() int { return d.product(func(p part) int { return p.n }) }
func (d dims) large() int { return d.product(func(p part) int { return p.N }) }

func (d dims) product(of func(part) int) int {
	n := 1
	for _, p := range d {
		n *= of(p)
	}
	return n
}

// sources are, for every large number of a side, the number of the core that it comes from, and its factor.
func (d dims) sources() ([]int, []float64) {
	from, factor := []int{0}, []float64{1}
	for _, p := range d {
		next, f := make([]int, 0, len(from)*p.N), make([]float64, 0, len(from)*p.N)
		for i, at := range from {
			for j := range p.N {
				s, c := p.at(j)
				if at < 0 || s < 0 {
					s = -1
				} else {
					s += at * p.width()
				}
				next, f = append(next, s), append(f, factor[i]*c)
			}
		}
		from, factor = next, f
	}
	return from, factor
}

func fill(n, v int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = v
	}
	return s
}
