package checkpoint_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/checkpoint"
	"github.com/assay-suite/assay/internal/quant"
)

// harm is a kind of damage to a sound folder. do gives the tensor that the finding must name ("" for none), and false
// where it does not apply.
type harm struct {
	name  string
	kinds []string // of the finding, any of them
	do    func(f *folder, rng *rand.Rand) (about string, applies bool)
}

// pick gives a random tensor that fits, nil without one.
func (f *folder) pick(rng *rand.Rand, fits func(s *stored) bool) *stored {
	var list []*stored
	for _, s := range f.tensors {
		if fits(s) {
			list = append(list, s)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list[rng.IntN(len(list))]
}

func part(s *stored) quant.Part {
	_, p := quant.Split(s.name)
	return p
}

// codes of a linear layer or expert.
func isCodes(s *stored) bool {
	return part(s) == quant.Codes && len(s.shape) >= 2 && strings.Contains(s.name, "_proj") && len(s.raw) >= 8192 ||
		strings.HasSuffix(s.name, "_blocks")
}

func isScales(s *stored) bool {
	return part(s) == quant.Scale && len(s.raw) >= 8 &&
		(strings.Contains(s.name, "_proj") || strings.Contains(s.name, ".w"))
}

func (f *folder) drop(fits func(s *stored) bool) int {
	before := len(f.tensors)
	f.tensors = slices.DeleteFunc(f.tensors, fits)
	return before - len(f.tensors)
}

func (f *folder) method() string {
	q, ok := f.config["quantization_config"].(map[string]any)
	if !ok {
		return ""
	}
	m, _ := q["quant_method"].(string)
	return m
}

// floats changes the values of a float tensor.
func (s *stored) floats(change func(i int, v float64) float64) bool {
	w := map[string]int{"F32": 4, "BF16": 2, "F16": 2, "F8_E8M0": 1}[s.dtype]
	if w == 0 {
		return false
	}
	s.raw = bytes.Clone(s.raw)
	for i := 0; i*w < len(s.raw); i++ {
		b := s.raw[i*w:]
		switch s.dtype {
		case "F32":
			v := change(i, float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
			binary.LittleEndian.PutUint32(b, math.Float32bits(float32(v)))
		case "BF16":
			v := change(i, float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(b))<<16)))
			binary.LittleEndian.PutUint16(b, uint16(math.Float32bits(float32(v))>>16))
		case "F16":
			v := coded16(change(i, half(binary.LittleEndian.Uint16(b))))
			copy(b, v)
		case "F8_E8M0":
			b[0] = byte(math.Log2(change(i, math.Exp2(float64(b[0])-127))) + 127)
		}
	}
	return true
}

// damaged are the pairs that damages are planted in: each scheme once, and families with experts.
var damaged = []string{
	"bf16/llama", "bf16/qwen3-moe", "bf16/gemma2", "bf16/gpt-oss", "fp8-block/qwen3-moe", "fp8-block-ue8m0/deepseek-v3",
	"fp8-tensor/llama",
	"ct-fp8-channel/llama", "ct-fp8-tensor/mistral", "ct-fp8-block/qwen3-moe", "modelopt-fp8/llama", "mxfp8-u8/llama",
	"quark-mxfp4/deepseek-v3", "ct-mxfp4/llama", "gptoss-mxfp4/gpt-oss", "modelopt-nvfp4/qwen3-moe", "ct-nvfp4/qwen3-moe",
	"ct-w4a16/llama", "ct-w4a16-asym/qwen2", "ct-w8a8/llama", "gptq-sym/llama", "gptq-asym-v2/qwen2", "awq/qwen3-moe",
	"bnb-nf4/llama", "bnb-int8/llama", "mlx/qwen3", "w4afp8/deepseek-v3",
}

// Every kind of damage, in every scheme to which it applies, is found under its name and at its tensor, as a fault:
// 95 % of all draws, and no kind below 80 %.
func TestDamages(t *testing.T) {
	t.Parallel()
	n := uint64(1)
	if v, _ := os.LookupEnv("ASSAY_BUDGET"); v == "full" {
		n = 5
	}
	all, found := 0, 0
	list := slices.Concat(damages(), codeDamages())
	require.GreaterOrEqual(t, len(list), 30)
	for k, d := range list {
		tried, hit := 0, 0
		for i, pair := range damaged {
			if n == 1 && (i+k)%13 != 0 { // two of the pairs for each kind, others for the next
				continue
			}
			for seed := range n {
				scheme, fam, _ := strings.Cut(pair, "/")
				f := drawn(t, scheme, fam, 100+seed)
				about, applies := d.do(f, rand.New(rand.NewPCG(seed, uint64(i))))
				if !applies {
					break
				}
				r, err := checkpoint.Examine(context.Background(), os.DirFS(f.write()), checkpoint.Options{})
				require.NoError(t, err)
				tried++
				code, _ := r.Verdict()
				if named(r, d.kinds, about) && code == 1 {
					hit++
				} else {
					t.Logf("%s in %s (seed %d) at %q: code %d, %v", d.name, pair, seed, about, code, first(r.Findings, 3))
				}
			}
		}
		all, found = all+tried, found+hit
		if tried > 0 && 10*hit < 8*tried {
			t.Errorf("%s: found in %d of %d draws", d.name, hit, tried)
		}
	}
	t.Logf("%d of %d damages of %d kinds were found and named", found, all, len(list))
	if 100*found < 95*all {
		t.Errorf("%d of %d damages were found and named, want 95 %%", found, all)
	}
}

func first(f []checkpoint.Finding, n int) []checkpoint.Finding { return f[:min(n, len(f))] }

func named(r checkpoint.Report, kinds []string, about string) bool {
	module, _ := quant.Split(about)
	return slices.ContainsFunc(r.Findings, func(x checkpoint.Finding) bool {
		return x.Severity >= checkpoint.Likely && slices.Contains(kinds, x.Kind) && (about == "" ||
			slices.ContainsFunc(x.Tensors, func(s string) bool {
				m, _ := quant.Split(s)
				return s == about || m == module || strings.HasPrefix(about, m+".")
			}))
	})
}
