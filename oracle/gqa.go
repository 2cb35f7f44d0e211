package oracle

import (
	"fmt"
	"math"

	"github.com/assay-suite/assay/numerics/format"
)

// GQAInput is attention with grouped heads: H query heads share G key and value heads, H/G in a row
// to each. G = H is MHA, G = 1 MQA. Keys and values are rows of a contiguous cache or the rows of a
// paged one (Paged.Rows with PagedRows), in their own widths.
type GQAInput struct {
	Q              Mat // [T, H·D], rotated
	Heads, KVHeads int
	K, V           Mat       // [S, G·D], [S, G·DV]: real values, or the values of fp8 codes (DecodeCodes)
	KScale, VScale []float64 // [G], or one for all heads, or nil for 1: the scales of the codes
	Rows           [][]int   // [T]: cached rows in reach, from CausalRows, PagedRows or by hand; -1 is no row
	Sink           []float64 // [H] or nil, in the denominator only
	Scale          float64
	SoftCap        float64 // c > 0: scores are c·tanh(z/c)
}

// GQA attends, head h to the keys and values of head g = h·G div H:
//
//	z_s = Scale · KScale[g] · <q, k_s>    o = VScale[g] · sum_s softmax(z)_s v_s
//
// with SoftCap c > 0 on c·tanh(z_s/c) in place of z_s (Gemma 2, arXiv 2408.00118, section 2).
//
// Results: the output [T, H·DV] and the log-sum-exp without the sink in the given form [T, H]. A query
// without rows gives 0. Rows that no query sees are never read.
//
// It fails on heads that do not divide, on scales of another number or that are not positive, and on
// a row outside of the cache.
//
// Source: vLLM and FlashInfer paged attention with k_scale and v_scale (docs/sources.md); the sink as in
// V4 inference/kernel.py.
func GQA(in GQAInput, form LSEForm) (o, lse Mat, err error) {
	h, g := in.Heads, in.KVHeads
	if g < 1 || h%g != 0 || in.Q.Cols%h != 0 || in.K.Cols != in.Q.Cols/h*g || in.V.Cols%g != 0 {
		return Mat{}, Mat{}, fmt.Errorf("gqa: %d heads over %d with rows of %d (q), %d (k) and %d (v) channels do not fit", h,
			g, in.Q.Cols, in.K.Cols, in.V.Cols)
	}
	if err := checkHeadScales("k_scale", in.KScale, g); err != nil {
		return Mat{}, Mat{}, err
	}
	if err := checkHeadScales("v_scale", in.VScale, g); err != nil {
		return Mat{}, Mat{}, err
	}
	for t, rows := range in.Rows {
		for _, s := range rows {
			if s >= in.K.Rows {
				return Mat{}, Mat{}, fmt.Errorf("gqa: query %d attends to row %d of %d", t, s, in.K.Rows)
			}
		}
	}
	d, dv := in.Q.Cols/h, in.V.Cols/g
	s := PartialState{O: NewMat(in.Q.Rows*h, dv), LSE: make([]float64, in.Q.Rows*h)}
	parallel(in.Q.Rows, 4, func(from, to int) {
		for t := from; t < to; t++ {
			for head := range h {
				kv := head * g / h
				q, scale := in.Q.Row(t)[head*d:(head+1)*d], in.Scale*headScale(in.KScale, kv)
				var z []float64
				var values [][]float64
				for _, row := range in.Rows[t] {
					if row >= 0 {
						z = append(z, capped(scale*dot(q, in.K.Row(row)[kv*d:(kv+1)*d]), in.SoftCap))
						values = append(values, in.V.Row(row)[kv*dv:(kv+1)*dv])
					}
				}
				n := t*h + head
				s.LSE[n] = LogSumExp(z, LSEForm{})
				for i, v := range values {
					axpy(headScale(in.VScale, kv)*math.Exp(z[i]-s.LSE[n]), v, s.O.Row(n))
				}
			}
		}
	})
	out := merge([]PartialState{s}, in.Sink, form)
	return Mat{Rows: in.Q.Rows, Cols: h * dv, Data: out.O.Data}, Mat{Rows: in.Q.Rows, Cols: h, Data: out.LSE}, nil
}

func capped(z, c float64) float64 {
	if c > 0 {
		return c * math.Tanh(z/c)
	}
	return z
}

func checkHeadScales(name string, scales []float64, heads int) error {
	if len(scales) > 1 && len(scales) != heads {
		return fmt.Errorf("gqa: %s has %d values for %d heads; one for each or one for all", name, len(scales), heads)
	}
	return positive("gqa: "+name, scales)
}

func headScale(scales []float64, head int) float64 {
	switch len(scales) {
	case 0:
		return 1
	case 1:
		return scales[0]
	}
	return scales[head]
}

// PagedRows turns logical tokens into rows of a paged cache: query t belongs to the sequence
// request[t]. -1 stays -1. It fails on a token without page.
func PagedRows(cache Paged, table PageTable, request []int, logical [][]int) ([][]int, error) {
	out := make([][]int, len(logical))
	for t, tokens := range logical {
		for _, j := range tokens {
			at := -1
			if j != -1 {
				var err error
				if at, err = cache.slot(table[request[t]], j); err != nil {
					return nil, fmt.Errorf("query %d of sequence %d: %w", t, request[t], err)
				}
			}
			out[t] = append(out[t], at)
		}
	}
	return out, nil
}

// DecodeCodes is a matrix [rows, cols] out of the codes of a number format, e.g. the e4m3 codes of a
// key cache, without any scale. It fails when the bytes are not rows·cols elements.
func DecodeCodes(f format.Format, codes []byte, rows, cols int) (Mat, error) {
	values, err := format.DecodeBytes(f, codes)
	if err != nil {
		return Mat{}, err
	}
	if len(values) != rows*cols {
		return Mat{}, fmt.Errorf("codes: %d elements of %s do not fill [%d, %d]", len(values), f, rows, cols)
	}
	return Mat{Rows: rows, Cols: cols, Data: values}, nil
}
