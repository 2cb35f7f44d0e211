package llama_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/internal/nano/llama"
	"github.com/assay-suite/assay/oracle"
	"github.com/assay-suite/assay/safetensors"
)

// traceBound holds residuals of up to 1,300 and logits of up to 40 in float64: sums of a few thousand terms in another
// order (1e-16 of 1,300 each), amplified by four layers as chunkBound is. The rotary angles are the same fp32 numbers.
const traceBound = 1e-8

// The forward pass MUST give the logits and the residual stream after every layer of the one in numpy float64.
func TestTraceOfNumpy(t *testing.T) {
	lengths := []int{128, 512}
	if full() {
		lengths = append(lengths, 2048)
	}
	if off := traceOff(t, load(t), lengths, t.Logf); !(off <= traceBound) {
		t.Errorf("off by %.1e, bound %.0e", off, traceBound)
	}
}

// Changed configs are other functions, and the trace MUST tell.
func TestTraceRejectsAnotherFunction(t *testing.T) {
	for name, change := range map[string]string{
		"rope_theta 100000":  `"rope_theta": 100000`,
		"norm eps 1e-6":      `"rms_norm_eps": 1e-06`,
		"key head of others": `"num_key_value_heads": 1, "unused": 2`,
	} {
		folder, err := fs.Sub(fixtures.FS, "nano-llama")
		require.NoError(t, err)
		changed := fstest.MapFS{}
		for _, f := range []string{"config.json", "model.safetensors"} {
			raw, err := fs.ReadFile(folder, f)
			require.NoError(t, err)
			changed[f] = &fstest.MapFile{Data: raw}
		}
		changed["config.json"] = &fstest.MapFile{Data: replaceField(t, changed["config.json"].Data, change)}
		m, err := llama.Load(changed)
		if err != nil {
			t.Logf("%s: refused: %v", name, err)
			continue
		}
		off := traceOff(t, m, []int{128}, func(string, ...any) {})
		if off <= traceBound {
			t.Errorf("%s passes: off by %.1e only", name, off)
		}
		t.Logf("%s: off by %.1e", name, off)
	}
}

func traceOff(t *testing.T, m *llama.Model, lengths []int, logf func(string, ...any)) float64 {
	t.Helper()
	f, err := safetensors.OpenFS(fixtures.FS, "nano-llama/trace.safetensors")
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	worst := 0.0
	for _, n := range lengths {
		wide, err := f.Int64s(fmt.Sprintf("%d.ids", n))
		require.NoError(t, err)
		wantLogits, err := f.Float64s(fmt.Sprintf("%d.logits", n))
		require.NoError(t, err)
		wantStates, err := f.Float64s(fmt.Sprintf("%d.states", n))
		require.NoError(t, err)
		ids := make([]int, len(wide))
		for i, id := range wide {
			ids[i] = int(id)
		}
		const last = 2
		logits, after, err := m.States(ids, last)
		require.NoError(t, err)
		var states []float64
		for _, x := range after {
			states = append(states, x.Data[(x.Rows-last)*x.Cols:]...)
		}
		l, s := farthest(flat(logits), wantLogits), farthest(states, wantStates)
		logf("%d tokens: logits within %.1e, residuals within %.1e (bound %.0e)", len(ids), l, s, traceBound)
		worst = max(worst, l, s)
	}
	return worst
}

// Blocks of queries over the cache MUST be the oracle's grouped attention.
func TestAttentionIsTheOracles(t *testing.T) {
	m := load(t)
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range [][2]int{{1, 1}, {1, 200}, {64, 64}, {65, 130}, {130, 131}} {
		queries, keys := size[0], size[1]
		q, k, v := gaussian(r, queries, 4*64), gaussian(r, keys, 2*64), gaussian(r, keys, 2*64)
		visible := make([][]int, queries)
		for i := range visible {
			for s := range keys - queries + i + 1 {
				visible[i] = append(visible[i], s)
			}
		}
		want, _, err := oracle.GQA(oracle.GQAInput{
			Q: q, Heads: 4, KVHeads: 2, K: k, V: v, Rows: visible,
			Scale: 0.125,
		}, oracle.LSEForm{})
		require.NoError(t, err)
		if off := farthest(m.Attention(q, k, v).Data, want.Data); !(off <= 1e-12) {
			t.Errorf("%d queries, %d keys: off by %.1e", queries, keys, off)
		}
	}
}
