package layers_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/numerics/layers"
	"github.com/assay-suite/assay/oracle"
)

// sublayers is how many hyper-connections nano-v4 has: attention and experts in each of 4 layers. A state stands after
// each.
const sublayers = 8

// sparseRatio is the compression of nano-v4's layers with an indexer, numbers 1 and 3.
const sparseRatio = 4

// loaded reads the checkpoint once for all tests.
var loaded = sync.OnceValues(func() (*nano.Model, error) {
	sub, err := fs.Sub(fixtures.FS, "nano-v4")
	if err != nil {
		return nil, err
	}
	return nano.Load(sub, oracle.Reference())
})

func model(t testing.TB) *nano.Model {
	t.Helper()
	m, err := loaded()
	require.NoError(t, err)
	return m
}

// in puts a variant into the model's operators: the mixing GEMM of every hyper-connection and of the head, or every
// other product with a weight (projections, compressors, indexer, router, experts, lm_head), or the cast of the
// residual.
func (v variant) in(ops oracle.Ops) oracle.Ops {
	if v.mix != nil {
		ops.HCMix = oracle.HCMixWith(v.mix)
	}
	if v.linear != nil {
		ops.Linear = v.linear
		ops.GroupedProjection = grouped(v.linear)
		ops.SwiGLU = swiglu(v.linear)
	}
	if post := ops.HCPost; v.residual != nil {
		ops.HCPost = func(f, p, comb, x oracle.Mat) oracle.Mat {
			out := post(f, p, comb, x)
			v.residual(out.Data)
			return out
		}
	}
	return ops
}

// grouped is oracle.GroupedProjection on another GEMM.
func grouped(g gemm) func(o, woA oracle.Mat, groups int) oracle.Mat {
	return func(o, woA oracle.Mat, groups int) oracle.Mat {
		rank, width := woA.Rows/groups, o.Cols/groups
		out := oracle.NewMat(o.Rows, woA.Rows)
		for i := range groups {
			part := oracle.NewMat(o.Rows, width)
			for t := range o.Rows {
				copy(part.Row(t), o.Row(t)[i*width:])
			}
			u := g(part, woA.Slice(i*rank, (i+1)*rank))
			for t := range o.Rows {
				copy(out.Row(t)[i*rank:], u.Row(t))
			}
		}
		return out
	}
}

// swiglu is oracle.SwiGLU on another GEMM: the products in reduced precision between float64 activations.
func swiglu(g gemm) func(x oracle.Mat, e oracle.ExpertWeights, limit float64) oracle.Mat {
	return func(x oracle.Mat, e oracle.ExpertWeights, limit float64) oracle.Mat {
		gate, up := g(x, e.W1), g(x, e.W3)
		for i, z := range gate.Data {
			u := up.Data[i]
			if limit > 0 {
				z, u = min(z, limit), max(-limit, min(u, limit))
			}
			gate.Data[i] = silu(z) * u
		}
		return g(gate, e.W2)
	}
}

// tap watches one pass of a model through its operators, and may hold it to given states.
type tap struct {
	states    []oracle.Mat            // after each sublayer
	scores    []oracle.Mat            // of the indexer, by sparse layer
	attention []oracle.AttentionInput // of the sparse layers
	force     []oracle.Mat            // if set, what the next sublayer is given instead of states[i]
	probe     float64                 // if set, the size of a change to the first state
}

func (p *tap) in(ops oracle.Ops) oracle.Ops {
	post, logits, attention := ops.HCPost, ops.IndexerLogits, ops.Attention
	ops.HCPost = func(f, w, comb, x oracle.Mat) oracle.Mat {
		out := post(f, w, comb, x)
		if p.probe != 0 && len(p.states) == 0 {
			out.Data = layers.Perturb(out.Data, out.Rows, p.probe, 1)
		}
		p.states = append(p.states, out)
		if p.force != nil {
			return p.force[len(p.states)-1]
		}
		return out
	}
	ops.IndexerLogits = func(q, k, w oracle.Mat, visible []int) oracle.Mat {
		out := logits(q, k, w, visible)
		p.scores = append(p.scores, out)
		return out
	}
	ops.Attention = func(in oracle.AttentionInput) oracle.Mat {
		if len(p.attention) < len(p.scores) { // the layer has just scored
			p.attention = append(p.attention, in)
		}
		return attention(in)
	}
	return ops
}

// pass runs ids through the model under a variant, with the indexer choosing k rows, and returns the last logits.
func (p *tap) pass(m *nano.Model, v variant, k int, ids []int, last int) ([][]float64, error) {
	run := m.With(p.in(v.in(m.Ops())))
	run.Config.TopK = k // With made a copy
	return run.Extend(context.Background(), run.NewState(), ids, last)
}

func (p *tap) data() [][]float64 {
	out := make([][]float64, len(p.states))
	for i, s := range p.states {
		out[i] = s.Data
	}
	return out
}

// question is one recorded prompt with its needle and the digits that Hugging Face answered.
type question struct {
	ids, code []int
	needle    int // position of the code's first digit
}

// questions are the recorded prompts with the given indices.
func questions(t testing.TB, index ...int) []question {
	t.Helper()
	raw, err := fixtures.ReadFile(fixtures.FS, "nano-v4/hf_greedy.json.gz")
	require.NoError(t, err)
	var all []struct {
		Prompt []int `json:"prompt"`
		Code   []int `json:"code"`
	}
	require.NoError(t, json.Unmarshal(raw, &all))
	var out []question
	for _, i := range index {
		q := question{ids: all[i].Prompt, code: all[i].Code, needle: -1}
		for p := range len(q.ids) - len(q.code) {
			if slices.Equal(q.ids[p:p+len(q.code)], q.code) {
				q.needle = p
				break
			}
		}
		require.GreaterOrEqual(t, q.needle, 0, "prompt %d of hf_greedy.json holds its code", i)
		out = append(out, q)
	}
	return out
}
