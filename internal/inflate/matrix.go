package inflate

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// matrix is a large matrix of which only a core is held: large[i, j] = scale · rowFactor[i] · core[row[i], col[j]] ·
// colFactor[j], and 0 where row or col is -1.
type matrix struct {
	rows, cols           int
	core                 []float64
	coreCols             int
	row, col             []int
	rowFactor, colFactor []float64
	fix                  func(i int, row []float64) // what no axis says; nil: nothing
}

// inflate is the large form of a small matrix [rows.small(), cols.small()].
func inflate(small []float64, rows, cols dims, scale float64) *matrix {
	core := expand(small, rows, cols.small())
	after := 1
	for _, p := range rows {
		after *= p.width()
	}
	core = expandCols(core, after, cols)
	width := 1
	for _, p := range cols {
		width *= p.width()
	}
	m := &matrix{rows: rows.large(), cols: cols.large(), core: core, coreCols: width}
	m.row, m.rowFactor = rows.sources()
	m.col, m.colFactor = cols.sources()
	for i := range m.rowFactor {
		m.rowFactor[i] *= scale
	}
	return m
}

// expand multiplies every axis of the rows that has a basis by it.
func expand(x []float64, rows dims, inner int) []float64 {
	before := 1
	for i, p := range rows {
		after := inner
		for _, q := range rows[i+1:] {
			after *= q.n
		}
		if p.basis != nil {
			x = times(x, before, p.axis, after)
		}
		before *= p.width()
	}
	return x
}

// expandCols is the same for the columns.
func expandCols(x []float64, rows int, cols dims) []float64 {
	before := rows
	for i, p := range cols {
		after := 1
		for _, q := range cols[i+1:] {
			after *= q.n
		}
		if p.basis != nil {
			x = times(x, before, p.axis, after)
		}
		before *= p.width()
	}
	return x
}

// times is x [before, n, after] with its middle axis expanded by a basis: [before, N, after].
func times(x []float64, before int, a *axis, after int) []float64 {
	out := make([]float64, before*a.N*after)
	q := blas64.General{Rows: a.N, Cols: a.n, Stride: a.n, Data: a.basis}
	if after == 1 { // one product over all rows
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, blas64.General{Rows: before, Cols: a.n, Stride: a.n, Data: x}, q, 0,
			blas64.General{Rows: before, Cols: a.N, Stride: a.N, Data: out})
		return out
	}
	for b := range before {
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, q,
			blas64.General{Rows: a.n, Cols: after, Stride: after, Data: x[b*a.n*after : (b+1)*a.n*after]}, 0,
			blas64.General{Rows: a.N, Cols: after, Stride: after, Data: out[b*a.N*after : (b+1)*a.N*after]})
	}
	return out
}

// fill writes rows from, from+1, ... into dst [n, cols].
func (m *matrix) fill(from int, dst []float64) {
	for i := range len(dst) / m.cols {
		row := dst[i*m.cols : (i+1)*m.cols]
		if r := m.row[from+i]; r < 0 {
			clear(row)
		} else {
			core, f := m.core[r*m.coreCols:(r+1)*m.coreCols], m.rowFactor[from+i]
			for j, c := range m.col {
				if c < 0 {
					row[j] = 0
					continue
				}
				row[j] = f * m.colFactor[j] * core[c]
			}
		}
		if m.fix != nil {
			m.fix(from+i, row)
		}
	}
}
