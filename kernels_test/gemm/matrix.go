package gemm

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// matrix is a scaled operand as a kernel reads it: element values and a multiplier for each group of a row. A group of
// 0 has no multipliers.
type matrix struct {
	rows, k, group int
	code           []float32 // [rows, k]
	scale          []float32 // [rows, ceil(k/group)]
}

// product is one matrix product of a call; its row i is row at(i) of the output.
type product struct {
	x, w  matrix
	alpha float32
	at    func(i int) int
}

// quirks are what a faulty kernel gets wrong on its way to the operands.
type quirks struct {
	flatExperts  bool // the scales of expert e begin at e·N rows, padding or partial blocks forgotten
	flatBatch    bool // scales of batches are addressed as one matrix of B·M rows
	bitsAsE8M0   bool // fp32 scales are read as four packed exponents
	inverse      bool // the global scale of x divides
	linearScales bool // tiles are read row by row
	highFirst    bool // the even k is taken from the high nibble
	shortScale   bool // the last, partial block takes the scale of the block before it
	transposed   bool // block scales are read [K/128, N/128]
	firstScale   bool // every batch or expert takes the scales of the first
	skipsEmpty   bool // experts without rows are left out of the numbering
	lostBlock    bool // a last block of K that is not full is dropped
	coarse       bool // one scale serves two neighbouring blocks along K
	noAlpha      bool // global factors are left out
	tile64       bool // tiles of 64 rows reach into the next expert's where fewer than 64 fit
}

// floats reads values.
func floats(v []float64) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return out
}

// e2m1 are the values of the codes 0 to 7.
var e2m1 = [8]float32{0, .5, 1, 1.5, 2, 3, 4, 6}

// unpack reads two codes a byte.
func unpack(v []float64, q quirks) []float32 {
	out := make([]float32, 2*len(v))
	one := func(c int) float32 {
		if c >= 8 {
			return -e2m1[c-8]
		}
		return e2m1[c]
	}
	for i, x := range v {
		lo, hi := one(int(x)&15), one(int(x)>>4)
		if q.highFirst {
			lo, hi = hi, lo
		}
		out[2*i], out[2*i+1] = lo, hi
	}
	return out
}

// untile reads scale [row, col] out of tiles of 128 x 4.
func untile(v []float32, row, col, cols int) float32 {
	across := (cols + 3) / 4
	return v[(row/128*across+col/4)*512+row%32*16+row%128/32*4+col%4]
}

// rowScales reads [rows, groups] out of tiles or, with linear, row by row.
func rowScales(v []float32, first, rows, groups int, linear bool) []float32 {
	out := make([]float32, rows*groups)
	for r := range rows {
		for c := range groups {
			if linear {
				out[r*groups+c] = v[((first+r)*groups+c)%len(v)]
			} else {
				out[r*groups+c] = untile(v, first+r, c, groups)
			}
		}
	}
	return out
}

// blockScales spreads scales of blocks of 128 rows, from block row first, over the rows.
func blockScales(v []float32, first, rows, groups int, q quirks) []float32 {
	out := make([]float32, rows*groups)
	blocks := (rows + 127) / 128
	for r := range rows {
		b := r / 128
		if q.shortScale && b > 0 && b == rows/128 {
			b--
		}
		for c := range groups {
			at := (first+b)*groups + c
			if q.transposed {
				at = first*groups + c*blocks + b
			}
			out[r*groups+c] = v[at]
		}
	}
	return out
}

// packed reads the bits of fp32 scales as four exponents a word, as another generation of hardware stores them.
func packed(v []float32, rows, groups int) []float32 {
	out := make([]float32, len(v))
	for r := range rows {
		for g := range groups {
			e := math.Float32bits(v[r*groups+g/4]) >> (8 * (g % 4)) & 0xff
			out[r*groups+g] = float32(math.Ldexp(1, int(e)-127))
			if e == 0xff {
				out[r*groups+g] = float32(math.NaN())
			}
		}
	}
	return out
}

// twice lets the scale of each even group serve the odd one after it.
func twice(m matrix) matrix {
	groups := (m.k + m.group - 1) / m.group
	for i := range m.scale {
		if i%groups%2 == 1 {
			m.scale[i] = m.scale[i-1]
		}
	}
	return m
}

func same(i int) int { return i }

// from is rows as they follow a first one.
func from(first int) func(int) int { return func(i int) int { return first + i } }

