package checkpoint_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/checkpoint"
)

// flash is V4-Flash's config.json as far as names go: the original keys and values.
func flash() map[string]any {
	ratios := []int{0, 0}
	for range 20 {
		ratios = append(ratios, 4, 128)
	}
	return map[string]any{
		"model_type": "deepseek_v4", "vocab_size": 129280, "hidden_size": 4096, "num_hidden_layers": 43,
		"num_attention_heads": 64, "head_dim": 512, "qk_rope_head_dim": 64, "q_lora_rank": 1024, "o_groups": 8,
		"o_lora_rank":   1024,
		"index_n_heads": 64, "index_head_dim": 128, "n_routed_experts": 256, "num_experts_per_tok": 6, "n_shared_experts": 1,
		"moe_intermediate_size": 2048, "hc_mult": 4, "num_hash_layers": 3, "num_nextn_predict_layers": 1,
		"compress_ratios": append(ratios, 4, 0),
	}
}

func parsed(t testing.TB, c map[string]any) checkpoint.Config {
	t.Helper()
	raw, err := json.Marshal(c)
	require.NoError(t, err)
	out, err := checkpoint.ParseConfig(raw)
	require.NoError(t, err)
	return out
}

// flashNames lists the tensors of V4-Flash: attention and shared experts in block-fp8, routed experts in
// MXFP4, or in NVFP4 for the main layers.
func flashNames(t testing.TB, nvfp4 bool) []string {
	t.Helper()
	var names []string
	for _, w := range parsed(t, flash()).Wants() {
		names = append(names, w.Name)
		stem := strings.TrimSuffix(w.Name, ".weight")
		switch {
		case w.Role == checkpoint.Expert && nvfp4 && strings.HasPrefix(w.Name, "layers."):
			names = append(names, stem+".weight_scale", stem+".weight_scale_2", stem+".input_scale")
		case w.Role == checkpoint.Expert, w.Role == checkpoint.Linear:
			names = append(names, stem+".scale")
		}
	}
	return names
}

// The counts were published for V4-Flash (1bit-MONSTER/1bit-MONSTER#2245 for the original release; the seeds'
// log for the NVFP4 conversion); they are not ours.
func TestCountsOfPublishedCheckpoints(t *testing.T) {
	for name, c := range map[string]struct {
		nvfp4 bool
		want  int
	}{"original": {false, 69187}, "nvfp4": {true, 135235}} {
		names := flashNames(t, c.nvfp4)
		hc := 0
		for _, n := range names {
			if strings.Contains(n, "hc_") {
				hc++
			}
		}
		if len(names) != c.want || hc != 270 {
			t.Errorf("%s: %d tensors, %d of them hc_*; published are %d and 270", name, len(names), hc, c.want)
		}
		slices.Sort(names)
		if u := slices.Compact(names); len(u) != c.want {
			t.Errorf("%s: only %d different names", name, len(u))
		}
		// The index alone, checked against the config with the scheme learnt from the names.
		r, err := checkpoint.ExamineIndex(indexOf(t, names), configOf(t, flash()))
		require.NoError(t, err)
		if r.Expected != c.want || r.Tensors != c.want || len(r.Findings) > 0 {
			t.Errorf("%s: index of %d names, expected %d, findings %v", name, r.Tensors, r.Expected, r.Findings)
		}
		// One name lost, one too many.
		broken := append(slices.Clone(names[:5000]), names[5001:]...)
		r, err = checkpoint.ExamineIndex(indexOf(t, append(broken, "layers.7.attn.wq_c.weight")), configOf(t, flash()))
		require.NoError(t, err)
		var got []string
		for _, f := range r.Findings {
			got = append(got, f.Tensors...)
		}
		slices.Sort(got)
		want := []string{"layers.7.attn.wq_c.weight", names[5000]}
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: blamed %q, want %q", name, got, want)
		}
	}
}

func configOf(t testing.TB, c map[string]any) []byte {
	t.Helper()
	raw, err := json.Marshal(c)
	require.NoError(t, err)
	return raw
}

// indexOf is an index of 46 shards.
func indexOf(t testing.TB, names []string) []byte {
	t.Helper()
	weights := make(map[string]string, len(names))
	for i, n := range names {
		weights[n] = fmt.Sprintf("model-%05d-of-00046.safetensors", 1+i*46/len(names))
	}
	raw, err := json.Marshal(map[string]any{
		"metadata":   map[string]any{"total_size": 168_000_000_000},
		"weight_map": weights,
	})
	require.NoError(t, err)
	return raw
}

// The index of a checkpoint of V4-Flash in NVFP4, 135,235 names. The bar is 300 ms.
func BenchmarkIndex(b *testing.B) {
	index, config := indexOf(b, flashNames(b, true)), configOf(b, flash())
	b.SetBytes(int64(len(index)))
	best := math.Inf(1)
	for b.Loop() {
		started := time.Now()
		if r, err := checkpoint.ExamineIndex(index, config); err != nil || r.Tensors != 135235 || len(r.Findings) > 0 {
			b.Fatal(r.Tensors, r.Findings, err)
		}
		best = math.Min(best, time.Since(started).Seconds())
	}
	b.ReportMetric(1e3*best, "best-ms")
}

// The same with 46 shards to hold against the index: their headers list the names once more.
func BenchmarkIndexAndHeaders(b *testing.B) {
	dir := b.TempDir()
	names := flashNames(b, true)
	var tensors []*stored
	for i, n := range names {
		tensors = append(tensors, &stored{
			n, "F32", []int{}, []byte{1, 2, 3, 4}, fmt.Sprintf("model-%05d-of-00046.safetensors", 1+i*46/len(names)),
		})
	}
	for s := range 46 {
		shard := fmt.Sprintf("model-%05d-of-00046.safetensors", 1+s)
		require.NoError(b, os.WriteFile(filepath.Join(dir, shard), encode(tensors, shard), 0o600))
	}
	index := strings.Replace(string(indexOf(b, names)), "168000000000", fmt.Sprint(4*len(names)), 1)
	require.NoError(b, os.WriteFile(filepath.Join(dir, "model.safetensors.index.json"), []byte(index), 0o600))
	for b.Loop() {
		if n, findings, err := checkpoint.ExamineHeaders(os.DirFS(dir)); err != nil || n != 135235 || len(findings) > 0 {
			b.Fatal(n, findings, err)
		}
	}
}
