package nano_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/internal/nano/fast"
	"github.com/assay-suite/assay/oracle"
)

// doubleRounding is what two float64 evaluations of one formula may differ by, of the sum of magnitudes.
const doubleRounding = 1e-13

// shadow runs a model on the oracles and, on the same inputs, a second set of operators, which it holds to bounds.
type shadow struct {
	second   oracle.Ops
	calls    map[string]int
	worst    map[string]float64 // error over bound
	problems []string
}

func (s *shadow) judge(op string, got, want, bound oracle.Mat) {
	s.calls[op]++
	if got.Rows != want.Rows || len(got.Data) != len(want.Data) {
		s.problems = append(s.problems, fmt.Sprintf("%s: %d rows, want %d", op, got.Rows, want.Rows))
		return
	}
	for i, w := range want.Data {
		e := math.Abs(got.Data[i] - w)
		if got.Data[i] == w { // infinities
			continue
		}
		limit := bound.Data[i] + doubleRounding*math.Abs(w) + 0x1p-126
		s.worst[op] = math.Max(s.worst[op], e/limit)
		if !(e <= limit) {
			s.problems = append(s.problems, fmt.Sprintf("%s: element %d is %v, want %v within %.1e", op, i, got.Data[i], w,
				limit))
			return
		}
	}
}

// ops are the oracles, each followed by its shadow.
func (s *shadow) ops() oracle.Ops {
	ops, fast := oracle.Reference(), s.second
	ops.Linear = func(x, w oracle.Mat) oracle.Mat {
		want := oracle.Linear(x, w)
		s.judge("linear", fast.Linear(x, w), want, linearBound(x, w))
		return want
	}
	ops.RMSNorm = func(x oracle.Mat, weight []float64, width int, eps float64) oracle.Mat {
		want := oracle.RMSNorm(x, weight, width, eps)
		s.judge("rmsnorm", fast.RMSNorm(x, weight, width, eps), want, oracle.NewMat(want.Rows, want.Cols))
		return want
	}
	ops.RotateInterleaved = func(x oracle.Mat, width int, positions []int, rope oracle.Rope, inverse bool) oracle.Mat {
		want := oracle.RotateInterleaved(x, width, positions, rope, inverse)
		got := fast.RotateInterleaved(x, width, positions, rope, inverse)
		s.judge("rotate", got, want, scaled(absolute(x), doubleRounding))
		return want
	}
	ops.HCCollapse = func(x, fn oracle.Mat, scale, base []float64, cfg oracle.HCConfig) (y, post, comb oracle.Mat) {
		pre, post, comb := oracle.HCSplit(oracle.HCMix(x, fn, cfg.NormEps), scale, base, cfg)
		y = oracle.HCPre(x, pre)
		gotY, gotPost, gotComb := fast.HCCollapse(x, fn, scale, base, cfg)
		by, bpost, bcomb := collapseBound(x, fn, scale, base, cfg)
		s.judge("collapse y", gotY, y, by)
		s.judge("collapse post", gotPost, post, bpost)
		s.judge("collapse comb", gotComb, comb, bcomb)
		return y, post, comb
	}
	ops.HCPost = func(f, post, comb, x oracle.Mat) oracle.Mat {
		want := oracle.HCPost(f, post, comb, x)
		sum := oracle.HCPost(absolute(f), post, comb, absolute(x))
		s.judge("hc-post", fast.HCPost(f, post, comb, x), want, scaled(sum, doubleRounding))
		return want
	}
	ops.Compress = func(a, g, prevA, prevG oracle.Mat, p oracle.Pooling) oracle.Mat {
		want := oracle.Compress(a, g, prevA, prevG, p)
		s.judge("compress", fast.Compress(a, g, prevA, prevG, p), want, compressBound(a, g, prevA, prevG, p))
		return want
	}
	ops.IndexerLogits = func(q, k, w oracle.Mat, visible []int) oracle.Mat {
		want := oracle.IndexerLogits(q, k, w, visible)
		s.judge("indexer", fast.IndexerLogits(q, k, w, visible), want, indexerBound(q, k, w, visible))
		return want
	}
	ops.SelectRows = func(scores oracle.Mat, visible []int, k int, tie oracle.TieRule) ([][]int, error) {
		var want [][]int
		for t := range scores.Rows {
			row, err := oracle.SelectTopK(scores.Row(t), visible[t], k, tie)
			if err != nil {
				return nil, err
			}
			want = append(want, row)
		}
		got, err := fast.SelectRows(scores, visible, k, tie)
		s.calls["select"]++
		if err != nil || !slices.EqualFunc(got, want, slices.Equal) {
			s.problems = append(s.problems, fmt.Sprintf("select: another set (%v)", err))
		}
		return want, nil
	}
	ops.Attention = func(in oracle.AttentionInput) oracle.Mat {
		want := oracle.Attention(in)
		s.judge("attention", fast.Attention(in), want, attentionBound(in))
		return want
	}
	ops.GroupedProjection = func(o, w oracle.Mat, groups int) oracle.Mat {
		want := oracle.GroupedProjection(o, w, groups)
		bound := scaled(oracle.GroupedProjection(absolute(o), absolute(w), groups), float64(w.Cols+3)*unit)
		s.judge("grouped", fast.GroupedProjection(o, w, groups), want, bound)
		return want
	}
	ops.Route = func(logits oracle.Mat, bias []float64, k int, scaling float64) (oracle.Routing, error) {
		want, err := oracle.Route(logits, bias, k, scaling)
		if err != nil {
			return want, err
		}
		got, err := fast.Route(logits, bias, k, scaling)
		s.calls["route"]++
		if err != nil || !slices.EqualFunc(got.Experts, want.Experts, slices.Equal) ||
			!slices.EqualFunc(got.Weights, want.Weights, slices.Equal) {
			s.problems = append(s.problems, fmt.Sprintf("route: other experts or weights (%v)", err))
		}
		return want, nil
	}
	ops.MixExperts = func(x oracle.Mat, r oracle.Routing, experts []oracle.ExpertWeights, shared oracle.ExpertWeights,
		limit float64,
	) oracle.Mat {
		want := oracle.MixExperts(x, r, experts, shared, limit, oracle.SwiGLU)
		bound := mixExpertsBound(x, r, experts, shared, limit)
		s.judge("experts", fast.MixExperts(x, r, experts, shared, limit), want, bound)
		s.judge("experts one by one", oracle.MixExperts(x, r, experts, shared, limit, fast.SwiGLU), want, bound)
		return want
	}
	return ops
}

