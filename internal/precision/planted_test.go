package precision

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
)

// broken measures the hyper-connections and gates of nano-v4 with a candidate and counts broken rows by path.
func broken(t *testing.T, do Candidate) map[string]int {
	t.Helper()
	m := newMeter(t, "nano-v4", captured(t, traces[0]))
	m.o.Candidate = do
	out := map[string]int{}
	for _, canon := range []string{"layers.0.hc_attn_fn", "layers.3.hc_ffn_fn", "hc_head_fn"} {
		rows, err := m.mix(canon)
		require.NoError(t, err)
		for _, r := range rows {
			assert.Equal(t, r.Numbers["rho"] > 1, r.Broken(), "%s %s", r.Tensor, r.Path)
			if r.Broken() {
				out[r.Path]++
			}
		}
	}
	return out
}

func TestAPathThatDoesAsItDeclaresIsNotBroken(t *testing.T) {
	assert.Empty(t, broken(t, Emulate))
}

func TestBF16SoldAsFP32Breaks(t *testing.T) {
	got := broken(t, func(tensor string, p Path, x, w oracle.Mat) (oracle.Mat, error) {
		if p.Name == "fp32" {
			p.Contract = numerics.MHCBF16()
		}
		return Emulate(tensor, p, x, w)
	})
	assert.Equal(t, map[string]int{"fp32": 3}, got)
}

func TestSwappedScalesBreak(t *testing.T) {
	got := broken(t, func(tensor string, p Path, x, w oracle.Mat) (oracle.Mat, error) {
		if p.Name != "mxfp4" {
			return Emulate(tensor, p, x, w)
		}
		r, err := format.RecipeByName(p.W)
		if err != nil {
			return w, err
		}
		single := make([]float32, len(w.Data))
		for i, v := range w.Data {
			single[i] = float32(v)
		}
		q, err := r.Quantise(single, w.Rows, w.Cols)
		if err != nil {
			return w, err
		}
		for i := 1; i < len(q.Scales); i++ { // two blocks of one row with unequal scales
			if q.Scales[i] != q.Scales[i-1] && i%(w.Cols/32) != 0 {
				q.Scales[i], q.Scales[i-1] = q.Scales[i-1], q.Scales[i]
				break
			}
		}
		swapped := oracle.Mat{Rows: w.Rows, Cols: w.Cols}
		if swapped.Data, err = r.Block.Decode(q); err != nil {
			return w, err
		}
		out, err := p.Contract.Gemm(x.Data, swapped.Data, x.Rows, w.Rows, x.Cols)
		return oracle.Mat{Rows: x.Rows, Cols: w.Rows, Data: out}, err
	})
	assert.Equal(t, map[string]int{"mxfp4": 3}, got)
}

func TestAnEqualReorderingDoesNotBreak(t *testing.T) {
	got := broken(t, func(_ string, p Path, x, w oracle.Mat) (oracle.Mat, error) {
		sx, sw, err := p.stored(x, w)
		if err != nil {
			return x, err
		}
		perm := rand.New(rand.NewPCG(7, 7)).Perm(x.Cols)
		out, err := p.Contract.Gemm(permuted(sx, perm), permuted(sw, perm), x.Rows, w.Rows, x.Cols)
		return oracle.Mat{Rows: x.Rows, Cols: w.Rows, Data: out}, err
	})
	assert.Empty(t, got)
}

func permuted(m oracle.Mat, perm []int) []float64 {
	var out []float64
	for i := range m.Rows {
		for _, k := range perm {
			out = append(out, m.Row(i)[k])
		}
	}
	return out
}

func TestABrokenRowComesFirstAndNamesItsContract(t *testing.T) {
	bad := func(tensor string, p Path, x, w oracle.Mat) (oracle.Mat, error) {
		if p.Name == "fp32" && tensor == "layers.2.ffn.gate.weight" {
			p.Contract = numerics.MHCBF16()
		}
		return Emulate(tensor, p, x, w)
	}
	r, err := Measure(context.Background(), shipped(t, "nano-v4"), captured(t, traces[0]), Options{
		Config:    nanoConfig(t),
		Candidate: bad,
		Tokens:    4,
	})
	require.NoError(t, err)
	require.Equal(t, 1, r.Broken())
	assert.Equal(t, "layers.2.ffn.gate.weight", r.Rows[0].Tensor)
	assert.Contains(t, r.Rows[0].Verdict, `"fp32"`)
	res, err := r.Rows[0].Ledger("nano-v4")
	require.NoError(t, err)
	require.NoError(t, res.Validate())
	assert.Equal(t, "precision/nano-v4/layers.2.ffn.gate.weight/fp32", res.Case)
	assert.Contains(t, r.Report("nano-v4", time.Time{}).Verdict.Text, "1 of")
}

func TestACandidateOfTheWrongShapeIsRefused(t *testing.T) {
	m := newMeter(t, "nano-v4", captured(t, traces[0]))
	m.o.Candidate = func(string, Path, oracle.Mat, oracle.Mat) (oracle.Mat, error) { return oracle.NewMat(1, 1), nil }
	_, err := m.mix("hc_head_fn")
	require.ErrorContains(t, err, "returned [1, 1], want [8, 4]")
}
