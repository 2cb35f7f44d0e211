package gemm

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
)

// factor is one stored operand of an exact product, with its elements and multipliers apart.
type factor struct {
	stored     oracle.Stored
	code, mult []float64 // [rows, K]
	width      int       // elements of a row under one multiplier
}

// elements are values as the bytes of an element format; packed operands are bytes already.
func elements(f format.Format, t []float64) ([]byte, error) {
	if f.Width() == 4 {
		return bench.Tensor{Data: t}.Bytes(), nil
	}
	codes := make([]uint32, len(t))
	for i, v := range t {
		codes[i] = f.Encode(v, format.RN, format.Saturate)
	}
	return format.PackCodes(f, codes)
}

// multipliers are values as the bytes of a scale format.
func multipliers(f format.Format, t []float64) []byte {
	var out []byte
	for _, v := range t {
		if f.Name == format.FP32.Name {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(v)))
			continue
		}
		out = append(out, byte(f.Encode(v, format.RN, format.Saturate)))
	}
	return out
}

// newFactor puts codes and scales together; scales are row by row of blocks. A block with a tensor scale takes second.
func newFactor(b format.Block, rows, k int, code, scale []float64, second float64) (factor, error) {
	raw, err := elements(b.Element, code)
	if err != nil {
		return factor{}, err
	}
	q := format.Quantised{Rows: rows, Cols: k, Codes: raw, Scales: multipliers(b.Scale, scale)}
	if b.TensorScale {
		q.TensorScale = float32(second)
	}
	f := factor{stored: oracle.Stored{Block: b, Quantised: q}, width: b.BlockCols}
	if f.code, err = format.DecodeBytes(b.Element, raw); err != nil {
		return factor{}, err
	}
	ones := q // a matrix of ones shows the multipliers
	one := make([]uint32, rows*k)
	for i := range one {
		one[i] = b.Element.Encode(1, format.RN, format.Saturate)
	}
	if ones.Codes, err = format.PackCodes(b.Element, one); err != nil {
		return factor{}, err
	}
	if f.mult, err = b.Decode(ones); err != nil {
		return factor{}, err
	}
	return f, nil
}

// untiled reads scales [rows, cols] of bytes out of tiles.
func untiled(f format.Format, t []float64, rows, cols int) ([]float64, error) {
	raw, err := format.Unswizzle(multipliers(f, t), rows, cols)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(raw))
	for i, c := range raw {
		out[i] = f.Decode(uint32(c))
	}
	return out, nil
}

// exactPart is one product of an expectation: row i is row at[i] of the output, and n the expert or batch in words.
type exactPart struct {
	x, w  factor
	at    []int
	alpha float64
}

func rowsFrom(first, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = first + i
	}
	return out
}

func rowBlock(p bench.Problem, scale string) format.Block {
	if p.Operands[scale].DType == bench.E8M0 {
		return format.RowFP8E8M0
	}
	return format.RowFP8
}

func squareBlock(p bench.Problem, scale string) format.Block {
	if p.Operands[scale].DType == bench.E8M0 {
		return format.BlockFP8
	}
	return format.BlockFP8F32
}

func partsBlock(p bench.Problem) ([]exactPart, error) {
	x, w := p.In("x"), p.In("w")
	m, n, k := x.Dim(0), w.Dim(0), x.Dim(1)
	fx, err := newFactor(rowBlock(p, "x_scale"), m, k, x.Data, p.In("x_scale").Data, 0)
	if err != nil {
		return nil, err
	}
	fw, err := newFactor(squareBlock(p, "w_scale"), n, k, w.Data, p.In("w_scale").Data, 0)
	return []exactPart{{fx, fw, rowsFrom(0, m), 1}}, err
}

func partsBatched(p bench.Problem) ([]exactPart, error) {
	x, w := p.In("x"), p.In("w")
	m, n, k := x.Dim(1), w.Dim(1), x.Dim(2)
	var out []exactPart
	for b := range x.Dim(0) {
		sx, err := untiled(format.E8M0, p.In("x_scale").Row(b), m, k/32)
		if err != nil {
			return nil, err
		}
		sw, err := untiled(format.E8M0, p.In("w_scale").Row(b), n, k/32)
		if err != nil {
			return nil, err
		}
		fx, err := newFactor(format.MXFP8, m, k, x.Row(b), sx, 0)
		if err != nil {
			return nil, err
		}
		fw, err := newFactor(format.MXFP8, n, k, w.Row(b), sw, 0)
		if err != nil {
			return nil, err
		}
		out = append(out, exactPart{fx, fw, rowsFrom(b*m, m), 1})
	}
	return out, nil
}

