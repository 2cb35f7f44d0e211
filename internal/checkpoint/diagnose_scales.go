package checkpoint

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// blockGrid is a strip of a quantised weight by blocks: the stored scale of each, and by what its values are multiplied
// against the base.
type blockGrid struct {
	rows, cols           int
	scale, factor        []float64 // factor is NaN where the block is not a multiple of the base's
	unexplained, off, of int       // blocks that are no multiple, multiples by more than 1.3, all
	twice                int       // multiples by more than 1.54
	global               float64
}

// offBy is the factor from which a block counts as scaled, well beyond what rounding the codes leaves.
const offBy = 1.3

// wrong tells that scales are off: in one block by more than coarse codes can be, or in many by less.
func (g blockGrid) wrong() bool {
	return (g.twice > 0 || g.off > g.of/50) && g.unexplained <= g.of/20
}

// gridOf measures the blocks of a strip; ok is false for a weight without block scales.
func (v weight) gridOf(a, o strip) (g blockGrid, ok bool) {
	if v.q == nil || v.flip {
		return g, false
	}
	br, bc := v.w.Block()
	scales, err := v.w.Scales(0, len(a.v)/v.cols)
	if br == 0 || bc == 0 || err != nil || scales == nil {
		return g, false
	}
	rows := len(a.v) / v.cols
	row, col := v.inGroups(rows)
	g = blockGrid{rows: (rows + br - 1) / br, cols: (v.cols + bc - 1) / bc, global: 1}
	if x, ok := v.q.global.scalar(); ok && x > 0 {
		g.global = x
	}
	for r := 0; r < rows; r += br {
		for c := 0; c < v.cols; c += bc {
			var vw, ww, vv float64
			for i := r; i < min(rows, r+br); i++ {
				for k := c; k < min(v.cols, c+bc); k++ {
					at := row[i]*v.cols + col[k]
					x, y := a.v[at], o.v[at]
					vw, ww, vv = vw+x*y, ww+y*y, vv+x*x
				}
			}
			f := math.NaN()
			g.of++
			switch {
			case ww == 0 || vv == 0:
			case vv-vw*vw/ww > 0.08*vv: // e2m1 leaves about 0.01 of the energy
				g.unexplained++
			default:
				f = vw / ww
				if f > offBy || f < 1/offBy {
					g.off++
				}
				if f > 2/offBy || f < offBy/2 {
					g.twice++
				}
			}
			g.scale, g.factor = append(g.scale, scales[row[r]*v.cols+col[c]]), append(g.factor, f)
		}
	}
	return g, true
}

// inGroups lists rows and columns so that inputs of one group follow each other, whatever order they are stored in.
func (v weight) inGroups(rows int) (row, col []int) {
	row, col = make([]int, rows), make([]int, v.cols)
	for i := range row {
		row[i] = i
	}
	for i := range col {
		col[i] = i
	}
	order, inputs := v.w.Order(), col
	if v.w.InputMajor {
		inputs = row
	}
	if len(order) == len(inputs) {
		slices.SortStableFunc(inputs, func(a, b int) int { return cmp.Compare(order[a], order[b]) })
	}
	return row, col
}

// agrees is the share of blocks whose factor is what want says, within a quarter of a power of two.
func (g blockGrid) agrees(want func(r, c int) float64) float64 {
	n, hit := 0, 0
	for i, f := range g.factor {
		if !(f > 0) {
			continue
		}
		n++
		if math.Abs(math.Log2(f/want(i/g.cols, i%g.cols))) < 0.25 {
			hit++
		}
	}
	return float64(hit) / float64(max(1, n))
}

// inverted tells that every block is multiplied by the square of its stored scale, with or without the global factor.
func (g blockGrid) inverted() bool {
	for _, by := range []float64{1, g.global} {
		if g.agrees(func(r, c int) float64 { s := g.scale[r*g.cols+c] / by; return s * s }) >= mostly {
			return true
		}
	}
	return false
}

// displaced says where the scales lie instead, "" where no simple displacement explains them.
func (g blockGrid) displaced() string {
	at := func(r, c int) float64 { return g.scale[(r+g.rows)%g.rows*g.cols+(c+g.cols)%g.cols] }
	from := func(where func(r, c int) float64) float64 {
		return g.agrees(func(r, c int) float64 { return at(r, c) / where(r, c) })
	}
	best, name := mostly-1e-9, ""
	for _, d := range [][2]int{{0, 1}, {0, -1}, {1, 0}, {-1, 0}} {
		if s := from(func(r, c int) float64 { return at(r+d[0], c+d[1]) }); s > best {
			best, name = s, fmt.Sprintf("each lies with the block %d down and %d to the right of its own", -d[0], -d[1])
		}
	}
	if g.rows == g.cols && g.rows > 1 {
		if s := from(func(r, c int) float64 { return at(c, r) }); s > best {
			name = "their grid is transposed"
		}
	}
	return name
}

// zeroOff gives the whole number of steps by which every value is off, 0 where that does not explain the strip.
func (v weight) zeroOff(a, o strip) int {
	if v.q == nil || v.flip || v.w.Declared().Bits == 0 {
		return 0
	}
	scales, err := v.w.Scales(0, len(a.v)/v.cols)
	if err != nil || scales == nil {
		return 0
	}
	mean := 0.0
	for i := range a.v {
		if scales[i] != 0 {
			mean += (a.v[i] - o.v[i]) / scales[i] / float64(len(a.v))
		}
	}
	k := math.Round(mean)
	if k == 0 || math.Abs(mean-k) > 0.25 || math.Abs(k) > 16 {
		return 0
	}
	moved := a
	moved.v = make([]float64, len(a.v))
	for i := range a.v {
		moved.v[i] = a.v[i] - k*scales[i]
	}
	if share(moved, o) > leftOver {
		return 0
	}
	return int(k)
}

// times is the strip with every value, and what it was rounded by, multiplied.
func (s strip) times(by func(i int) float64) strip {
	out := strip{u: s.u, eta: s.eta, v: make([]float64, len(s.v))}
	if s.below != nil {
		out.below, out.above = make([]float64, len(s.v)), make([]float64, len(s.v))
	}
	for i := range s.v {
		f := by(i)
		out.v[i] = s.v[i] * f
		if s.below != nil {
			out.below[i], out.above[i] = s.below[i]*math.Abs(f), s.above[i]*math.Abs(f)
		}
	}
	return out
}

// reordered is the base with the eight columns of each word in another order, the scales staying where they are: a code
// is then multiplied by the scale of the column in which it is read.
func (v weight) reordered(o strip, order [8]int) strip {
	if v.q == nil || v.cols%8 != 0 {
		return o
	}
	from := func(i int) int { return i&^7 | order[i&7] }
	out := o.permuted(from, true)
	scales, err := v.w.Scales(0, len(o.v)/v.cols)
	if err != nil || scales == nil {
		return out
	}
	return out.times(func(i int) float64 {
		if s := scales[from(i)]; s != 0 {
			return scales[i] / s
		}
		return 1
	})
}

// fieldOrders are other orders of the eight codes of a word: AWQ's where a row is read straight, and the reverse of
// both.
var fieldOrders = [][8]int{
	{0, 2, 4, 6, 1, 3, 5, 7}, {0, 4, 1, 5, 2, 6, 3, 7}, {7, 6, 5, 4, 3, 2, 1, 0},
}
