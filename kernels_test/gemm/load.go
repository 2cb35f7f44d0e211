package gemm

import "github.com/assay-suite/assay/kernels_test/bench"

// matrix is a scaled operand as a kernel reads it: element values and a multiplier for each group of a row. A group of
// 0 has no multipliers.
type matrix struct {
	rows, k, group int
	code           []float32 // [rows, k]
	scale          []float32 // [rows, ceil(k/group)]
}

func (m matrix) groups() int { return (m.k + m.group - 1) / m.group }

// scaleAt is the multiplier of an element.
func (m matrix) scaleAt(row, k int) float32 {
	if m.group == 0 {
		return 1
	}
	return m.scale[row*m.groups()+k/m.group]
}

// product is one matrix product of a call; its row i is row at(i) of the output, alpha a factor of all of it, columns
// one of each column, nil for none.
type product struct {
	x, w    matrix
	alpha   float32
	columns []float32
	at      func(i int) int
}

// factor is that of a column.
func (p product) factor(j int) float32 {
	if p.columns != nil {
		return p.alpha * p.columns[j]
	}
	return p.alpha
}

// run is the length of runs with one pair of multipliers, at most a limit where that is not 0.
func (p product) run(limit int) int {
	g := p.x.k
	for _, n := range []int{p.x.group, p.w.group, limit} {
		if n > 0 {
			g = min(g, n)
		}
	}
	return max(g, 1)
}

// loading is how a kernel reads the operands of a call.
type loading struct {
	nibbles func(b int) (even, odd int)                             // codes of a byte
	words   func(v []float32, groups int) []float32                 // fp32 scales [rows, groups] of block_fp8_gemm
	tile    func(v []float32, row, col, cols int) float32           // scale [row, col] in tiles
	block   func(first, row, col, rows, groups int) int             // index of w's scale, in block rows from first on
	begin   func(expert, n int) int                                 // first block row of an expert's scales
	xTiles  func(all bench.Tensor, b, rows int) (bench.Tensor, int) // scales of a batch, and its first row in them
	wTiles  func(all bench.Tensor, e, rows int) (bench.Tensor, int) // the same of the weights of a batch or an expert
	global  func(input, weight float32) float32                     // factor of nvfp4_gemm
	halfOf  func(j, n int) int                                      // which global scale column j of n has
	alpha   func(all []float64, expert int) float64                 // factor of an expert
	weights func(rows [][]int) []int                                // which weights each expert, by its rows, takes
	held    func(count, most, expert, experts int) int              // rows of an expert's buffer that are computed
}

func correctLoading() loading {
	own := func(all bench.Tensor, b, _ int) (bench.Tensor, int) { return bench.Tensor{Data: all.Row(b)}, 0 }
	return loading{
		nibbles: func(b int) (even, odd int) { return b & 15, b >> 4 },
		words:   func(v []float32, _ int) []float32 { return v },
		tile:    untile,
		block:   func(first, row, col, _, groups int) int { return (first+row/128)*groups + col },
		begin:   func(expert, n int) int { return expert * ((n + 127) / 128) },
		xTiles:  own,
		wTiles:  own,
		global:  func(input, weight float32) float32 { return input * weight },
		halfOf:  func(j, n int) int { return min(j/max(n/2, 1), 1) },
		alpha:   func(all []float64, expert int) float64 { return all[expert] },
		weights: func(rows [][]int) []int { return bench.Span(0, len(rows)) },
		held:    func(count, _, _, _ int) int { return count },
	}
}

// e2m1 is the value of a code: a sign, two bits of exponent and one of mantissa.
func e2m1(code int) float32 {
	v := [8]float32{0, .5, 1, 1.5, 2, 3, 4, 6}[code&7]
	if code >= 8 {
		return -v
	}
	return v
}

// unpack reads two codes a byte.
func (l loading) unpack(v []float64) []float32 {
	out := make([]float32, 2*len(v))
	for i, x := range v {
		even, odd := l.nibbles(int(x))
		out[2*i], out[2*i+1] = e2m1(even), e2m1(odd)
	}
	return out
}

// untile reads scale [row, col] out of tiles of 128 x 4.
func untile(v []float32, row, col, cols int) float32 {
	across := (cols + 3) / 4
	return v[(row/128*across+col/4)*512+row%32*16+row%128/32*4+col%4]
}

