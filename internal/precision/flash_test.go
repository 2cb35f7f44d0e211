//go:build weights

package precision

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/safetensors"
)

// flashConfig is what V4-Flash's config.json says of a stack of two layers, the second with an indexer.
const flashConfig = `{"model_type": "deepseek_v4", "vocab_size": 129280, "hidden_size": 4096, "num_hidden_layers": 2,
"num_attention_heads": 64, "head_dim": 512, "qk_rope_head_dim": 64, "q_lora_rank": 1024, "o_groups": 8, ` +
	`"o_lora_rank": 1024,
"index_n_heads": 64, "index_head_dim": 128, "index_topk": 512, "n_routed_experts": 256, "num_experts_per_tok": 6,
"n_shared_experts": 1, "moe_intermediate_size": 2048, "hc_mult": 4, "compress_ratios": [0, 4], "num_hash_layers": 0,
"hc_sinkhorn_iters": 20, "hc_eps": 1e-6, "rms_norm_eps": 1e-6, "compress_rope_theta": 160000, "scoring_func": ` +
	`"sqrtsoftplus"}`

// flashFolder writes the critical tensors of two layers in V4-Flash's shapes and dtypes (math of the release's
// config.json), filled from a seed so that products have the size of their inputs.
func flashFolder(t testing.TB) string {
	t.Helper()
	type spec struct {
		name, dtype string
		shape       []int
		mean        float64
	}
	specs := []spec{
		{"hc_head_fn", "F32", []int{4, 16384}, 0}, {"hc_head_scale", "F32", []int{1}, 0.4}, {
			"hc_head_base", "F32", []int{4}, 0,
		},
	}
	for l := range 2 {
		p := fmt.Sprintf("layers.%d.", l)
		for _, part := range []string{"attn", "ffn"} {
			specs = append(specs, spec{p + "hc_" + part + "_fn", "F32", []int{24, 16384}, 0},
				spec{p + "hc_" + part + "_scale", "F32", []int{3}, 0.4}, spec{p + "hc_" + part + "_base", "F32", []int{24}, 0})
		}
		specs = append(specs, spec{p + "ffn.gate.weight", "BF16", []int{256, 4096}, 0}, spec{
			p + "ffn.gate.bias", "F32", []int{256}, 0,
		})
	}
	x := "layers.1.attn.indexer."
	specs = append(specs,
		spec{x + "wq_b.weight", "BF16", []int{8192, 1024}, 0}, spec{x + "weights_proj.weight", "BF16", []int{64, 4096}, 0},
		spec{x + "compressor.wkv.weight", "BF16", []int{256, 4096}, 0}, spec{
			x + "compressor.wgate.weight", "BF16", []int{256, 4096}, 0,
		},
		spec{x + "compressor.ape", "F32", []int{4, 256}, 0}, spec{x + "compressor.norm.weight", "F32", []int{128}, 1})

	header := map[string]any{}
	var data bytes.Buffer
	for _, s := range specs {
		rng, n, cols := suite.Rand("precision/flash/x"+fmt.Sprint(len(header))), 1, s.shape[len(s.shape)-1]
		for _, d := range s.shape {
			n *= d
		}
		start := data.Len()
		for range n {
			v := float32(s.mean)
			if s.mean == 0 {
				v = float32(rng.NormFloat64() / math.Sqrt(float64(cols)))
			}
			if s.dtype == "BF16" {
				data.Write(binary.LittleEndian.AppendUint16(nil, format.EncodeBF16(v)))
			} else {
				data.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)))
			}
		}
		header[s.name] = map[string]any{"dtype": s.dtype, "shape": s.shape, "data_offsets": []int{start, data.Len()}}
	}
	text, err := json.Marshal(header)
	require.NoError(t, err)
	dir := t.TempDir()
	file := append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "model.safetensors"), append(file, data.Bytes()...), 0o600))
	return dir
}

// BenchmarkFlashWide measures two layers in V4-Flash's shapes on drawn states, with selections at top-k 512 and 1024 of
// 2,048 keys. MiB is the largest resident size of the process, making the folder included.
func BenchmarkFlashWide(b *testing.B) {
	dir := flashFolder(b)
	for b.Loop() {
		ckpt, err := safetensors.OpenCheckpoint(os.DirFS(dir), ".")
		require.NoError(b, err)
		r, err := Measure(context.Background(), ckpt, Seeded("precision/flash"), Options{
			Config:   []byte(flashConfig),
			Progress: os.Stderr,
		})
		require.NoError(b, err)
		require.NoError(b, ckpt.Close())
		require.Zero(b, r.Broken())
		require.NotEmpty(b, r.Rows)
		var usage syscall.Rusage
		require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
		b.ReportMetric(float64(usage.Maxrss)/1024, "MiB")
		b.ReportMetric(r.GBps(), "GB/s")
	}
}
