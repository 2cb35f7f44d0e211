package layers_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/numerics/layers"
	"github.com/assay-suite/assay/oracle"
)

// The width and depth of V4-Flash (config.json: hidden_size 4096, hc_mult 4, num_hidden_layers 43). One
// hyper-connection and one sublayer a layer, where the model has two.
const (
	flashLayers = 43
	flashHidden = 4096
	flashRank   = 64
	flashTokens = 4
	// Massive activations: a few channels some thirty times as large as the rest in every token.
	outliers      = 8
	outlierFactor = 30
)

var flashHC = oracle.HCConfig{Streams: 4, Iterations: 20, Eps: 1e-6, NormEps: 1e-6}

// variant is where a stack leaves float64: in the mixing GEMM, in the products of the sublayer, or in the cast of the
// residual. nil stays exact.
type variant struct {
	mix, linear gemm
	residual    func([]float64)
}

// flashStack makes the weights of one layer at a time: all candidates stand at the same depth.
type flashStack struct {
	seed string

	mu    sync.Mutex
	at    int
	layer *flashLayer
}

type flashLayer struct {
	fn          oracle.Mat // [24, 16384]
	scale, base []float64
	down, up    oracle.Mat // [64, 4096], [4096, 64]
}

// weights are drawn with the spread that the mixes have in nano-v4: fn with sqrt(K)·rms = 2.7, base 0.2, scale 0.4, so
// that the gates' logits spread about 1. fn is fp32, the map's matrices bf16, as checkpoints store them. The rows of up
// that write the outlier channels are larger, so that they stay outliers at every depth.
func (s *flashStack) weights(l int) *flashLayer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.layer != nil && s.at == l {
		return s.layer
	}
	rng := suite.Rand(fmt.Sprintf("%s/layer-%d", s.seed, l))
	n := flashHC.Streams
	width := n * flashHidden
	w := &flashLayer{
		fn:    gaussian(rng, (2+n)*n, width, 2.7/math.Sqrt(float64(width))),
		scale: []float64{0.4, 0.4, 0.4},
		base:  gaussian(rng, 1, (2+n)*n, 0.2).Data,
		down:  gaussian(rng, flashRank, flashHidden, 1/math.Sqrt(flashHidden)),
		up:    gaussian(rng, flashHidden, flashRank, 1/math.Sqrt(flashRank)),
	}
	for _, c := range outlierChannels() {
		for k := range w.up.Row(c) {
			w.up.Row(c)[k] *= outlierFactor
		}
	}
	format.FP32.RoundSlice(w.fn.Data)
	format.BF16.RoundSlice(w.down.Data)
	format.BF16.RoundSlice(w.up.Data)
	s.at, s.layer = l, w
	return w
}

// start is the embedding of each token, copied to every stream.
func (s *flashStack) start() []float64 {
	n := flashHC.Streams
	e := gaussian(suite.Rand(s.seed+"/start"), flashTokens, flashHidden, 1)
	x := oracle.NewMat(flashTokens, n*flashHidden)
	for t := range flashTokens {
		for _, c := range outlierChannels() {
			e.Row(t)[c] *= outlierFactor
		}
		for j := range n {
			copy(x.Row(t)[j*flashHidden:], e.Row(t))
		}
	}
	format.BF16.RoundSlice(x.Data)
	return x.Data
}

// run is the stack's step under a variant: hyper-connection around RMSNorm and a rank-64 SiLU map.
func (s *flashStack) run(v variant) layers.Layer {
	mix, linear := oracle.Linear, oracle.Linear
	if v.mix != nil {
		mix = v.mix
	}
	if v.linear != nil {
		linear = v.linear
	}
	return func(l int, state []float64) ([]float64, error) {
		w := s.weights(l)
		x := oracle.Mat{Rows: flashTokens, Cols: flashHC.Streams * flashHidden, Data: state}
		pre, post, comb := oracle.HCSplit(oracle.HCMixWith(mix)(x, w.fn, flashHC.NormEps), w.scale, w.base, flashHC)
		h := oracle.RMSNorm(oracle.HCPre(x, pre), nil, flashHidden, flashHC.NormEps)
		a := linear(h, w.down)
		for i, z := range a.Data {
			a.Data[i] = silu(z)
		}
		out := oracle.HCPost(linear(a, w.up), post, comb, x).Data
		if v.residual != nil {
			v.residual(out)
		}
		return out, nil
	}
}

func outlierChannels() []int {
	c := make([]int, outliers)
	for i := range c {
		c[i] = 37 + i*flashHidden/outliers
	}
	return c
}

func gaussian(rng *rand.Rand, rows, cols int, sd float64) oracle.Mat {
	m := oracle.NewMat(rows, cols)
	for i := range m.Data {
		m.Data[i] = sd * rng.NormFloat64()
	}
	return m
}

func silu(z float64) float64 { return z / (1 + math.Exp(-z)) }
