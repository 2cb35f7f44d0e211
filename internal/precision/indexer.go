package precision

import (
	"fmt"
	"math"

	"github.com/assay-suite/assay/oracle"
)

// indexLayer is one layer's lightning indexer with exact weights. ratio 1 and no gates is V3.2's, whose keys are a
// layer norm of wk·h; its rotation is left out, since it is the same on both sides and orthogonal.
type indexLayer struct {
	prefix                     string // "layers.1.attn.indexer."
	heads, dim, ratio          int
	wqB, proj, wkv, wgate, ape oracle.Mat
	norm, normBias             []float64
	normEps                    float64
	rope                       oracle.Rope

	exactKV, exactGate projected
}

// readIndexer reads the layer of prefix.
func (s *source) readIndexer(prefix string, set settings) (*indexLayer, error) {
	l := &indexLayer{prefix: prefix, ratio: 1, normEps: set.normEps}
	var err error
	read := func(name string) oracle.Mat {
		if err != nil {
			return oracle.Mat{}
		}
		var m oracle.Mat
		m, err = s.all(prefix + name)
		return m
	}
	l.wqB, l.proj = read("wq_b.weight"), read("weights_proj.weight")
	if s.has(prefix + "wk.weight") {
		l.wkv = read("wk.weight")
		l.norm, l.normBias = read("k_norm.weight").Data, read("k_norm.bias").Data
	} else {
		l.wkv, l.wgate, l.ape = read("compressor.wkv.weight"), read("compressor.wgate.weight"), read("compressor.ape")
		l.norm = read("compressor.norm.weight").Data
		l.ratio, l.rope = l.ape.Rows, set.rope
	}
	if err != nil {
		return nil, err
	}
	l.heads, l.dim = l.proj.Rows, len(l.norm)
	l.rope.Dims = min(l.rope.Dims, l.dim)
	switch {
	case l.heads == 0 || l.dim == 0 || l.wqB.Rows != l.heads*l.dim || l.wkv.Cols != l.proj.Cols:
		return nil, fmt.Errorf("%s: wq_b has %d rows for %d heads of %d, wkv %d columns and weights_proj %d: the shapes do "+
			"not fit together", prefix, l.wqB.Rows, l.heads, l.dim, l.wkv.Cols, l.proj.Cols)
	case l.ratio > 1 && (l.wkv.Rows != l.pooling().Channels() || l.wgate.Rows != l.wkv.Rows || l.ape.Cols != l.wkv.Rows):
		return nil, fmt.Errorf("%s: wkv, wgate and ape have %d, %d and %d channels, want %d", prefix, l.wkv.Rows,
			l.wgate.Rows, l.ape.Cols, l.pooling().Channels())
	}
	return l, nil
}

// weight is a projection by the end of its name (indexNames).
func (l *indexLayer) weight(tail string) oracle.Mat {
	switch tail {
	case "wq_b.weight":
		return l.wqB
	case "weights_proj.weight":
		return l.proj
	case "compressor.wgate.weight":
		return l.wgate
	}
	return l.wkv
}

func (l *indexLayer) pooling() oracle.Pooling {
	return oracle.Pooling{Ratio: l.ratio, Width: l.dim, Overlap: l.wkv.Rows == 2*l.dim}
}

// linear is a product under some path.
type linear func(x, w oracle.Mat) (oracle.Mat, error)

func exactly(x, w oracle.Mat) (oracle.Mat, error) { return oracle.Linear(x, w), nil }

// strip is how many tokens are projected at a time: states of all of them are never held.
const strip = 256

