package quant

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/safetensors"
)

// codec reads codes as numbers, before zero point and scale.
type codec struct {
	kind  kind
	f     format.Format
	bits  int
	shift float64   // added to every code
	table []float64 // of a table codec
	order []float64 // the table, sorted, for gaps
}

type kind int

const (
	floats kind = iota // a float format, row by row
	double             // F64
	bytes8             // signed bytes
	pairs              // two's complement nibbles, low one first
	along              // unsigned fields along a row of words
	awqRow             // the same in AWQ's order
	down               // unsigned fields down the rows
	table              // two indices to a byte, high nibble first
)

// read decodes rows [from, to) of all slices.
func (c *codec) read(w *Weight, from, to int) ([]float64, error) {
	if c.kind == down {
		first, last := from*c.bits/32, (to*c.bits+31)/32
		raw, err := read(w.store, w.Name(), int64(first*w.Cols*4), int64(last*w.Cols*4))
		if err != nil {
			return nil, err
		}
		out := make([]float64, (to-from)*w.Cols)
		unpackDown(out, raw, w.Cols, c.bits, from, to, first)
		return c.shifted(out), nil
	}
	wide, width := c.rowBytes(w.width()), c.rowBytes(w.Cols)
	raw, err := read(w.store, w.Name(), int64(from)*wide, int64(to)*wide)
	if err != nil {
		return nil, err
	}
	if width < wide { // keep the first columns
		for r := range int64(to - from) {
			copy(raw[r*width:(r+1)*width], raw[r*wide:])
		}
		raw = raw[:int64(to-from)*width]
	}
	var out []float64
	switch c.kind {
	case floats:
		if out, err = format.DecodeBytes(c.f, raw); err != nil {
			return nil, fmt.Errorf("%s: %w", w.Name(), err)
		}
	case double:
		out = make([]float64, len(raw)/8)
		for i := range out {
			out[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
		}
	case bytes8:
		out = make([]float64, len(raw))
		for i, b := range raw {
			out[i] = float64(int8(b))
		}
	case pairs:
		out = make([]float64, 0, 2*len(raw))
		for _, b := range raw {
			out = append(out, float64(int8(b<<4)>>4), float64(int8(b)>>4))
		}
	case table:
		out = make([]float64, 0, 2*len(raw))
		for _, b := range raw {
			out = append(out, c.table[b>>4], c.table[b&15])
		}
	case along, awqRow:
		out = make([]float64, 0, (to-from)*w.Cols)
		for r := range to - from {
			out = unpackRow(out, raw[int64(r)*width:int64(r+1)*width], w.Cols, c.bits, c.kind == awqRow)
		}
	}
	return c.shifted(out), nil
}

// rowBytes is the size of a stored row.
func (c *codec) rowBytes(cols int) int64 {
	switch c.kind {
	case floats:
		return int64(cols * c.f.Width() / 8)
	case double:
		return int64(8 * cols)
	case bytes8:
		return int64(cols)
	case pairs, table:
		return int64(cols / 2)
	}
	return int64((cols*c.bits + 31) / 32 * 4)
}

func (c *codec) shifted(v []float64) []float64 {
	if c.shift != 0 {
		for i := range v {
			v[i] += c.shift
		}
	}
	return v
}

// gaps is half the distance to the neighbouring codes on either side.
func (c *codec) gaps(v []float64) (below, above []float64) {
	below, above = make([]float64, len(v)), make([]float64, len(v))
	known := map[float64][2]float64{}
	for i, x := range v {
		g, ok := known[x]
		if !ok {
			g = c.gap(x)
			if x == x {
				known[x] = g
			}
		}
		below[i], above[i] = g[0], g[1]
	}
	return below, above
}

func (c *codec) gap(x float64) [2]float64 {
	switch c.kind {
	case floats:
		b, a := c.f.Gaps(x)
		return [2]float64{b / 2, a / 2}
	case table:
		i, _ := slices.BinarySearch(c.order, x)
		b, a := math.Inf(1), math.Inf(1)
		if i > 0 {
			b = (x - c.order[i-1]) / 2
		}
		if i+1 < len(c.order) {
			a = (c.order[i+1] - x) / 2
		}
		if math.IsInf(b, 0) {
			b = a
		}
		if math.IsInf(a, 0) {
			a = b
		}
		return [2]float64{b, a}
	}
	return [2]float64{0.5, 0.5}
}

// floatCodec is the codec of a tensor that holds values.
func floatCodec(d safetensors.DType) (codec, bool) {
	if d == safetensors.F64 {
		return codec{kind: double}, true
	}
	f, err := format.ByDType(string(d))
	return codec{kind: floats, f: f}, err == nil
}
