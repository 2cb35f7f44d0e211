package checkpoint_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/assay-suite/assay/internal/checkpoint"
	"github.com/assay-suite/assay/internal/quant"
)

// againstWhat are pairs of schemes: what was made, and what it is compared with.
var againstWhat = [][2]string{
	{"fp8-block", "bf16"},
	{"fp8-block-64", "bf16"},
	{"fp8-block-bf16", "bf16"},
	{"ct-fp8-channel", "bf16"},
	{"mxfp8-u8", "bf16"},
	{"quark-mxfp4", "bf16"},
	{"ct-mxfp4", "bf16"},
	{"modelopt-nvfp4", "bf16"},
	{"ct-nvfp4", "bf16"},
	{"ct-w4a16", "bf16"},
	{"ct-w4a16-asym", "bf16"},
	{"ct-w8a8", "bf16"},
	{"gptq-sym", "bf16"},
	{"gptq-actorder", "bf16"},
	{"gptq-asym-v2", "bf16"},
	{"awq", "bf16"},
	{"mlx", "bf16"},
	{"modelopt-nvfp4", "fp8-block"},
	{"ct-w4a16", "fp8-block"},
	{"awq", "ct-fp8-channel"},
	{"gptq-sym", "fp8-block-64"},
	{"ct-fp8-channel", "fp8-block"},
	{"fp8-block", "ct-w8a8"},
}

// slip is an error of convention in one module, or in all.
type slip struct {
	name  string
	kinds []string
	says  string // in the finding's text
	do    func(f *folder, module string) bool
}

func (f *folder) partOf(module string, p quant.Part) *stored {
	for _, s := range f.tensors {
		if m, is := quant.Split(s.name); m == module && is == p {
			return s
		}
	}
	return nil
}

const slipped = "model.layers.1.mlp.gate_proj"

func exchanged(other string) func(f *folder, module string) bool {
	return func(f *folder, module string) bool {
		for _, s := range f.tensors {
			if rest, ok := strings.CutPrefix(s.name, module+"."); ok {
				for _, o := range f.tensors {
					if o.name == other+"."+rest {
						s.raw, o.raw = o.raw, s.raw
					}
				}
			}
		}
		return true
	}
}

func scaled(change func(v float64) float64) func(f *folder, module string) bool {
	return func(f *folder, module string) bool {
		s := f.partOf(module, quant.Scale)
		if b := f.partOf(module, quant.Offset); b != nil { // MLX: value = code x scale + bias, so that both change
			b.floats(func(_ int, v float64) float64 { return change(v) })
		}
		return s != nil && len(s.raw) >= 8 && s.floats(func(_ int, v float64) float64 { return change(v) })
	}
}

// scalesAlone leaves schemes out that add a bias.
func scalesAlone(do func(f *folder, module string) bool) func(f *folder, module string) bool {
	return func(f *folder, module string) bool { return f.partOf(module, quant.Offset) == nil && do(f, module) }
}

// rolled moves scales by one block along a dimension; they are one byte or more each.
func rolled(along int) func(f *folder, module string) bool {
	return func(f *folder, module string) bool {
		s := f.partOf(module, quant.Scale)
		if s == nil || len(s.shape) != 2 || s.shape[along] < 3 || strings.HasSuffix(s.name, ".absmax") {
			return false
		}
		rows, cols := s.shape[0], s.shape[1]
		w, old := len(s.raw)/(rows*cols), s.raw
		s.raw = make([]byte, len(old))
		for r := range rows {
			for c := range cols {
				from := [2]int{r, c}
				from[along] = (from[along] + 1) % s.shape[along]
				copy(s.raw[(r*cols+c)*w:(r*cols+c+1)*w], old[(from[0]*cols+from[1])*w:])
			}
		}
		return true
	}
}

func fields(change func(word uint32) uint32, p quant.Part) func(f *folder, module string) bool {
	return func(f *folder, module string) bool {
		s := f.partOf(module, p)
		if s == nil || s.dtype != "I32" {
			return false
		}
		s.raw = bytes.Clone(s.raw)
		for b := s.raw; len(b) >= 4; b = b[4:] {
			binary.LittleEndian.PutUint32(b, change(binary.LittleEndian.Uint32(b)))
		}
		return true
	}
}

