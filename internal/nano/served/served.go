package served

import (
	"fmt"
	"math"

	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
)

// largestInput is what NVFP4's tensor scale of inputs allows for, as internal/inflate writes it.
const largestInput = 64

// New is the model as an engine of a format serves it, with fast operators; another seed is another sound engine.
// Operators that were exchanged in m stay exchanged, and what they return is rounded as well.
//
// It fails where the model's sizes do not fit a block format.
func New(m *nano.Model, f Format, seed uint64) (*nano.Model, error) {
	s := &engine{
		f: f, g: gauge(seed), config: m.Config, inputs: map[*float64]format.Recipe{}, recipes: map[string]format.Recipe{},
	}
	for _, r := range format.Recipes() {
		s.recipes[r.Name] = r
	}
	for _, name := range append(f.weights[:], inputFP8, keptRows, keptKeys) {
		r, ok := s.recipes[name]
		if name == "" || name == bf16 {
			continue
		}
		if !ok {
			return nil, fmt.Errorf("the format %s names a recipe %q, which numerics/format does not have", f.Name, name)
		}
		for _, width := range []int{m.Config.Hidden, m.Config.HeadDim - m.Config.RopeDims, m.Config.IndexDim} {
			if _, err := decoded(make([]float32, width), 1, width, r, 1); err != nil {
				return nil, fmt.Errorf("the format %s does not fit the model: %w", f.Name, err)
			}
		}
	}
	return m.Stored(s.stored).Fast().Around(s.wrap), nil
}

type engine struct {
	f       Format
	g       gauge
	config  nano.Config
	kept    int
	inputs  map[*float64]format.Recipe // by the first element of a quantised weight
	recipes map[string]format.Recipe
}

// stored is a matrix as the format gives it back.
func (s *engine) stored(k nano.Kind, w oracle.Mat) oracle.Mat {
	w = w.Clone()
	c := s.g.factor(weight, s.kept)
	s.kept++
	switch name := s.f.weights[k]; name {
	case "":
	case bf16:
		round(w.Data, format.BF16, c)
	default:
		block(w, 0, w.Cols, s.recipes[name], 0, c)
		in, _ := s.f.quantises(k)
		s.inputs[&w.Data[0]] = s.recipes[in]
	}
	return w
}

// wrap puts the roundings around a pass's operators. What is fp32 in every engine stays: gates, Sinkhorn, router,
// scores.
func (s *engine) wrap(ops oracle.Ops) oracle.Ops {
	in := ops
	out := func(m oracle.Mat) oracle.Mat {
		round(m.Data, s.f.activations, s.g.factor(result, m.Cols))
		return m
	}
	linear := func(x, w oracle.Mat) oracle.Mat {
		if w.Rows == s.config.Experts || w.Rows == s.config.IndexHeads { // router and head weights of the indexer: fp32
			return in.Linear(x, w)
		}
		return out(s.times(in.Linear, x, w))
	}
	ops.Linear = linear
	ops.RMSNorm = func(x oracle.Mat, weight []float64, width int, eps float64) oracle.Mat {
		return out(in.RMSNorm(x, weight, width, eps))
	}
	ops.RotateInterleaved = func(x oracle.Mat, width int, at []int, rope oracle.Rope, inverse bool) oracle.Mat {
		y := out(in.RotateInterleaved(x, width, at, rope, inverse))
		if x.Cols == width && s.f.cache { // one head: a row that is kept
			s.cached(y)
		}
		return y
	}
	if in.HCCollapse != nil {
		ops.HCCollapse = func(x, fn oracle.Mat, scale, base []float64, c oracle.HCConfig) (y, post, comb oracle.Mat) {
			y, post, comb = in.HCCollapse(x, fn, scale, base, c)
			return out(y), post, comb
		}
	}
	ops.HCPre = func(x, pre oracle.Mat) oracle.Mat { return out(in.HCPre(x, pre)) }
	ops.HCPost = func(f, post, comb, x oracle.Mat) oracle.Mat { return out(in.HCPost(f, post, comb, x)) }
	ops.Attention = func(a oracle.AttentionInput) oracle.Mat { return out(in.Attention(a)) }
	ops.GroupedProjection = func(o, w oracle.Mat, groups int) oracle.Mat {
		return out(in.GroupedProjection(s.quantised(o, w), w, groups))
	}
	ops.IndexerLogits = func(q, k, w oracle.Mat, visible []int) oracle.Mat {
		if s.f.cache {
			q = q.Clone()
			for h := 0; h < q.Cols; h += k.Cols {
				block(q, h, k.Cols, s.recipes[keptKeys], 0, s.g.factor(key, h))
			}
		}
		return in.IndexerLogits(q, k, w, visible)
	}
	ops.SwiGLU = func(x oracle.Mat, e oracle.ExpertWeights, limit float64) oracle.Mat {
		g, u := linear(x, e.W1), linear(x, e.W3)
		for i, v := range g.Data {
			if limit > 0 {
				v, u.Data[i] = math.Min(v, limit), math.Max(-limit, math.Min(u.Data[i], limit))
			}
			g.Data[i] = silu(v) * u.Data[i]
		}
		return linear(out(g), e.W2)
	}
	ops.MixExperts = nil // composed, so that what stands between an expert's products is rounded
	return ops
}

// times is a product with the input as the weight's format wants it.
func (s *engine) times(linear func(x, w oracle.Mat) oracle.Mat, x, w oracle.Mat) oracle.Mat {
	if s.f.activations != format.FP32 {
		return linear(s.quantised(x, w), w)
	}
	c := s.g.factor(product, w.Rows)
	if c == 1 {
		return linear(x, w)
	}
	x = x.Clone()
	for i := range x.Data {
		x.Data[i] *= c
	}
	y := linear(x, w)
	for i := range y.Data {
		y.Data[i] /= c
	}
	return y
}

// quantised is the input of a product: itself, or in blocks where the weight is.
func (s *engine) quantised(x, w oracle.Mat) oracle.Mat {
	r, ok := s.inputs[&w.Data[0]]
	if !ok || x.Rows == 0 {
		return x
	}
	x = x.Clone()
	amax := float32(0)
	if r.Block.TensorScale {
		amax = largestInput
	}
	block(x, 0, x.Cols, r, amax, s.g.factor(input, x.Cols))
	return x
}

// cached rounds rows as the caches keep them: index keys whole, others but for their rotated numbers.
func (s *engine) cached(y oracle.Mat) {
	if y.Rows == 0 {
		return
	}
	if y.Cols == s.config.IndexDim {
		block(y, 0, y.Cols, s.recipes[keptKeys], 0, s.g.factor(key, y.Cols))
		return
	}
	block(y, 0, y.Cols-s.config.RopeDims, s.recipes[keptRows], 0, s.g.factor(row, y.Cols))
}