// tiled reads scales [rows, groups] out of tiles, from row first on.
func (l loading) tiled(t bench.Tensor, first, rows, groups int) []float32 {
	v, out := bench.Float32s(t.Data), make([]float32, 0, rows*groups)
	for r := range rows {
		for c := range groups {
			out = append(out, l.tile(v, first+r, c, groups))
		}
	}
	return out
}

// blocks spreads scales of blocks of 128 rows, from block row first, over the rows.
func (l loading) blocks(v []float32, first, rows, groups int) []float32 {
	out := make([]float32, 0, rows*groups)
	for r := range rows {
		for c := range groups {
			out = append(out, v[l.block(first, r, c, rows, groups)])
		}
	}
	return out
}

// from is rows as they follow a first one.
func from(first int) func(int) int { return func(i int) int { return first + i } }

// loaders read the products of an operator.
var loaders = map[string]func(bench.Args, loading) []product{
	opDense: loadDense, opBF16: loadDense, opFP8: loadDense, opBlock: loadBlock, opBatched: loadBatched,
	opMXFP4: loadMXFP4, opNVFP4: loadNVFP4,
	opGrouped: loadGrouped, opGroupedN: loadGroupedN, opMasked: loadMasked,
}

func loadDense(a bench.Args, _ loading) []product {
	x, w := a.In("x"), a.In("w")
	return []product{{
		x:     matrix{rows: x.Dim(0), k: x.Dim(1), code: bench.Float32s(x.Data)},
		w:     matrix{rows: w.Dim(0), k: w.Dim(1), code: bench.Float32s(w.Data)},
		alpha: 1, at: from(0),
	}}
}

func loadBlock(a bench.Args, l loading) []product {
	x, w := a.In("x"), a.In("w")
	m, n, k := x.Dim(0), w.Dim(0), x.Dim(1)
	groups := up(k, 128)
	sx, sw := bench.Float32s(a.In("x_scale").Data), bench.Float32s(a.In("w_scale").Data)
	if a.DType("x_scale") == bench.F32 {
		sx, sw = l.words(sx, groups), l.words(sw, groups)
	}
	return []product{{
		x:     matrix{m, k, 128, bench.Float32s(x.Data), sx},
		w:     matrix{n, k, 128, bench.Float32s(w.Data), l.blocks(sw, 0, n, groups)},
		alpha: 1, at: from(0),
	}}
}

func loadBatched(a bench.Args, l loading) []product {
	x, w := a.In("x"), a.In("w")
	m, k, n := x.Dim(1), x.Dim(2), w.Dim(1)
	var out []product
	for b := range x.Dim(0) {
		sx, firstX := l.xTiles(a.In("x_scale"), b, m)
		sw, firstW := l.wTiles(a.In("w_scale"), b, n)
		out = append(out, product{
			x:     matrix{m, k, 32, bench.Float32s(x.Row(b)), l.tiled(sx, firstX, m, k/32)},
			w:     matrix{n, k, 32, bench.Float32s(w.Row(b)), l.tiled(sw, firstW, n, k/32)},
			alpha: 1, at: from(b * m),
		})
	}
	return out
}

func loadMXFP4(a bench.Args, l loading) []product {
	x, w := a.In("x"), a.In("w")
	k := x.Dim(1)
	return []product{{
		x:     matrix{x.Dim(0), k, 128, bench.Float32s(x.Data), bench.Float32s(a.In("x_scale").Data)},
		w:     matrix{w.Dim(0), k, 32, l.unpack(w.Data), bench.Float32s(a.In("w_scale").Data)},
		alpha: 1, at: from(0),
	}}
}

func loadNVFP4(a bench.Args, l loading) []product {
	x, w := a.In("x"), a.In("w")
	m, n, k := x.Dim(0), w.Dim(0), 2*x.Dim(1)
	input, weight := float32(a.In("input_scale").Data[0]), a.In("weight_scale_2").Data
	p := product{
		x:     matrix{m, k, 16, l.unpack(x.Data), l.tiled(a.In("x_scale"), 0, m, k/16)},
		w:     matrix{n, k, 16, l.unpack(w.Data), l.tiled(a.In("w_scale"), 0, n, k/16)},
		alpha: l.global(input, float32(weight[0])), at: from(0),
	}
	if a.Word("global_scales") == "halves" {
		p.alpha = 1
		for j := range n {
			p.columns = append(p.columns, l.global(input, float32(weight[l.halfOf(j, n)])))
		}
	}
	return []product{p}
}
