package nano_test

import (
	"math"

	"github.com/assay-suite/assay/oracle"
)

// unit is fp32's unit roundoff. The bounds here are those in the comments of internal/nano/fast, by element.
const unit = 1.0 / (1 << 24)

func absolute(m oracle.Mat) oracle.Mat {
	a := m.Clone()
	for i, v := range a.Data {
		a.Data[i] = math.Abs(v)
	}
	return a
}

func scaled(m oracle.Mat, by float64) oracle.Mat {
	for i := range m.Data {
		m.Data[i] *= by
	}
	return m
}

// linearBound is (K+3)·u·Σ|x·w|.
func linearBound(x, w oracle.Mat) oracle.Mat {
	return scaled(oracle.Linear(absolute(x), absolute(w)), float64(x.Cols+3)*unit)
}

// swiGLUBound carries linear's bound of gate and up through silu, whose slope is at most 1.1, and the last product.
func swiGLUBound(x oracle.Mat, e oracle.ExpertWeights, limit float64) oracle.Mat {
	g, u := oracle.Linear(x, e.W1), oracle.Linear(x, e.W3)
	bg, bu := linearBound(x, e.W1), linearBound(x, e.W3)
	off := oracle.NewMat(g.Rows, g.Cols)
	for i := range g.Data {
		gate, up := math.Min(g.Data[i], limit), math.Max(-limit, math.Min(u.Data[i], limit))
		silu := gate / (1 + math.Exp(-gate))
		off.Data[i] = 1.1*bg.Data[i]*(math.Abs(up)+bu.Data[i]) + bu.Data[i]*math.Abs(silu) + 16*unit*math.Abs(silu*up)
		g.Data[i] = silu * up
	}
	w := absolute(e.W2)
	bound := oracle.Linear(off, w)
	for i, v := range linearBound(g, e.W2).Data {
		bound.Data[i] = 1.01*bound.Data[i] + v
	}
	return bound
}

func mixExpertsBound(x oracle.Mat, r oracle.Routing, experts []oracle.ExpertWeights, shared oracle.ExpertWeights,
	limit float64,
) oracle.Mat {
	return oracle.MixExperts(x, r, experts, shared, limit, swiGLUBound) // weights are positive
}

// attentionBound is 2((D+8)·Z + n + 8)·u·Σp|kv|.
func attentionBound(in oracle.AttentionInput) oracle.Mat {
	p := oracle.AttentionWeights(in)
	heads := len(in.Sink)
	width := in.Q.Cols / heads
	rows := absolute(oracle.NewMat(0, width).Append(in.Window).Append(in.Compressed))
	q := absolute(in.Q)
	bound := oracle.NewMat(in.Q.Rows, in.Q.Cols)
	for t := range q.Rows {
		for h := range heads {
			largest, n := 0.0, 0
			out := bound.Row(t)[h*width : (h+1)*width]
			for i, weight := range p.Row(h*q.Rows + t) {
				if weight == 0 {
					continue
				}
				n++
				z := 0.0
				for d, v := range rows.Row(i) {
					z += v * q.Row(t)[h*width+d]
					out[d] += weight * v
				}
				largest = math.Max(largest, in.Scale*z)
			}
			for d := range out {
				out[d] *= 2 * (float64(width+8)*largest + float64(n+8)) * unit
			}
		}
	}
	return bound
}

// indexerBound is (D+8)·u·Σ|w|·Σ|q·k|, 0 where the logit is -Inf.
func indexerBound(q, k, w oracle.Mat, visible []int) oracle.Mat {
	b := scaled(oracle.IndexerLogits(absolute(q), absolute(k), absolute(w), visible), float64(k.Cols+8)*unit)
	for i, v := range b.Data {
		if math.IsInf(v, -1) {
			b.Data[i] = 0
		}
	}
	return b
}

// compressBound is 2(2G + n + 10)·u·Σp|a| with G the largest |gate| of all.
func compressBound(a, g, prevA, prevG oracle.Mat, p oracle.Pooling) oracle.Mat {
	largest := math.Max(g.MaxAbs(), prevG.MaxAbs())
	return scaled(oracle.Compress(absolute(a), g, absolute(prevA), prevG, p),
		2*(2*largest+float64(2*p.Ratio+10))*unit)
}

// collapseBound propagates linear's bound of the mixes through gates and Sinkhorn by their derivatives, taken
// numerically; results y, post, comb.
func collapseBound(x, fn oracle.Mat, scale, base []float64, cfg oracle.HCConfig) (y, post, comb oracle.Mat) {
	mixes, off := oracle.HCMix(x, fn, cfg.NormEps), linearBound(x, fn)
	n := cfg.Streams
	y, post, comb = oracle.NewMat(x.Rows, x.Cols/n), oracle.NewMat(x.Rows, n), oracle.NewMat(x.Rows, n*n)
	const step = 1e-6
	for t := range x.Rows {
		squares := 0.0
		for _, v := range x.Row(t) {
			squares += v * v
		}
		inverse := 1 / math.Sqrt(squares/float64(x.Cols)+cfg.NormEps)
		at := oracle.Mat{Rows: 1, Cols: mixes.Cols, Data: append([]float64(nil), mixes.Row(t)...)}
		pre0, post0, comb0 := oracle.HCSplit(at, scale, base, cfg)
		preOff := oracle.NewMat(1, n)
		for i := range at.Data {
			at.Data[i] += step
			pre1, post1, comb1 := oracle.HCSplit(at, scale, base, cfg)
			at.Data[i] -= step
			by := 1.05 * off.Row(t)[i] * inverse / step
			for j := range n {
				preOff.Data[j] += math.Abs(pre1.Data[j]-pre0.Data[j]) * by
				post.Row(t)[j] += math.Abs(post1.Data[j]-post0.Data[j]) * by
			}
			for j := range comb0.Data {
				comb.Row(t)[j] += math.Abs(comb1.Data[j]-comb0.Data[j]) * by
			}
		}
		copy(y.Row(t), oracle.HCPre(absolute(x.Slice(t, t+1)), preOff).Data)
	}
	return y, post, comb
}
