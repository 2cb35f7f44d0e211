package quant

import (
	"encoding/binary"
	"fmt"

	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/safetensors"
)

// grid is a tensor with a value for each block of a weight: scales, zero points, biases.
type grid struct {
	name                 string // "" for none
	rows, cols           int    // of one slice
	blockRows, blockCols int
	flat                 int // values that share an entry of a flat list, in place of rows and columns (bitsandbytes)

	f      format.Format // of a float grid
	bits   int           // of an integer grid, packed; 0 for a float grid
	pack   packing
	shift  float64 // added to every value: 1 where a zero point is stored less one, -8 where codes are offset
	factor float64 // multiplied to every value: 1/127 of bitsandbytes' SCB; 0 is 1
	nested *nested
}

// packing is how the integers of a grid lie in their words.
type packing int

const (
	alongRow   packing = iota // from the lowest bit up
	alongAWQ                  // as alongRow, columns in AWQ's order
	alongRows                 // packed down the rows (compressed-tensors zero points)
	signedByte                // one signed byte each
)

// nested are scales that are themselves codes (bitsandbytes' double quantisation).
type nested struct {
	table, absmax []float64
	block         int
	offset        float64
}

// gridRows are decoded rows [base, ...) of a grid, or entries of a flat one.
type gridRows struct {
	base int
	v    []float64
}

func (r gridRows) row(g *grid, i int) []float64 {
	at := (i - r.base) * g.cols
	return r.v[at : at+g.cols]
}

// rowsFor decodes what rows [from, to) of the weight need.
func (g *grid) rowsFor(w *Weight, from, to int) (gridRows, error) {
	if from == to {
		return gridRows{}, nil
	}
	if g.flat > 0 {
		lo, hi := from*w.width()/g.flat, (to*w.width()-1)/g.flat+1
		v, err := g.values(w.store, lo, hi, 1)
		return gridRows{lo, v}, err
	}
	lo, hi := 0, w.Slices*g.rows
	if w.order == nil || !w.InputMajor {
		lo, hi = w.gridRow(g, from), w.gridRow(g, to-1)+1
	}
	if g.pack == alongRows { // small, and packed across rows
		v, err := g.down(w.store, w.Slices*g.rows)
		return gridRows{0, v}, err
	}
	v, err := g.values(w.store, lo, hi, g.cols)
	return gridRows{lo, v}, err
}

// values decodes rows [lo, hi) of cols values each.
func (g *grid) values(s Store, lo, hi, cols int) ([]float64, error) {
	var out []float64
	switch {
	case g.bits > 0 && g.pack == signedByte:
		raw, err := read(s, g.name, int64(lo*cols), int64(hi*cols))
		if err != nil {
			return nil, err
		}
		out = make([]float64, len(raw))
		for i, b := range raw {
			out[i] = float64(int8(b))
		}
	case g.bits > 0:
		width := int64((cols*g.bits + 31) / 32 * 4)
		raw, err := read(s, g.name, int64(lo)*width, int64(hi)*width)
		if err != nil {
			return nil, err
		}
		out = make([]float64, 0, (hi-lo)*cols)
		for r := range hi - lo {
			out = unpackRow(out, raw[int64(r)*width:int64(r+1)*width], cols, g.bits, g.pack == alongAWQ)
		}
	default:
		size := int64(g.f.Width() / 8)
		raw, err := read(s, g.name, int64(lo*cols)*size, int64(hi*cols)*size)
		if err != nil {
			return nil, err
		}
		if g.nested != nil {
			return g.nested.values(raw, lo), nil
		}
		if out, err = format.DecodeBytes(g.f, raw); err != nil {
			return nil, fmt.Errorf("%s: %w", g.name, err)
		}
	}
	g.finish(out)
	return out, nil
}

func (g *grid) finish(v []float64) {
	for i := range v {
		v[i] += g.shift
		if g.factor != 0 {
			v[i] *= g.factor
		}
	}
}

// down decodes a grid of rows x cols that is packed down its rows.
func (g *grid) down(s Store, rows int) ([]float64, error) {
	words := (rows*g.bits + 31) / 32
	raw, err := read(s, g.name, 0, int64(words*g.cols*4))
	if err != nil {
		return nil, err
	}
	out := make([]float64, rows*g.cols)
	unpackDown(out, raw, g.cols, g.bits, 0, rows, 0)
	g.finish(out)
	return out, nil
}

func (n *nested) values(raw []byte, lo int) []float64 {
	out := make([]float64, len(raw))
	for i, b := range raw {
		out[i] = n.table[b]*n.absmax[(lo+i)/n.block] + n.offset
	}
	return out
}

// awqColumn is the column that the i-th field of a word holds.
var awqColumn = [8]int{0, 2, 4, 6, 1, 3, 5, 7}

// unpackRow appends cols unsigned codes of a row of 32-bit words, from the lowest bit up. A code may lie across words.
func unpackRow(out []float64, raw []byte, cols, bits int, awq bool) []float64 {
	base := len(out)
	mask := uint64(1)<<bits - 1
	for c := range cols {
		bit := c * bits
		out = append(out, float64(word64(raw, bit/8)>>(bit%8)&mask))
	}
	if awq {
		row := out[base:]
		var in [8]float64
		for at := 0; at+8 <= len(row); at += 8 {
			copy(in[:], row[at:at+8])
			for i, c := range awqColumn {
				row[at+c] = in[i]
			}
		}
	}
	return out
}

// word64 is up to eight bytes from at, zero behind the end.
func word64(raw []byte, at int) uint64 {
	if at+8 <= len(raw) {
		return binary.LittleEndian.Uint64(raw[at:])
	}
	var b [8]byte
	copy(b[:], raw[at:])
	return binary.LittleEndian.Uint64(b[:])
}

// unpackDown fills out with codes [from, to) of every column; raw starts at word row first.
func unpackDown(out []float64, raw []byte, cols, bits, from, to, first int) {
	mask := uint64(1)<<bits - 1
	for r := from; r < to; r++ {
		bit := r*bits - 32*first
		w, shift := bit/32, bit%32
		for c := range cols {
			at := (w*cols + c) * 4
			v := uint64(binary.LittleEndian.Uint32(raw[at:])) >> shift
			if shift+bits > 32 {
				v |= uint64(binary.LittleEndian.Uint32(raw[at+4*cols:])) << (32 - shift)
			}
			out[(r-from)*cols+c] = float64(v & mask)
		}
	}
}

// floatOf is the format of a float dtype; a U8 grid of scales is e8m0, which had no dtype of its own.
func floatOf(d safetensors.DType) (format.Format, bool) {
	if d == safetensors.U8 {
		return format.E8M0, true
	}
	f, err := format.ByDType(string(d))
	return f, err == nil
}
