package kernels

import (
	"math"
	"math/rand/v2"
)

// Gen draws a case's inputs. Its random numbers follow from the case ID alone (suite.Rand), Gaussians by
// math/rand/v2's NormFloat64 (ziggurat).
type Gen struct {
	*rand.Rand
	Shape Shape
}

// Normal draws n Gaussians of standard deviation sd.
func (g Gen) Normal(n int, sd float64) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(sd * g.NormFloat64())
	}
	return out
}

// Constants of the model family (V4 config: hc_eps, rms_norm_eps, hc_sinkhorn_iters).
const (
	hcEps      = 1e-6
	normEps    = 1e-6
	iterations = 20
)

func (g Gen) attrs() map[string]float64 {
	return map[string]float64{
		"hc_mult": float64(g.Shape.Streams), "sinkhorn_iterations": iterations, "hc_eps": hcEps, "norm_eps": normEps,
	}
}

// pre draws the inputs of mhc_pre. Mixes come out with a standard deviation near 1, scales and bases are off their
// neutral values, so that dropping either shows.
func (g Gen) pre() Problem {
	t, n, c := g.Shape.Tokens, g.Shape.Streams, g.Shape.Width
	m := (2 + n) * n
	return Problem{
		Attrs: g.attrs(),
		Operands: map[string]Operand{
			"x":     {[]int{t, n, c}, g.Normal(t*n*c, 1)},
			"fn":    {[]int{m, n * c}, g.Normal(m*n*c, 1/math.Sqrt(float64(n*c)))},
			"scale": {[]int{3}, []float32{0.8125, 1.375, 1.7}},
			"base":  {[]int{m}, g.Normal(m, 0.5)},
		},
		Layout: map[string]Layout{},
	}
}

// head draws the inputs of mhc_head.
func (g Gen) head() Problem {
	t, n, c := g.Shape.Tokens, g.Shape.Streams, g.Shape.Width
	return Problem{
		Attrs: g.attrs(),
		Operands: map[string]Operand{
			"x":     {[]int{t, n, c}, g.Normal(t*n*c, 1)},
			"fn":    {[]int{n, n * c}, g.Normal(n*n*c, 1/math.Sqrt(float64(n*c)))},
			"scale": {[]int{1}, []float32{1.375}},
			"base":  {[]int{n}, g.Normal(n, 0.5)},
		},
		Layout: map[string]Layout{},
	}
}

// post draws the inputs of mhc_post: gates in (0, 2), comb as a Sinkhorn result of Gaussian logits, which is not symmetric.
func (g Gen) post() Problem {
	t, n, c := g.Shape.Tokens, g.Shape.Streams, g.Shape.Width
	return Problem{
		Attrs: g.attrs(),
		Operands: map[string]Operand{
			"f":    {[]int{t, c}, g.Normal(t*c, 1)},
			"post": {[]int{t, n}, g.gates(t * n)},
			"comb": {[]int{t, n, n}, g.combs(t, n, 2)},
			"x":    {[]int{t, n, c}, g.Normal(t*n*c, 1)},
		},
		Layout: map[string]Layout{},
	}
}

// change applies f to every value of an operand.
func (p Problem) change(name string, f func(i int, v float32) float32) {
	values := p.Operands[name].Values
	for i, v := range values {
		values[i] = f(i, v)
	}
}

func scaledBy(s float32) func(int, float32) float32 {
	return func(_ int, v float32) float32 { return v * s }
}

func absolute(_ int, v float32) float32 { return float32(math.Abs(float64(v))) }
