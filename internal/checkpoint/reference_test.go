package checkpoint_test

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/checkpoint"
)

// referenced are schemes that are compared with the bf16 folder of the same weights.
var referenced = []string{
	"fp8-block", "fp8-block-bf16", "fp8-block-64", "fp8-tensor", "ct-fp8-channel", "mxfp8-u8", "quark-mxfp4", "ct-mxfp4",
	"modelopt-nvfp4", "ct-nvfp4", "ct-w4a16", "ct-w4a16-asym", "ct-w8a8", "gptq-sym", "gptq-asym-v2",
	"gptq-actorder", "awq",
	"bnb-nf4", "bnb-int8", "mlx",
}

func compared(t *testing.T, f, base *folder) checkpoint.Report {
	t.Helper()
	r, err := checkpoint.Examine(context.Background(), os.DirFS(f.write()), checkpoint.Options{
		Base: os.DirFS(base.write()), Reference: true,
	})
	require.NoError(t, err)
	return r
}

// Against what they were quantised from, sound folders of every scheme raise nothing, every weight is compared, and its
// error is that of its bits.
func TestReference(t *testing.T) {
	t.Parallel()
	for _, scheme := range referenced {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			r := compared(t, drawn(t, scheme, "llama", 7), drawn(t, "bf16", "llama", 7))
			for _, f := range r.Findings {
				if f.Severity >= checkpoint.Likely {
					t.Errorf("%s", f)
				}
			}
			linear := 0
			for _, d := range r.Base {
				if strings.Contains(d.Tensor, "_proj") {
					linear++
					if d.RelL2 > 0.2 || d.RelL2 < 1e-4 {
						t.Errorf("%s: relative L2 %g", d.Tensor, d.RelL2)
					}
				}
			}
			if linear != 7*gL {
				t.Errorf("%d linear layers were compared, want %d", linear, 7*gL)
			}
		})
	}
}

// What a converter gets wrong is named: gate and up exchanged, a scale doubled or inverted, another layer's tensor.
func TestReferenceNames(t *testing.T) {
	t.Parallel()
	exchange := func(f *folder, a, b string) {
		for _, s := range f.tensors {
			if rest, ok := strings.CutPrefix(s.name, a); ok {
				for _, o := range f.tensors {
					if o.name == b+rest {
						s.raw, o.raw = o.raw, s.raw
					}
				}
			}
		}
	}
	const gate, up = "model.layers.1.mlp.gate_proj.", "model.layers.1.mlp.up_proj."
	scales := func(f *folder, change func(v float64) float64) {
		for _, s := range f.tensors {
			if strings.HasPrefix(s.name, gate) && isScales(s) {
				s.floats(func(_ int, v float64) float64 { return change(v) })
			}
		}
	}
	for name, c := range map[string]struct {
		do    func(f *folder)
		kinds []string
		only  string // schemes that it applies to; "" for all
	}{
		"gate-up": {func(f *folder) { exchange(f, gate, up) }, []string{checkpoint.KindGateUpSwapped}, ""},
		"layer": {
			func(f *folder) { exchange(f, gate, "model.layers.2.mlp.gate_proj.") },
			[]string{checkpoint.KindBaseSwapped},
			"",
		},
		"doubled": {
			func(f *folder) { scales(f, func(v float64) float64 { return 2 * v }) },
			[]string{checkpoint.KindBaseScale},
			"fp8-block ct-fp8-channel ct-w4a16 ct-w8a8",
		},
		"nibbles": {func(f *folder) {
			for _, s := range f.tensors {
				if strings.HasPrefix(s.name, gate) && s.dtype == "U8" && len(s.raw) > 8192 {
					s.raw = bytes.Clone(s.raw)
					for i, b := range s.raw {
						s.raw[i] = b<<4 | b>>4
					}
				}
			}
		}, []string{checkpoint.KindNibbles}, "quark-mxfp4 ct-mxfp4 modelopt-nvfp4 ct-nvfp4"},
	} {
		for i, scheme := range referenced {
			if draws() == 1 && (i+len(name))%2 == 1 { // half of the schemes for each kind
				continue
			}
			if c.only != "" && !slices.Contains(strings.Fields(c.only), scheme) ||
				c.only == "" && strings.HasPrefix(scheme, "gptq-") && scheme != "gptq-sym" {
				continue
			}
			t.Run(name+"/"+scheme, func(t *testing.T) {
				t.Parallel()
				f := drawn(t, scheme, "llama", 8)
				c.do(f)
				r := compared(t, f, drawn(t, "bf16", "llama", 8))
				if !slices.ContainsFunc(r.Findings, func(x checkpoint.Finding) bool {
					return x.Severity >= checkpoint.Likely && slices.Contains(c.kinds, x.Kind)
				}) {
					t.Errorf("not named: %v", first(r.Findings, 3))
				}
			})
		}
	}
}