func loadDense(a bench.Args, _ quirks) []product {
	x, w := a.In("x"), a.In("w")
	return []product{{
		x: matrix{rows: x.Dim(0), k: x.Dim(1), code: floats(x.Data)}, w: matrix{
			rows: w.Dim(0),
			k:    w.Dim(1),
			code: floats(w.Data),
		},
		alpha: 1, at: same,
	}}
}

func loadBlock(a bench.Args, q quirks) []product {
	x, w := a.In("x"), a.In("w")
	m, n, k := x.Dim(0), w.Dim(0), x.Dim(1)
	groups := (k + 127) / 128
	sx, sw := floats(a.In("x_scale").Data), floats(a.In("w_scale").Data)
	if q.bitsAsE8M0 && a.DType("x_scale") == bench.F32 {
		sx, sw = packed(sx, m, groups), packed(sw, (n+127)/128, groups)
	}
	return []product{{
		x:     matrix{m, k, 128, floats(x.Data), sx},
		w:     matrix{n, k, 128, floats(w.Data), blockScales(sw, 0, n, groups, q)},
		alpha: 1, at: same,
	}}
}

func loadBatched(a bench.Args, q quirks) []product {
	x, w, sx, sw := a.In("x"), a.In("w"), a.In("x_scale"), a.In("w_scale")
	b, m, k, n := x.Dim(0), x.Dim(1), x.Dim(2), w.Dim(1)
	groups := k / 32
	var out []product
	for i := range b {
		p := product{
			x: matrix{rows: m, k: k, group: 32, code: floats(x.Row(i))}, w: matrix{
				rows:  n,
				k:     k,
				group: 32,
				code:  floats(w.Row(i)),
			},
			alpha: 1, at: from(i * m),
		}
		p.x.scale = rowScales(floats(sx.Row(i)), 0, m, groups, q.linearScales)
		if q.flatBatch {
			p.x.scale = rowScales(floats(sx.Data), i*m, m, groups, false)
		}
		at := i
		if q.firstScale {
			at = 0
		}
		p.w.scale = rowScales(floats(sw.Row(at)), 0, n, groups, q.linearScales)
		out = append(out, p)
	}
	return out
}

func loadMXFP4(a bench.Args, q quirks) []product {
	x, w := a.In("x"), a.In("w")
	m, n, k := x.Dim(0), w.Dim(0), x.Dim(1)
	return []product{{
		x:     matrix{m, k, 128, floats(x.Data), floats(a.In("x_scale").Data)},
		w:     matrix{n, k, 32, unpack(w.Data, q), floats(a.In("w_scale").Data)},
		alpha: 1, at: same,
	}}
}

func loadNVFP4(a bench.Args, q quirks) []product {
	x, w := a.In("x"), a.In("w")
	m, n, k := x.Dim(0), w.Dim(0), 2*x.Dim(1)
	in, second := float32(a.In("input_scale").Data[0]), float32(a.In("weight_scale_2").Data[0])
	switch {
	case q.inverse:
		in = 1 / in
	case q.noAlpha:
		in = 1
	}
	return []product{{
		x:     matrix{m, k, 16, unpack(x.Data, q), rowScales(floats(a.In("x_scale").Data), 0, m, k/16, q.linearScales)},
		w:     matrix{n, k, 16, unpack(w.Data, q), rowScales(floats(a.In("w_scale").Data), 0, n, k/16, q.linearScales)},
		alpha: in * second, at: same,
	}}
}

// rowsOf lists the rows of each expert.
func rowsOf(expert []int, experts int) [][]int {
	out := make([][]int, experts)
	for m, e := range expert {
		if e >= 0 {
			out[e] = append(out[e], m)
		}
	}
	return out
}

// pick takes rows out of a matrix.
func pick(data []float32, width int, rows []int) []float32 {
	out := make([]float32, 0, width*len(rows))
	for _, r := range rows {
		out = append(out, data[r*width:(r+1)*width]...)
	}
	return out
}

// numbering maps experts to the weights that a kernel takes for them.
func numbering(rows [][]int, q quirks) []int {
	out := make([]int, len(rows))
	next := 0
	for e := range rows {
		if out[e] = e; q.skipsEmpty {
			if out[e] = next; len(rows[e]) > 0 {
				next++
			}
		}
	}
	return out
}
