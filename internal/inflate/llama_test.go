package inflate

import (
	"context"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/internal/nano/llama"
)

func nanoLlama(t testing.TB) fs.FS {
	t.Helper()
	fsys, err := fs.Sub(fixtures.FS, "nano-llama")
	require.NoError(t, err)
	return fsys
}

func llamaLogits(t testing.TB, fsys fs.FS, ids []int) [][]float64 {
	t.Helper()
	m, err := llama.Load(fsys)
	require.NoError(t, err)
	rows, err := m.Extend(context.Background(), m.NewState(), ids, len(ids))
	require.NoError(t, err)
	return rows
}

// nano-llama in a larger Llama MUST give the small one's logits, placed, spread and between layers that add nothing;
// words of the tokenizer MUST never be answered. Layouts that break one symmetry
// MUST NOT.
func TestInflatedLlama(t *testing.T) {
	ids := prompt(t, 64)
	want := llamaLogits(t, nanoLlama(t), ids)
	shape, err := Lookup("llama-small")
	require.NoError(t, err)
	for _, row := range []struct {
		name  string
		o     Options
		plant func(*llamaLayout) // breaks a symmetry
	}{
		{"placed", Options{}, nil},
		{"passing", Options{Seed: 3, Layers: 7}, nil},
		{"spread", Options{Seed: 3, Words: true}, nil},
		{"planted frequency", Options{}, func(m *llamaLayout) {
			m.pair = placed(shape.HeadDim/2, upTo(32)) // pair i at i, not at 2i: it turns too slowly
		}},
		{"planted share", Options{Seed: 3}, func(m *llamaLayout) { m.inner.share[0] *= 1.01 }},
		{"planted value", Options{Seed: 3}, func(m *llamaLayout) { m.value.basis[0] *= 1.01 }},
	} {
		t.Run(row.name, func(t *testing.T) {
			o := row.o
			o.From, o.FromName, o.Shape = nanoLlama(t), "nano-llama", shape
			o.Format, err = FormatByName("hf-fp64")
			require.NoError(t, err)
			o.Out = filepath.Join(t.TempDir(), "out")
			s, err := run(context.Background(), o, hand{llama: row.plant})
			require.NoError(t, err)
			worst, word := 0.0, math.Inf(-1)
			for i, got := range llamaLogits(t, os.DirFS(o.Out), ids) {
				for v, logit := range got {
					if v >= len(want[i]) {
						word = math.Max(word, logit)
						continue
					}
					if d := math.Abs(logit - want[i][v]); !(d <= worst) {
						worst = d
					}
				}
			}
			t.Logf("%d layers, %d passing: logits within %.2g, words at most %.3g", s.Layers, s.Passing, worst, word)
			require.Less(t, word, -100.0)
			if row.plant != nil {
				require.Greater(t, worst, noise)
				return
			}
			require.LessOrEqual(t, worst, noise)
		})
	}
}
