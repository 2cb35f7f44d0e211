package precision

import (
	"context"
	"fmt"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/internal/trace"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/oracle"
)

// What the exact side computes from a checkpoint and captured states is what Hugging Face computed in the same pass. It
// ran in fp32: γ_n(2^-24) of sums of at most 512 products, three of them in a row, stays below 1e-4 of a tensor's
// norm.
const recordedLimit = 1e-4

func agree(t *testing.T, what string, got, want oracle.Mat) {
	t.Helper()
	require.Len(t, got.Data, len(want.Data), what)
	require.NotEmpty(t, want.Data, what)
	if r := numerics.RelL2(got.Data, want.Data); !(r < recordedLimit) {
		t.Errorf("%s: relative L2 against the recorded pass %.3g, want below %g", what, r, recordedLimit)
	}
}

func TestExactHyperConnectionsAndGatesAreTheRecordedOnes(t *testing.T) {
	tr, err := trace.Open(fixtures.FS, traces[0])
	require.NoError(t, err)
	m := newMeter(t, "nano-v4", captured(t, traces[0]))
	for l := range 4 {
		for _, part := range []string{"attn", "ffn"} {
			canon := fmt.Sprintf("layers.%d.hc_%s_fn", l, part)
			h, err := m.readMix(canon)
			require.NoError(t, err)
			s := m.enters(canon, module(canon, part+"_hc.in.0"), h.fn.Cols, 1)
			require.True(t, s.captured)
			require.Equal(t, 67, s.n)
			x := s.rows(0, s.n)
			g := h.gates(x, oracle.Linear(x, h.fn))
			agree(t, canon+" post", g[1], tr.Mat(module(canon, part+"_hc.out.0"), 4))
			agree(t, canon+" comb", g[2], tr.Mat(module(canon, part+"_hc.out.1"), 16))
			agree(t, canon+" pre", oracle.HCPre(x, g[0]), tr.Mat(module(canon, part+"_hc.out.2"), 0))
		}
		canon := fmt.Sprintf("layers.%d.ffn.gate.weight", l)
		w, err := m.all(canon)
		require.NoError(t, err)
		s := m.enters(canon, module(canon, "post_attention_layernorm.out"), w.Cols, 1)
		logits := oracle.Linear(s.rows(0, s.n), w)
		agree(t, canon, logits, tr.Mat(module(canon, "mlp.gate.out.0"), 0))
		if m.has(fmt.Sprintf("layers.%d.ffn.gate.tid2eid", l)) {
			continue
		}
		bias, err := m.all(fmt.Sprintf("layers.%d.ffn.gate.bias", l))
		require.NoError(t, err)
		got, err := m.set.experts(logits, bias.Data)
		require.NoError(t, err)
		assert.Equal(t, tr.Sets(module(canon, "mlp.gate.out.2")), got, canon)
	}
	assert.Empty(t, m.notes)
}

func TestExactIndexerIsTheRecordedOne(t *testing.T) {
	for _, layer := range []int{1, 3} {
		prefix := fmt.Sprintf("layers.%d.attn.indexer.", layer)
		scorer := module(prefix, "self_attn.compressor.indexer.scorer.")
		for i, name := range traces {
			tr, err := trace.Open(fixtures.FS, name)
			require.NoError(t, err)
			m := newMeter(t, "nano-v4", captured(t, name))
			l, err := m.readIndexer(prefix, m.set)
			require.NoError(t, err)
			u, whole, _, err := m.ask(l)
			require.NoError(t, err)
			if i == 0 {
				require.Same(t, u, whole)
				agree(t, prefix+"keys", u.k, tr.Mat(scorer+"in.1", l.dim))
			} else {
				require.Nil(t, whole, "24 of 391 positions do not make 97 keys")
			}
			last := func(x oracle.Mat) oracle.Mat { return x.Slice(x.Rows-u.q.Rows, x.Rows) }
			agree(t, prefix+"queries", u.q, last(tr.Mat(scorer+"in.0", l.heads*l.dim)))
			recorded := last(tr.Mat(scorer+"out", 0))
			var got, want oracle.Mat
			for r := range u.scores.Rows { // masked scores are -Inf here and a large negative number there
				got.Data = append(got.Data, u.scores.Row(r)[:u.visible[r]]...)
				want.Data = append(want.Data, recorded.Row(r)[:u.visible[r]]...)
			}
			agree(t, prefix+"scores", got, want)
			sets := tr.Sets(module(prefix, "self_attn.compressor.indexer.out"))
			for r, want := range sets[len(sets)-u.q.Rows:] {
				got, err := oracle.SelectTopK(u.scores.Row(r), u.visible[r], m.set.indexTopK, oracle.LowestIndex)
				require.NoError(t, err)
				assert.Equal(t, want, got, "%s row %d of %s", prefix, r, name)
			}
			// The recorded attention looks at selected rows only, and its weights sum to less than 1 for the sink's share.
			require.NotNil(t, u.mass)
			row := u.q.Rows - 1
			var on, off float64
			chosen := sets[len(sets)-1]
			for s := range u.k.Rows {
				if _, in := find(chosen, s); in {
					on += u.mass(row, s)
				} else {
					off += u.mass(row, s)
				}
			}
			assert.Zero(t, off, "attention outside the recorded selection")
			assert.True(t, on > 0 && on < 1, "attention on compressed rows is %v", on)
		}
	}
}

