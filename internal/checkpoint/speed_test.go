package checkpoint_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/checkpoint"
)

// The class scan of a folder in the layout of an NVFP4 checkpoint, beside cat of the same files in the same
// run, both from the page cache. ASSAY_BUDGET=full takes at least 2 GiB, the size of the bar (scan at no less
// than 0.7 of cat); otherwise 128 MiB. docs name the machine.
func BenchmarkClassScan(b *testing.B) {
	size := int64(128 << 20)
	if v, _ := os.LookupEnv("ASSAY_BUDGET"); v == "full" {
		size = 2 << 30
	}
	dir := b.TempDir()
	files, total := generate(b, dir, size)
	var cat, scan, full time.Duration
	for b.Loop() {
		started := time.Now()
		require.NoError(b, exec.Command("cat", files...).Run()) // output goes to the null device
		cat = best(cat, time.Since(started))
		started = time.Now()
		r, err := checkpoint.Examine(context.Background(), os.DirFS(dir), checkpoint.Options{ScanOnly: true})
		require.NoError(b, err)
		scan = best(scan, time.Since(started))
		require.Equal(b, total, r.Bytes)
		require.Empty(b, r.Findings)
		started = time.Now()
		_, err = checkpoint.Examine(context.Background(), os.DirFS(dir), checkpoint.Options{})
		require.NoError(b, err)
		full = best(full, time.Since(started))
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys)/(1<<20), "memory-MiB") // the bar is 1 GiB
	b.ReportMetric(0, "ns/op")                           // it times two things
	b.ReportMetric(float64(total)/cat.Seconds()/1e9, "cat-GB/s")
	b.ReportMetric(float64(total)/scan.Seconds()/1e9, "scan-GB/s")
	b.ReportMetric(float64(total)/full.Seconds()/1e9, "examine-GB/s") // with block maxima, twins, distributions
	b.ReportMetric(cat.Seconds()/scan.Seconds(), "scan/cat")
}

func best(a, b time.Duration) time.Duration {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// generate writes experts of V4-Flash's size until size is reached, 512 MiB to a shard, with an index.
func generate(b testing.TB, dir string, size int64) (files []string, total int64) {
	b.Helper()
	rng := rand.New(rand.NewPCG(20261129, 3))
	type entry struct {
		name, dtype string
		shape       []int
		size        int64
		kind        byte // 'c' codes, 's' scales, 'f' fp32 scalars, 'b' bf16
	}
	weights := map[string]string{}
	pool := map[byte][]byte{
		'c': noise(rng, func(x byte) byte { return x }),
		's': noise(rng, func(x byte) byte { return 0x30 + x%0x4f }),
		'b': noise(rng, func(x byte) byte { return 0x3c + x&3 }),
		'f': {0, 0, 0x80, 0x3c},
	}
	for e := 0; total < size; {
		shard := fmt.Sprintf("model-%05d-of-99999.safetensors", len(files)+1)
		var list []entry
		here := int64(0)
		for ; here < min(512<<20, size-total); e++ {
			at := fmt.Sprintf("layers.%d.ffn.experts.%d.", e/256, e%256)
			for _, w := range []struct {
				name string
				n, k int
			}{{"w1", 2048, 4096}, {"w2", 4096, 2048}, {"w3", 2048, 4096}} {
				list = append(
					list,
					entry{at + w.name + ".input_scale", "F32", []int{}, 4, 'f'},
					entry{at + w.name + ".weight", "U8", []int{w.n, w.k / 2}, int64(w.n * w.k / 2), 'c'},
					entry{at + w.name + ".weight_scale", "F8_E4M3", []int{w.n, w.k / 16}, int64(w.n * w.k / 16), 's'},
					entry{at + w.name + ".weight_scale_2", "F32", []int{}, 4, 'f'},
				)
				here += int64(w.n*w.k/2+w.n*w.k/16) + 8
			}
			if e%32 == 0 {
				list = append(list, entry{
					fmt.Sprintf("layers.%d.attn.compressor.%d.wkv.weight", e/256, e%256), "BF16", []int{1024, 4096}, 8 << 20, 'b',
				})
				here += 8 << 20
			}
		}
		var header strings.Builder
		at := int64(0)
		for _, x := range list {
			fmt.Fprintf(&header, ",%q:{\"dtype\":%q,\"shape\":%s,\"data_offsets\":[%d,%d]}", x.name, x.dtype,
				strings.ReplaceAll(fmt.Sprint(x.shape), " ", ","), at, at+x.size)
			at += x.size
			weights[x.name] = shard
		}
		text := "{" + header.String()[1:] + "}"
		text += strings.Repeat(" ", (8-len(text)%8)%8)
		path := filepath.Join(dir, shard)
		f, err := os.Create(path)
		require.NoError(b, err)
		w := bufio.NewWriterSize(f, 1<<20)
		require.NoError(b, binary.Write(w, binary.LittleEndian, uint64(len(text))))
		_, err = w.WriteString(text)
		require.NoError(b, err)
		for _, x := range list {
			for left, from := x.size, 64*rng.IntN(1<<15); left > 0; from = 0 { // no two tensors alike
				p := pool[x.kind]
				p = p[from%len(p):]
				p = p[:min(left, int64(len(p)))]
				_, err = w.Write(p)
				require.NoError(b, err)
				left -= int64(len(p))
			}
		}
		require.NoError(b, w.Flush())
		require.NoError(b, f.Close())
		files, total = append(files, path), total+at
	}
	raw, err := json.Marshal(map[string]any{"metadata": map[string]any{"total_size": total}, "weight_map": weights})
	require.NoError(b, err)
	require.NoError(b, os.WriteFile(filepath.Join(dir, "model.safetensors.index.json"), raw, 0o600))
	return files, total
}

// noise is 4 MiB of random bytes mapped by f, on odd bytes only for the high byte of bf16.
func noise(rng *rand.Rand, f func(byte) byte) []byte {
	out := make([]byte, 4<<20)
	for i := range out {
		out[i] = f(byte(rng.Uint32()))
	}
	return out
}