var slips = []slip{
	{"gate-up", []string{checkpoint.KindGateUpSwapped}, "", exchanged("model.layers.1.mlp.up_proj")},
	{"layer", []string{checkpoint.KindBaseSwapped}, "layers.2", exchanged("model.layers.2.mlp.gate_proj")},
	{"doubled", []string{checkpoint.KindBaseScale}, "2 times", scaled(func(v float64) float64 { return 2 * v })},
	{"halved", []string{checkpoint.KindBaseScale}, "0.5 times", scaled(func(v float64) float64 { return v / 2 })},
	{"inverted", []string{checkpoint.KindScaleInverted}, "inverted", scalesAlone(scaled(func(v float64) float64 {
		return 1 / v
	}))},
	{"negated", []string{checkpoint.KindBaseScale}, "-1 times", scaled(func(v float64) float64 { return -v })},
	{"shifted-along", []string{checkpoint.KindBaseBlocks}, "the block 0 down", scalesAlone(rolled(1))},
	{"shifted-down", []string{checkpoint.KindBaseBlocks}, "down", scalesAlone(rolled(0))},
	{"nibbles", []string{checkpoint.KindNibbles}, "", func(f *folder, module string) bool {
		s := f.partOf(module, quant.Codes)
		if s == nil || s.dtype != "U8" || f.method() == "bitsandbytes" {
			return false
		}
		s.raw = bytes.Clone(s.raw)
		for i, b := range s.raw {
			s.raw[i] = b<<4 | b>>4
		}
		return true
	}},
	{"scale-grid-transposed", []string{checkpoint.KindBaseBlocks}, "transposed", func(f *folder, _ string) bool {
		s := f.partOf("model.layers.1.self_attn.o_proj", quant.Scale)
		if s == nil || len(s.shape) != 2 || s.shape[0] != s.shape[1] || s.shape[0] < 2 {
			return false
		}
		n, w, old := s.shape[0], len(s.raw)/(s.shape[0]*s.shape[1]), s.raw
		s.raw = make([]byte, len(old))
		for r := range n {
			for c := range n {
				copy(s.raw[(c*n+r)*w:(c*n+r+1)*w], old[(r*n+c)*w:])
			}
		}
		return true
	}},
	{"global-divides", []string{checkpoint.KindScaleInverted, checkpoint.KindBaseScale}, "times the base", func(f *folder,
		module string,
	) bool {
		s := f.partOf(module, quant.Global)
		return s != nil && s.floats(func(_ int, v float64) float64 { return 1 / v })
	}},
	{"zeros-off-by-one", []string{checkpoint.KindZeroPoint}, "1 steps", func(f *folder, module string) bool {
		return f.partOf(module, quant.Zero) != nil && (f.method() == "gptq" || f.method() == "awq") &&
			fields(func(w uint32) uint32 {
				out := uint32(0)
				for s := 0; s < 32; s += 4 {
					out |= min(w>>s&15+1, 15) << s
				}
				return out
			}, quant.Zero)(f, module)
	}},
	{"order-of-activations-ignored", []string{checkpoint.KindBaseBlocks}, "g_idx", func(f *folder, module string) bool {
		for _, s := range f.tensors {
			if s.name == module+".g_idx" && f.declared()["desc_act"] == true {
				s.raw = bytes.Clone(s.raw)
				for i := range len(s.raw) / 4 {
					binary.LittleEndian.PutUint32(s.raw[4*i:], uint32(i/32))
				}
				return true
			}
		}
		return false
	}},
	{"awq-order", []string{checkpoint.KindNibbles}, "order", func(f *folder, module string) bool {
		straight := func(w uint32) uint32 {
			out := uint32(0)
			for i, c := range [8]int{0, 2, 4, 6, 1, 3, 5, 7} {
				out |= w >> (4 * i) & 15 << (4 * c)
			}
			return out
		}
		// Codes and zero points are packed straight, and the scales stay.
		return f.method() == "awq" && fields(straight, quant.Codes)(f, module) && fields(straight, quant.Zero)(f, module)
	}},
}

// What a converter gets wrong is named, whatever the two schemes are: 95 % of all slips, and nothing else is blamed.
func TestReferenceNames(t *testing.T) {
	t.Parallel()
	all, hit, pairs := 0, 0, map[string]bool{}
	for k, c := range slips {
		for i, pair := range againstWhat {
			if draws() == 1 && (i+k)%11 != 0 { // two of the pairs for each slip
				continue
			}
			f := drawn(t, pair[0], "llama", 8)
			if !c.do(f, slipped) {
				continue
			}
			r := compared(t, f, drawn(t, pair[1], "llama", 8))
			all++
			pairs[pair[0]+" against "+pair[1]] = true
			if slices.ContainsFunc(r.Findings, func(x checkpoint.Finding) bool {
				return x.Severity >= checkpoint.Likely && slices.Contains(c.kinds, x.Kind) && strings.Contains(x.Text, c.says)
			}) {
				hit++
			} else {
				t.Logf("%s in %s against %s: %v", c.name, pair[0], pair[1], first(r.Findings, 3))
			}
		}
	}
	t.Logf("%d of %d slips of %d kinds over %d pairs of schemes were named", hit, all, len(slips), len(pairs))
	if 100*hit < 95*all {
		t.Errorf("%d of %d slips were named", hit, all)
	}
	if v, _ := os.LookupEnv("ASSAY_BUDGET"); v == "full" && (all < 30 || len(pairs) < 12) {
		t.Errorf("%d slips over %d pairs, want 30 over 12", all, len(pairs))
	}
}

// Any two schemes of the same weights raise nothing.
func TestReferenceBetweenSchemes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(20261201, 21))
	for i, pair := range againstWhat {
		if pair[1] == "bf16" || draws() == 1 && i%2 == 0 {
			continue
		}
		seed := rng.Uint64N(100)
		r := compared(t, drawn(t, pair[0], "llama", seed), drawn(t, pair[1], "llama", seed))
		for _, f := range r.Findings {
			if f.Severity >= checkpoint.Likely {
				t.Errorf("%v: %s", pair, f)
			}
		}
	}
}