// shadowed reads a prompt, in two calls and then token by token at the end, on the oracles with a second set of
// operators beside them.
func shadowed(t *testing.T, m *nano.Model, second oracle.Ops, prompt []int) *shadow {
	t.Helper()
	s := &shadow{second: second, calls: map[string]int{}, worst: map[string]float64{}}
	under := m.With(s.ops())
	state := under.NewState()
	cut := len(prompt) * 2 / 3
	for _, part := range [][]int{prompt[:cut], prompt[cut : len(prompt)-2], prompt[len(prompt)-2 : len(prompt)-1]} {
		_, err := under.Extend(context.Background(), state, part, 1)
		require.NoError(t, err)
	}
	return s
}

// looked are the operators that a shadow judges.
var looked = []string{
	"attention", "collapse comb", "collapse post", "collapse y", "compress", "experts", "experts one by one", "grouped",
	"hc-post", "indexer", "linear", "rmsnorm", "rotate", "route", "select",
}

// Every fast operator MUST be within its derived bound of the oracle's on the inputs that a real prompt gives it, with
// assembly and without.
func TestFastOperatorsAreWithinTheirBounds(t *testing.T) {
	for _, r := range records {
		m := load(t, r.model, oracle.Reference())
		prompt := r.open(t, r.traces)[0].Prompt
		for name, assembly := range map[string]bool{"assembly": true, "go": false} {
			t.Run(r.model+"/"+name, func(t *testing.T) {
				defer fast.Assembly(assembly)()
				s := shadowed(t, m, m.Fast().FastOps(), prompt)
				for _, p := range s.problems {
					t.Error(p)
				}
				require.ElementsMatch(t, looked, slices.Collect(maps.Keys(s.calls)))
				for _, op := range looked {
					t.Logf("%-18s %4d calls, largest error over bound %.2g", op, s.calls[op], s.worst[op])
				}
			})
		}
	}
}

