package served_test

import (
	"context"
	"io/fs"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fixtures"
	_ "github.com/assay-suite/assay/internal/golden" // registers -update
	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/internal/nano/llama"
	"github.com/assay-suite/assay/internal/nano/served"
	"github.com/assay-suite/assay/oracle"
)

func folder(t testing.TB, name string) fs.FS {
	t.Helper()
	sub, err := fs.Sub(fixtures.FS, name)
	require.NoError(t, err)
	return sub
}

func load(t testing.TB, name string) *nano.Model {
	t.Helper()
	m, err := nano.Load(folder(t, name), oracle.Reference())
	require.NoError(t, err)
	return m
}

func emulated(t testing.TB, m *nano.Model, format string, seed uint64) *nano.Model {
	t.Helper()
	f, err := served.ByName(format)
	require.NoError(t, err)
	e, err := served.New(m, f, seed)
	require.NoError(t, err)
	return e
}

// tokens are a prompt of prose.
func tokens(n int) []int {
	ids := []int{nano.BOS, nano.User}
	for i := range n - 3 {
		ids = append(ids, nano.FirstBucket+(i*7919)%nano.Buckets)
	}
	return append(ids, nano.Assistant)
}

// logits reads ids in chunks and returns the last rows.
func logits(t testing.TB, m *nano.Model, ids []int, chunk, last int) [][]float64 {
	t.Helper()
	s := m.NewState()
	var rows [][]float64
	for from := 0; from < len(ids); from += chunk {
		part := ids[from:min(from+chunk, len(ids))]
		got, err := m.Extend(context.Background(), s, part, min(last, len(part)))
		require.NoError(t, err)
		rows = got
	}
	return rows
}

func apart(a, b [][]float64) float64 {
	worst := 0.0
	for i, row := range a {
		for j, v := range row {
			worst = math.Max(worst, math.Abs(v-b[i][j]))
		}
	}
	return worst
}

// The weights MUST be those that torch made of the model (fixtures/nano-v4-mxfp4: fp8 in blocks, experts in MXFP4):
// what is emulated on top of torch's weights has the same bits. Under another seed, and for the weights as they are, it
// has not. (NVFP4 cannot be told so: its tensor scale changes when decoded values are encoded once more.)
func TestWeightsAreTorchs(t *testing.T) {
	v4, torch, ids := load(t, "nano-v4"), load(t, "nano-v4-mxfp4"), tokens(70)
	want := logits(t, emulated(t, torch, "mxfp4", 0), ids, len(ids), 4)
	require.Zero(t, apart(want, logits(t, emulated(t, v4, "mxfp4", 0), ids, len(ids), 4)))
	require.NotZero(t, apart(want, logits(t, emulated(t, v4, "mxfp4", 1), ids, len(ids), 4)))
	require.NotZero(t, apart(want, logits(t, emulated(t, v4, "fp8", 0), ids, len(ids), 4)))
	require.NotZero(t, apart(want, logits(t, v4.Fast(), ids, len(ids), 4)))
}

// A prompt in chunks MUST give the bits of one in one shot, under every format, as a server's caches rest on it.
func TestChunksGiveTheSameBits(t *testing.T) {
	m, ids := load(t, "nano-v4"), tokens(150)
	for _, f := range served.Formats() {
		e := emulated(t, m, f.Name, 3)
		require.Zero(t, apart(logits(t, e, ids, len(ids), 1), logits(t, e, ids, 37, 1)), f.Name)
	}
}

// Coarser formats MUST stand further from the exact model, and seeds of one format about as far.
func TestNoiseByFormat(t *testing.T) {
	m, ids := load(t, "nano-v4"), tokens(150)
	exact := logits(t, m, ids, len(ids), 16)
	rms := func(format string, seed uint64) float64 {
		sum, n := 0.0, 0.0
		for i, row := range logits(t, emulated(t, m, format, seed), ids, len(ids), 16) {
			for j, v := range row {
				sum += (v - exact[i][j]) * (v - exact[i][j])
				n++
			}
		}
		return math.Sqrt(sum / n)
	}
	last := 0.0
	for _, format := range []string{"fp32", "bf16", "fp8", "nvfp4"} {
		a, b := rms(format, 1), rms(format, 2)
		t.Logf("%s: logits off by %.2g and %.2g in the rms", format, a, b)
		require.Greater(t, math.Min(a, b), last, format)
		require.Less(t, math.Max(a, b), 3*math.Min(a, b), format)
		last = math.Max(a, b)
	}
}

// nano-llama is emulated in the formats that it is served in, and in no other.
func TestLlama(t *testing.T) {
	m, err := llama.Load(folder(t, "nano-llama"))
	require.NoError(t, err)
	row := func(m *llama.Model) [][]float64 {
		rows, err := m.Extend(context.Background(), m.NewState(), tokens(90), 1)
		require.NoError(t, err)
		return rows
	}
	exact := row(m)
	for _, x := range []struct {
		format      string
		least, most float64
	}{{"fp32", 1e-8, 1e-4}, {"bf16", 1e-3, 2}} { // about 2^-24 and 2^-8 of logits of some ten
		e, err := served.Llama(m, x.format, 1)
		require.NoError(t, err)
		off := apart(exact, row(e))
		require.Greater(t, off, x.least, x.format)
		require.Less(t, off, x.most, x.format)
	}
	_, err = served.Llama(m, "fp8", 1)
	require.ErrorContains(t, err, "not in fp8")
	_, err = served.Llama(m, "int8", 1)
	require.ErrorContains(t, err, "use one of fp32, bf16")
}
