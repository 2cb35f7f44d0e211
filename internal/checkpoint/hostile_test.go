package checkpoint_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/checkpoint"
)

// Headers and bytes at random: whatever is stored, the examination ends with a report.
func TestHostileCheckpoints(t *testing.T) {
	t.Parallel()
	dtypes := map[int][]string{
		1: {"U8", "I8", "F8_E4M3", "F8_E5M2", "F8_E8M0", "BOOL", "F8_E4M3FNUZ"},
		2: {"BF16", "F16", "I16", "U16"},
		4: {"F32", "I32", "U32"},
		8: {"I64", "F64", "U64", "C64"},
	}
	for seed := range uint64(16) {
		rng := rand.New(rand.NewPCG(20261129, seed))
		f := open(t, nanoFolders[1+seed%2])
		for range 12 {
			i := rng.IntN(len(f.tensors))
			s := f.tensors[i]
			n := 1
			for _, d := range s.shape {
				n *= d
			}
			switch rng.IntN(7) {
			case 0:
				if n > 0 {
					same := dtypes[len(s.raw)/n]
					s.dtype = same[rng.IntN(len(same))]
				}
			case 1:
				s.shape = []int{n}
			case 2:
				s.shape = append([]int{1}, s.shape...)
			case 3:
				s.shape, s.raw = []int{0, 4}, nil
			case 4:
				s.raw = bytes.Clone(s.raw)
				for k := range s.raw {
					s.raw[k] = byte(rng.Uint32())
				}
			case 5:
				f.tensors = append(f.tensors[:i], f.tensors[i+1:]...)
			case 6:
				s.name = strings.Replace(s.name, "layers.1", "layers.99999999999999999999", 1)
			}
		}
		f.config["hidden_size"] = rng.IntN(300)
		var base fs.FS
		if seed%4 == 0 {
			base = shipped(t, "nano-v4")
		}
		r, err := checkpoint.Examine(context.Background(), os.DirFS(f.write()), checkpoint.Options{Base: base})
		require.NoError(t, err, "seed %d", seed)
		if len(r.Findings) == 0 {
			t.Errorf("seed %d: twelve random damages and no finding", seed)
		}
	}
}

// The same with folders of every scheme: whatever headers, bytes and config say, the examination ends with a report,
// and so does a comparison with the sound folder.
func TestHostileSchemes(t *testing.T) {
	t.Parallel()
	same := [][]string{
		{"U8", "I8", "F8_E4M3", "F8_E5M2", "F8_E8M0", "BOOL"}, {"BF16", "F16", "I16"}, {"F32", "I32", "U32"}, {"I64", "F64"},
	}
	for i, scheme := range slices.Sorted(maps.Keys(schemes)) {
		if draws() == 1 && i%5 != 0 {
			continue
		}
		for seed := range draws() {
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			fam := "llama"
			if i%2 == 1 {
				fam = "qwen3-moe"
			}
			f := drawn(t, scheme, fam, seed)
			for range 16 {
				s := f.tensors[rng.IntN(len(f.tensors))]
				n := 1
				for _, d := range s.shape {
					n *= d
				}
				switch rng.IntN(8) {
				case 0:
					for _, list := range same {
						if slices.Contains(list, s.dtype) {
							s.dtype = list[rng.IntN(len(list))]
						}
					}
				case 1:
					s.shape = []int{n}
				case 2:
					s.shape = append([]int{1, 1}, s.shape...)
				case 3:
					s.shape, s.raw = []int{0, 4}, nil
				case 4:
					s.raw = bytesOf(rng, len(s.raw))
				case 5:
					s.name = strings.Replace(s.name, "layers.1", "layers.77777777777777777777", 1)
				case 6:
					s.name = strings.Replace(s.name, "_proj", "_proj.weight", 1)
				case 7:
					if len(s.shape) == 2 {
						s.shape = []int{s.shape[1], s.shape[0]}
					}
				}
			}
			if q, ok := f.config["quantization_config"].(map[string]any); ok && rng.IntN(2) == 0 {
				q["group_size"], q["bits"] = rng.IntN(3)-1, 1+rng.IntN(9)
			}
			_, err := checkpoint.Examine(context.Background(), os.DirFS(f.write()), checkpoint.Options{
				Base: os.DirFS(drawn(t, scheme, fam, seed).write()), Reference: true,
			})
			require.NoError(t, err, "%s, seed %d", scheme, seed)
		}
	}
}

// What cannot be examined is an error that says so.
func TestNoCheckpoint(t *testing.T) {
	for name, c := range map[string]struct {
		fsys fs.FS
		says string
	}{
		"empty-folder": {fstest.MapFS{}, "model.safetensors"},
		"no-folder":    {os.DirFS(filepath.Join(t.TempDir(), "gone")), "cannot be listed"},
		"no-weights":   {fstest.MapFS{"model.safetensors": {Data: []byte("<!DOCTYPE html>")}}, "HTML"},
	} {
		if _, err := checkpoint.Examine(context.Background(), c.fsys, checkpoint.Options{}); err == nil ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want one about %q", name, err, c.says)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := checkpoint.Examine(ctx, shipped(t, "nano-v4"), checkpoint.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
}

// Progress ends at the total of each stage, and the remaining time is extrapolated.
func TestProgress(t *testing.T) {
	last := map[string]checkpoint.Progress{}
	_, err := checkpoint.Examine(context.Background(), shipped(t, "nano-v4-nvfp4"), checkpoint.Options{
		Config: nanoConfig(t), Base: shipped(t, "nano-v4"),
		Progress: func(p checkpoint.Progress) {
			if p.Done < last[p.Stage].Done {
				t.Errorf("%s goes back from %d to %d", p.Stage, last[p.Stage].Done, p.Done)
			}
			last[p.Stage] = p
		},
	})
	require.NoError(t, err)
	for _, stage := range []string{"headers", "scan", "distribution", "base"} {
		if p := last[stage]; p.Done != p.Total || p.Total == 0 {
			t.Errorf("%s ends at %d of %d", stage, p.Done, p.Total)
		}
	}
	p := checkpoint.Progress{Done: 25, Total: 100, Elapsed: 3 * time.Second}
	if eta := p.ETA(); eta != 9*time.Second {
		t.Errorf("a quarter in 3 s leaves %s, want 9 s", eta)
	}
}
