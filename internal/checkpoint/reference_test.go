package checkpoint_test

import (
	"context"
	"os"
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