func partsMXFP4(p bench.Problem) ([]exactPart, error) {
	x, w := p.In("x"), p.In("w")
	m, n, k := x.Dim(0), w.Dim(0), x.Dim(1)
	fx, err := newFactor(format.RowFP8E8M0, m, k, x.Data, p.In("x_scale").Data, 0)
	if err != nil {
		return nil, err
	}
	fw, err := newFactor(format.MXFP4, n, k, w.Data, p.In("w_scale").Data, 0)
	return []exactPart{{fx, fw, rowsFrom(0, m), 1}}, err
}

func partsNVFP4(p bench.Problem) ([]exactPart, error) {
	x, w := p.In("x"), p.In("w")
	m, n, k := x.Dim(0), w.Dim(0), 2*x.Dim(1)
	sx, err := untiled(format.E4M3FN, p.In("x_scale").Data, m, k/16)
	if err != nil {
		return nil, err
	}
	sw, err := untiled(format.E4M3FN, p.In("w_scale").Data, n, k/16)
	if err != nil {
		return nil, err
	}
	fx, err := newFactor(format.NVFP4, m, k, x.Data, sx, p.In("input_scale").Data[0])
	if err != nil {
		return nil, err
	}
	fw, err := newFactor(format.NVFP4, n, k, w.Data, sw, p.In("weight_scale_2").Data[0])
	return []exactPart{{fx, fw, rowsFrom(0, m), 1}}, err
}

// rowsAt copies rows of a flat matrix.
func rowsAt(data []float64, width int, at []int) []float64 {
	out := make([]float64, 0, width*len(at))
	for _, r := range at {
		out = append(out, data[r*width:(r+1)*width]...)
	}
	return out
}

func partsGrouped(p bench.Problem) ([]exactPart, error) {
	x, w := p.In("x"), p.In("w")
	k, n := x.Dim(1), w.Dim(1)
	var out []exactPart
	for e, rows := range expertRows(p) {
		fx, err := newFactor(format.RowFP8, len(rows), k, rowsAt(x.Data, k, rows),
			rowsAt(p.In("x_scale").Data, up(k, 128), rows), 0)
		if err != nil {
			return nil, err
		}
		fw, err := newFactor(format.BlockFP8F32, n, k, w.Row(e), p.In("w_scale").Row(e), 0)
		if err != nil {
			return nil, err
		}
		out = append(out, exactPart{fx, fw, rows, 1})
	}
	return out, nil
}

func partsGroupedN(p bench.Problem) ([]exactPart, error) {
	x, w := p.In("x"), p.In("w")
	k, n := 2*x.Dim(1), w.Dim(1)
	var out []exactPart
	for e, rows := range expertRows(p) {
		fx, err := newFactor(format.NVFP4, len(rows), k, rowsAt(x.Data, k/2, rows), rowsAt(p.In("x_scale").Data, k/16, rows),
			1)
		if err != nil {
			return nil, err
		}
		sw, err := untiled(format.E4M3FN, p.In("w_scale").Row(e), n, k/16)
		if err != nil {
			return nil, err
		}
		fw, err := newFactor(format.NVFP4, n, k, w.Row(e), sw, p.In("alpha").Data[e])
		if err != nil {
			return nil, err
		}
		out = append(out, exactPart{fx, fw, rows, 1})
	}
	return out, nil
}

// expertRows lists the rows of each expert.
func expertRows(p bench.Problem) [][]int {
	out := make([][]int, p.In("w").Dim(0))
	for m, e := range p.In("expert").Ints() {
		if e >= 0 && e < len(out) {
			out[e] = append(out[e], m)
		}
	}
	return out
}

func partsMasked(p bench.Problem) ([]exactPart, error) {
	x, w := p.In("x"), p.In("w")
	most, k, n := x.Dim(1), x.Dim(2), w.Dim(1)
	groups := up(k, 128)
	var out []exactPart
	for e, count := range p.In("masked_m").Ints() {
		if count < 0 || count > most {
			return nil, fmt.Errorf("expert %d has %d tokens in a buffer of %d rows", e, count, most)
		}
		fx, err := newFactor(format.RowFP8, count, k, x.Row(e)[:count*k], p.In("x_scale").Row(e)[:count*groups], 0)
		if err != nil {
			return nil, err
		}
		fw, err := newFactor(format.BlockFP8F32, n, k, w.Row(e), p.In("w_scale").Row(e), 0)
		if err != nil {
			return nil, err
		}
		out = append(out, exactPart{fx, fw, rowsFrom(e*most, count), 1})
	}
	return out, nil
}