func find(set []int, v int) (int, bool) {
	for i, s := range set {
		if s == v {
			return i, true
		}
	}
	return 0, false
}

// The needle of each trace lies where its digits are in the prompt, and the question finds it near the top.
func TestNeedleOfATraceIsItsBlock(t *testing.T) {
	for _, row := range []struct {
		name          string
		position, key int
	}{{traces[0], 18, 4}, {traces[1], 83, 20}} {
		s := captured(t, row.name)
		assert.Equal(t, row.position, s.passes[0].needle)
		m := newMeter(t, "nano-v4", s)
		l, err := m.readIndexer("layers.3.attn.indexer.", m.set)
		require.NoError(t, err)
		u, _, _, err := m.ask(l)
		require.NoError(t, err)
		assert.Equal(t, row.key, u.needle(u.q.Rows-1))
		assert.Equal(t, -1, u.needle(0))
	}
}

// Relative errors of the mHC mix at K = 16,384 on an H200, as fixtures/README.md records them: TF32 1.9e-4, bf16
// 2.3e-3. The relative error of rounding operands does not depend on K; x1.5 is the rule of rho tables.
func TestPathErrorsAreThoseOfTheHardware(t *testing.T) {
	x, w := drawn("precision/test/x", 0, 8, 2048), oracle.NewMat(24, 2048)
	for i, v := range drawn("precision/test/w", 0, 24, 2048).Data {
		w.Data[i] = float64(float32(v * 1.2345678)) // fp32, not bf16
	}
	fp32, err := Paths()[0].Contract.GemmBounds(x.Data, w.Data, 8, 24, 2048, risk)
	require.NoError(t, err)
	want := map[string]float64{"tf32": 1.9e-4, "bf16": 2.3e-3}
	for _, p := range Paths() {
		r, err := p.product("test", Emulate, x, w, fp32)
		require.NoError(t, err)
		if v := want[p.Name]; v > 0 && !(r.relL2 < 1.5*v && r.relL2 > v/1.5) {
			t.Errorf("%s: relative L2 %.3g, recorded %.3g", p.Name, r.relL2, v)
		}
		if !(r.rho <= 1) || r.verdict != "" {
			t.Errorf("%s leaves its own bound: rho %v, %s", p.Name, r.rho, r.verdict)
		}
		if (r.beyond > 1) != (p.Name != "fp32") {
			t.Errorf("%s is %v fp32 bounds away", p.Name, r.beyond)
		}
	}
}

// A pass that the model itself makes over the prompt of a trace has the states that were captured, at all positions:
// then the keys of the long prompt can be made, too.
func TestRecordedPassIsTheCapturedOne(t *testing.T) {
	folder, err := fs.Sub(fixtures.FS, "nano-v4")
	require.NoError(t, err)
	model, err := nano.Load(folder, oracle.Reference())
	require.NoError(t, err)
	tr, err := trace.Open(fixtures.FS, traces[1])
	require.NoError(t, err)
	s, err := Record(context.Background(), model, tr.Prompt, 83)
	require.NoError(t, err)
	name := "model.layers.2.ffn_hc.in.0"
	x := s.at(name, 512, 0)
	require.Equal(t, 391, x.n)
	agree(t, name, x.rows(391-24, 391), tr.Mat(name, 512))
	m := newMeter(t, "nano-v4", s)
	rows, err := m.indexer("layers.3.attn.indexer.", true)
	require.NoError(t, err)
	for _, r := range rows {
		require.Equal(t, []int{16, 32, 64}, r.sizes(), "%s %s", r.Tensor, r.Path)
		if r.Path == "fp32" {
			assert.Equal(t, 1.0, r.Numbers["jaccard-min-64"], r.Tensor)
		}
	}
	assert.Empty(t, m.notes)
}