// Operands rounded to bf16 MUST break the bound of every operator that computes in fp32, and an operator in fp32 that
// of those which claim float64.
func TestLocalBoundsRejectLowerPrecision(t *testing.T) {
	m := load(t, "nano-v4", oracle.Reference())
	s := shadowed(t, m, rounded(m.Fast().FastOps()), shortPrompt(t))
	for _, op := range looked {
		if op != "route" && !slices.ContainsFunc(s.problems, func(p string) bool { return strings.HasPrefix(p, op+":") }) {
			t.Errorf("%s passes with rounded operands; error over bound %.2g", op, s.worst[op])
		}
	}
}

// rounded are operators whose first operand is rounded to bf16 or, where float64 is claimed, to fp32.
func rounded(fast oracle.Ops) oracle.Ops {
	to := func(m oracle.Mat, bits uint) oracle.Mat {
		m = m.Clone()
		for i, v := range m.Data {
			m.Data[i] = float64(math.Float32frombits(math.Float32bits(float32(v)) >> bits << bits))
		}
		return m
	}
	bf16 := func(m oracle.Mat) oracle.Mat { return to(m, 16) }
	fp32 := func(m oracle.Mat) oracle.Mat { return to(m, 0) }
	ops := fast
	ops.Linear = func(x, w oracle.Mat) oracle.Mat { return fast.Linear(bf16(x), w) }
	ops.RMSNorm = func(x oracle.Mat, weight []float64, width int, eps float64) oracle.Mat {
		return fast.RMSNorm(fp32(x), weight, width, eps)
	}
	ops.RotateInterleaved = func(x oracle.Mat, width int, at []int, rope oracle.Rope, inverse bool) oracle.Mat {
		return fast.RotateInterleaved(fp32(x), width, at, rope, inverse)
	}
	ops.HCCollapse = func(x, fn oracle.Mat, scale, base []float64, c oracle.HCConfig) (y, post, comb oracle.Mat) {
		return fast.HCCollapse(bf16(x), fn, scale, base, c)
	}
	ops.HCPost = func(f, post, comb, x oracle.Mat) oracle.Mat { return fast.HCPost(fp32(f), post, comb, x) }
	ops.Compress = func(a, g, prevA, prevG oracle.Mat, p oracle.Pooling) oracle.Mat {
		return fast.Compress(bf16(a), g, prevA, prevG, p)
	}
	ops.IndexerLogits = func(q, k, w oracle.Mat, visible []int) oracle.Mat {
		return fast.IndexerLogits(bf16(q), k, w, visible)
	}
	ops.SelectRows = func(scores oracle.Mat, visible []int, k int, tie oracle.TieRule) ([][]int, error) {
		return fast.SelectRows(scores, visible, min(k, 8), tie)
	}
	ops.Attention = func(in oracle.AttentionInput) oracle.Mat {
		in.Window = bf16(in.Window)
		return fast.Attention(in)
	}
	ops.GroupedProjection = func(o, w oracle.Mat, groups int) oracle.Mat {
		return fast.GroupedProjection(bf16(o), w, groups)
	}
	ops.SwiGLU = func(x oracle.Mat, e oracle.ExpertWeights, limit float64) oracle.Mat {
		return fast.SwiGLU(bf16(x), e, limit)
	}
	ops.MixExperts = func(x oracle.Mat, r oracle.Routing, all []oracle.ExpertWeights, shared oracle.ExpertWeights,
		limit float64,
	) oracle.Mat {
		return fast.MixExperts(bf16(x), r, all, shared, limit)
	}
	return ops
}
