package precision

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/internal/suite"
)

// Against the fp32 original, classes that the twins store in bf16 are off by its rounding: 1.7e-3 relative L2 of bf16
// rounding alone (fixtures/README.md); the coarser formats lie above in the order of their bits.
func TestBaseErrorsAreThoseOfTheFormats(t *testing.T) {
	rel := map[string]float64{}
	for _, folder := range []string{"nano-v4", "nano-v4-mxfp4", "nano-v4-nvfp4"} {
		m := newMeter(t, folder, Seeded("x"))
		m.o.Base = shipped(t, "nano-v4")
		jobs, err := m.baseJobs()
		require.NoError(t, err)
		for _, j := range jobs {
			rows, err := j.run(context.Background())
			require.NoError(t, err)
			for _, r := range rows {
				rel[folder+" "+r.Tensor] = r.Numbers["rel-l2"]
			}
		}
		assert.Empty(t, m.notes)
	}
	between := func(name string, low, high float64) {
		if v := rel[name]; !(v > low && v < high) {
			t.Errorf("%s: relative L2 against the base %v, want between %v and %v", name, v, low, high)
		}
	}
	bf16 := rel["nano-v4-mxfp4 layers.*.ffn.gate.weight"]
	between("nano-v4-mxfp4 layers.*.ffn.gate.weight", 1.7e-3/1.5, 1.7e-3*1.5)
	fp8 := rel["nano-v4-mxfp4 layers.*.attn.wkv.weight"]
	between("nano-v4-mxfp4 layers.*.attn.wkv.weight", 8*bf16, 32*bf16) // 4 bits fewer
	nv := rel["nano-v4-nvfp4 layers.*.ffn.experts.*.w1.weight"]
	between("nano-v4-nvfp4 layers.*.ffn.experts.*.w1.weight", fp8, 8*fp8)
	between("nano-v4-mxfp4 layers.*.ffn.experts.*.w1.weight", nv, 2*nv) // larger blocks, coarser scales
	for name := range rel {
		assert.False(t, strings.HasPrefix(name, "nano-v4 "), "%s differs from itself", name)
	}
}

func measured(t *testing.T, o Options) Result {
	t.Helper()
	o.Config, o.Tokens = nanoConfig(t), 4
	r, err := Measure(context.Background(), shipped(t, "nano-v4-nvfp4"), captured(t, traces...), o)
	require.NoError(t, err)
	return r
}

func TestMeasureContinuesWhatALedgerHolds(t *testing.T) {
	var ledger []suite.Result
	jobs := map[string]int{}
	keep := func(rows []Row) error {
		jobs[rows[0].Job]++
		for _, r := range rows {
			res, err := r.Ledger("a")
			if err != nil {
				return err
			}
			ledger = append(ledger, res)
		}
		return nil
	}
	var progress bytes.Buffer
	first := measured(t, Options{Emit: keep, Progress: &progress})
	assert.Contains(t, progress.String(), "precision")
	require.Empty(t, first.Notes)
	require.Zero(t, first.Broken())
	kinds := map[Kind]int{}
	for i, r := range first.Rows {
		kinds[r.Kind]++
		require.NoError(t, ledger[i].Validate())
		if i > 0 {
			assert.LessOrEqual(t, r.Harm(), first.Rows[i-1].Harm(), "worst first")
		}
	}
	// 4 layers with two hyper-connections and the head, on 6 paths; 4 gates; 3 biases in 3 formats; 2 indexers of 4
	// projections.
	assert.Equal(t, map[Kind]int{Mix: 54, Gate: 24, Bias: 9, Index: 48, Keys: 10, Compounding: 6}, kinds)

	// The ledger of another process, whose last step is torn.
	var file bytes.Buffer
	for _, r := range append([]suite.Result{{Case: "precision/b/x/fp32", Outcome: suite.Passed, Detail: []byte("{}")}},
		ledger[:len(ledger)-2]...) {
		r.Schema = suite.Schema
		require.NoError(t, json.NewEncoder(&file).Encode(r))
	}
	results, err := suite.ReadLedger(&file)
	require.NoError(t, err)
	done, err := FromLedger(results, "a")
	require.NoError(t, err)
	require.Len(t, done, len(ledger)-2)
	last := ledger[len(ledger)-1].Case
	jobs = map[string]int{}
	again := measured(t, Options{Done: done, Emit: keep})
	assert.Len(t, jobs, 1, "only the torn step of %s runs again", last)
	if d := cmp.Diff(first.Rows, again.Rows); d != "" {
		t.Errorf("a continued run differs from one in one go:\n%s", d)
	}

	// Rows of other states are measured again.
	for i := range done {
		done[i].States = "others"
	}
	ckpt := made(t, map[string]part{"layers.0.ffn.gate.weight": f32([]int{1, 2}, 1, 2)})
	other, err := Measure(context.Background(), ckpt, captured(t, traces...), Options{Config: nanoConfig(t), Done: done})
	require.NoError(t, err)
	assert.Contains(t, strings.Join(other.Notes, "\n"), "nothing of it is taken over")
}

