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

// newFactor keeps elements and multipliers of a stored operand apart.
func newFactor(s storage) (factor, error) {
	b, scale := s.block, s.scale
	if s.tiled {
		var err error
		if scale, err = untiled(b.Scale, scale, s.rows, s.k/b.BlockCols); err != nil {
			return factor{}, err
		}
	}
	raw, err := elements(b.Element, s.code)
	if err != nil {
		return factor{}, err
	}
	q := format.Quantised{Rows: s.rows, Cols: s.k, Codes: raw, Scales: multipliers(b.Scale, scale)}
	if b.TensorScale {
		q.TensorScale = float32(s.second)
	}
	f := factor{stored: oracle.Stored{Block: b, Quantised: q}, width: b.BlockCols}
	if f.code, err = format.DecodeBytes(b.Element, raw); err != nil {
		return factor{}, err
	}
	ones := q // a matrix of ones shows the multipliers
	one := make([]uint32, s.rows*s.k)
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

// exactPart is one product of an expectation: its row i is row at[i] of the output.
type exactPart struct {
	x, w   factor
	at     []int
	column func(j int) float64 // a further factor of a column, nil for none
}

// storage is an operand as a call has it: element values and scales, row by row of blocks or in tiles.
type storage struct {
	block       format.Block
	rows, k     int
	code, scale []float64
	second      float64 // the tensor scale, for a block that has one
	tiled       bool
}

// exactly puts the operands of one product together.
func exactly(x, w storage, at []int) (part exactPart, err error) {
	part.at = at
	if part.x, err = newFactor(x); err == nil {
		part.w, err = newFactor(w)
	}
	return part, err
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
	k := x.Dim(1)
	part, err := exactly(
		storage{block: rowBlock(p, "x_scale"), rows: x.Dim(0), k: k, code: x.Data, scale: p.In("x_scale").Data},
		storage{block: squareBlock(p, "w_scale"), rows: w.Dim(0), k: k, code: w.Data, scale: p.In("w_scale").Data},
		bench.Span(0, x.Dim(0)))
	return []exactPart{part}, err
}

func partsBatched(p bench.Problem) ([]exactPart, error) {
	x, w, sx, sw := p.In("x"), p.In("w"), p.In("x_scale"), p.In("w_scale")
	m, n, k := x.Dim(1), w.Dim(1), x.Dim(2)
	var out []exactPart
	for b := range x.Dim(0) {
		part, err := exactly(
			storage{block: format.MXFP8, rows: m, k: k, code: x.Row(b), scale: sx.Row(b), tiled: true},
			storage{block: format.MXFP8, rows: n, k: k, code: w.Row(b), scale: sw.Row(b), tiled: true},
			bench.Span(b*m, (b+1)*m))
		if err != nil {
			return nil, err
		}
		out = append(out, part)
	}
	return out, nil
}

func partsMXFP4(p bench.Problem) ([]exactPart, error) {
	x, w := p.In("x"), p.In("w")
	k := x.Dim(1)
	part, err := exactly(
		storage{block: format.RowFP8E8M0, rows: x.Dim(0), k: k, code: x.Data, scale: p.In("x_scale").Data},
		storage{block: format.MXFP4, rows: w.Dim(0), k: k, code: w.Data, scale: p.In("w_scale").Data},
		bench.Span(0, x.Dim(0)))
	return []exactPart{part}, err
}

func partsNVFP4(p bench.Problem) ([]exactPart, error) {
	of := func(name, second string) storage {
		code := p.In(name)
		return storage{
			block: format.NVFP4, rows: code.Dim(0), k: 2 * code.Dim(1), code: code.Data, scale: p.In(name + "_scale").Data,
			second: p.In(second).Data[0], tiled: true,
		}
	}
	part, err := exactly(of("x", "input_scale"), of("w", "weight_scale_2"), bench.Span(0, p.In("x").Dim(0)))
	if s := p.In("weight_scale_2").Data; err == nil && p.Attrs.Word("global_scales") == "halves" {
		half, rows := len(part.w.mult)/2, p.In("w").Dim(0)/2 // N is even
		part.column = func(j int) float64 { return []float64{1, s[1] / s[0]}[min(j/max(rows, 1), 1)] }
		for i := half; i < len(part.w.mult); i++ {
			part.w.mult[i] *= s[1] / s[0]
		}
	}
	return []exactPart{part}, err
}

// rowsAt copies rows of a flat matrix.
func rowsAt(data []float64, width int, at []int) []float64 {
	out := make([]float64, 0, width*len(at))
	for _, r := range at {
		out = append(out, data[r*width:(r+1)*width]...)
	}
	return out
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

// blockWeights are the weights of an expert in blocks of 128 x 128.
func blockWeights(p bench.Problem, e int) storage {
	w := p.In("w")
	return storage{
		block: format.BlockFP8F32, rows: w.Dim(1), k: w.Dim(2), code: w.Row(e), scale: p.In("w_scale").Row(e),
	}
}

func partsGrouped(p bench.Problem) ([]exactPart, error) {
	x, k := p.In("x"), p.In("x").Dim(1)
	var out []exactPart
	for e, rows := range expertRows(p) {
		part, err := exactly(storage{
			block: format.RowFP8, rows: len(rows), k: k, code: rowsAt(x.Data, k, rows),
			scale: rowsAt(p.In("x_scale").Data, up(k, 128), rows),
		}, blockWeights(p, e), rows)
		if err != nil {
			return nil, err
		}
		out = append(out, part)
	}
	return out, nil
}

func partsGroupedN(p bench.Problem) ([]exactPart, error) {
	x, w := p.In("x"), p.In("w")
	k := 2 * x.Dim(1)
	var out []exactPart
	for e, rows := range expertRows(p) {
		part, err := exactly(storage{
			block: format.NVFP4, rows: len(rows), k: k, code: rowsAt(x.Data, k/2, rows),
			scale: rowsAt(p.In("x_scale").Data, k/16, rows), second: 1,
		}, storage{
			block: format.NVFP4, rows: w.Dim(1), k: k, code: w.Row(e), scale: p.In("w_scale").Row(e),
			second: p.In("alpha").Data[e], tiled: true,
		}, rows)
		if err != nil {
			return nil, err
		}
		out = append(out, part)
	}
	return out, nil
}

func partsMasked(p bench.Problem) ([]exactPart, error) {
	x := p.In("x")
	most, k := x.Dim(1), x.Dim(2)
	var out []exactPart
	for e, count := range p.In("masked_m").Ints() {
		if count < 0 || count > most {
			return nil, fmt.Errorf("expert %d has %d tokens in a buffer of %d rows", e, count, most)
		}
		part, err := exactly(storage{
			block: format.RowFP8, rows: count, k: k, code: x.Row(e)[:count*k],
			scale: p.In("x_scale").Row(e)[:count*up(k, 128)],
		}, blockWeights(p, e), bench.Span(e*most, e*most+count))
		if err != nil {
			return nil, err
		}
		out = append(out, part)
	}
	return out, nil
}
