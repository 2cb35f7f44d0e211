package llama_test

import (
	"encoding/json"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/internal/nano/llama"
	"github.com/assay-suite/assay/oracle"
)

var loaded = sync.OnceValues(func() (*llama.Model, error) {
	folder, err := fs.Sub(fixtures.FS, "nano-llama")
	if err != nil {
		return nil, err
	}
	return llama.Load(folder)
})

func load(t testing.TB) *llama.Model {
	t.Helper()
	m, err := loaded()
	require.NoError(t, err)
	return m
}

// full is ASSAY_BUDGET=full: every record, 200 prompts.
func full() bool {
	budget, _ := os.LookupEnv("ASSAY_BUDGET")
	return budget == "full" || golden.Updating()
}

// record is one prompt of hf_greedy.json.gz and what transformers answered.
type record struct {
	Length  int       `json:"length"`
	Depth   float64   `json:"depth"`
	Prompt  []int     `json:"prompt"`
	Code    []int     `json:"code"`
	Greedy  []int     `json:"greedy"`
	Logprob []float64 `json:"logprob"`
	Margin  []float64 `json:"margin"`
}

func recorded(t testing.TB) []record {
	t.Helper()
	raw, err := fixtures.ReadFile(fixtures.FS, "nano-llama/hf_greedy.json.gz")
	require.NoError(t, err)
	var all []record
	require.NoError(t, json.Unmarshal(raw, &all))
	require.Len(t, all, 24)
	return all
}

func gaussian(r *rand.Rand, rows, cols int) oracle.Mat {
	m := oracle.NewMat(rows, cols)
	for i := range m.Data {
		m.Data[i] = r.NormFloat64()
	}
	return m
}

// farthest is the largest absolute difference; another number of elements or a NaN is infinitely far.
func farthest(a, b []float64) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	worst := 0.0
	for i := range a {
		if d := math.Abs(a[i] - b[i]); !(d <= worst) {
			worst = d
		}
	}
	if math.IsNaN(worst) {
		return math.Inf(1)
	}
	return worst
}

func flat(rows [][]float64) []float64 {
	var all []float64
	for _, r := range rows {
		all = append(all, r...)
	}
	return all
}