func TestMeasureFailsInSentences(t *testing.T) {
	ctx := context.Background()
	_, err := Measure(ctx, made(t, map[string]part{"a.b": f32([]int{1}, 1)}), Seeded("x"), Options{})
	require.ErrorContains(t, err, "nothing to measure")
	_, err = Measure(ctx, made(t, map[string]part{
		"layers.0.hc_attn_fn": f32([]int{2, 2}, 1, 2, 3, 4), "layers.0.hc_attn_scale": f32([]int{1}, 1),
		"layers.0.hc_attn_base": f32([]int{1}, 1),
	}), Seeded("x"), Options{})
	require.ErrorContains(t, err, "is no hyper-connection")
	_, err = Measure(ctx, made(t, map[string]part{"layers.0.hc_attn_fn": f32([]int{1, 1, 1}, 1)}), Seeded("x"), Options{})
	require.ErrorContains(t, err, "neither a vector nor a matrix")
	_, err = Measure(ctx, made(t, map[string]part{"layers.0.attn.indexer.wq_b.weight": f32([]int{1, 1}, 1)}), Seeded("x"),
		Options{})
	require.ErrorContains(t, err, "weights_proj.weight")
	_, err = Measure(ctx, shipped(t, "nano-v4"), Seeded("x"), Options{Config: []byte("{")})
	require.Error(t, err)
	full := errors.New("the disk is full")
	_, err = Measure(ctx, shipped(t, "nano-v4"), captured(t, traces[0]), Options{
		Config: nanoConfig(t),
		Emit:   func([]Row) error { return full },
	})
	require.ErrorIs(t, err, full)
	ended, stop := context.WithCancel(ctx)
	stop()
	_, err = Measure(ended, shipped(t, "nano-v4"), captured(t, traces[0]), Options{Config: nanoConfig(t)})
	require.ErrorIs(t, err, context.Canceled)
	_, err = Captured(fstest.MapFS{}, "x.safetensors")
	require.Error(t, err)
	_, err = Captured(fstest.MapFS{})
	require.ErrorContains(t, err, "Seeded")
}

func TestStatesThatAreNotCapturedAreDrawnAndSaid(t *testing.T) {
	ckpt := made(t, map[string]part{"layers.0.ffn.gate.weight": f32([]int{2, 4}, 1, -1, 0.5, -0.25, 2, 0, 1, 1)})
	r, err := Measure(context.Background(), ckpt, captured(t, traces[0]), Options{Config: nanoConfig(t)})
	require.NoError(t, err)
	require.Len(t, r.Notes, 1)
	odd := made(t, map[string]part{"layers.0.ffn.gate.weight": f32([]int{1, 3}, 1, -1, 0.5)})
	few, err := Measure(context.Background(), odd, Seeded("x"), Options{Config: nanoConfig(t)})
	require.NoError(t, err)
	assert.Len(t, few.Rows, 4, "three columns are no whole bytes of fp4 codes")
	require.Len(t, few.Notes, 2)
	assert.Contains(t, r.Notes[0], "are drawn")
	// The same seed draws the same states, by rows and in any strips; outlier channels stand out.
	a, b := drawn("precision/x", 0, 8, 1024), drawn("precision/x", 5, 6, 1024)
	assert.Equal(t, a.Row(5), b.Row(0))
	var plain, ten, hundred float64
	for i := range 8 {
		row := a.Row(i)
		plain, ten, hundred = max(plain, row[0]*row[0]), max(ten, row[17]*row[17]), max(hundred, row[401]*row[401])
	}
	assert.True(t, plain < ten && ten < hundred, "largest squares %v, %v, %v", plain, ten, hundred)
}

func TestReportHoldsEveryRow(t *testing.T) {
	r, err := Measure(context.Background(), made(t, map[string]part{
		"layers.0.ffn.gate.weight": f32([]int{2, 4}, 1, -1, 0.5, -0.25, 2, 0, 1, 1),
	}), Seeded("x"), Options{})
	require.NoError(t, err)
	require.Contains(t, r.Notes[0], "V4-Flash")
	dir := t.TempDir()
	require.NoError(t, report.WriteAll(dir, r.Report("a <checkpoint>", time.Unix(0, 0)), nil))
	page, err := os.ReadFile(filepath.Join(dir, report.HTMLFile))
	require.NoError(t, err)
	for _, p := range Paths() {
		assert.Contains(t, string(page), p.Name)
	}
	assert.Contains(t, string(page), "GB/s")
	assert.Contains(t, string(page), "a &lt;checkpoint&gt;")
}