// keys makes the index keys of the first n tokens, n a multiple of ratio: [n/ratio, dim]. A nil projection is the exact
// one, which is kept: of two projections one at a time is put on a path.
func (l *indexLayer) keys(h site, n int, kv, gate linear) (oracle.Mat, error) {
	a, err := l.project(h, n, l.wkv, kv, &l.exactKV)
	if err != nil {
		return oracle.Mat{}, err
	}
	if l.ratio == 1 {
		return layerNorm(a, l.norm, l.normBias), nil
	}
	g, err := l.project(h, n, l.wgate, gate, &l.exactGate)
	if err != nil {
		return oracle.Mat{}, err
	}
	g = g.Clone()
	oracle.AddPositionBias(g, l.ape, 0)
	none := oracle.NewMat(0, l.wkv.Rows)
	k := oracle.RMSNorm(oracle.Compress(a, g, none, none, l.pooling()), l.norm, 0, l.normEps)
	at := make([]int, k.Rows)
	for b := range at {
		at[b] = b * l.ratio
	}
	return oracle.RotateInterleaved(k, l.dim, at, l.rope, false), nil
}

// projected is a kept projection and what it was made of.
type projected struct {
	out oracle.Mat
	n   int
	of  *pass
}

// project multiplies the first n rows of h with w, strip by strip.
func (l *indexLayer) project(h site, n int, w oracle.Mat, do linear, kept *projected) (oracle.Mat, error) {
	exact := do == nil
	if exact {
		if kept.n == n && kept.of == h.pass && n > 0 {
			return kept.out, nil
		}
		do = exactly
	}
	out := oracle.Mat{Cols: w.Rows, Data: make([]float64, 0, n*w.Rows)}
	for from := 0; from < n; from += strip {
		y, err := do(h.rows(from, min(from+strip, n)), w)
		if err != nil {
			return oracle.Mat{}, err
		}
		out = out.Append(y)
	}
	if exact {
		*kept = projected{out, n, h.pass}
	}
	return out, nil
}

// layerNorm is V3.2's key norm, eps 1e-6 (DeepSeek-V3.2-Exp inference/model.py).
func layerNorm(x oracle.Mat, weight, bias []float64) oracle.Mat {
	out := oracle.NewMat(x.Rows, x.Cols)
	for t := range x.Rows {
		row, mean, sq := x.Row(t), 0.0, 0.0
		for _, v := range row {
			mean += v / float64(len(row))
		}
		for _, v := range row {
			sq += (v - mean) * (v - mean) / float64(len(row))
		}
		for c, v := range row {
			y := (v - mean) / math.Sqrt(sq+1e-6) * weight[c]
			if c < len(bias) {
				y += bias[c]
			}
			out.Row(t)[c] = y
		}
	}
	return out
}

// queries makes the index queries of tokens at positions: q [T, heads·dim] rotated, w [T, heads] scaled.
func (l *indexLayer) queries(qr, h oracle.Mat, at []int, qb, proj linear) (q, w oracle.Mat, err error) {
	if q, err = qb(qr, l.wqB); err != nil {
		return q, w, err
	}
	if l.ratio > 1 {
		q = oracle.RotateInterleaved(q, l.dim, at, l.rope, false)
	}
	if w, err = proj(h, l.proj); err != nil {
		return q, w, err
	}
	w = w.Clone()
	for i := range w.Data {
		w.Data[i] /= math.Sqrt(float64(l.heads) * float64(l.dim))
	}
	return q, w, nil
}

// hadamard multiplies every width-wide part of the rows with the Sylvester matrix H/sqrt(width): the rotation before
// index keys and queries are quantised (DeepSeek-V4 inference/model.py). A width that is no power of two is left alone.
func hadamard(m oracle.Mat, width int) oracle.Mat {
	if width < 1 || width&(width-1) != 0 {
		return m
	}
	out := m.Clone()
	norm := 1 / math.Sqrt(float64(width))
	for at := 0; at+width <= len(out.Data); at += width {
		v := out.Data[at : at+width]
		for h := 1; h < width; h *= 2 {
			for i := 0; i < width; i += 2 * h {
				for j := i; j < i+h; j++ {
					v[j], v[j+h] = v[j]+v[j+h], v[j]-v[j+h]
				}
			}
		}
		for i := range v {
			v[i] *= norm
		}
	}
	return out
}
