package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/candidate"
	kernels "github.com/assay-suite/assay/kernels_test"
)

// A sound kernel behind the worker MUST be equivalent in every facet: layouts, graphs, repeats.
func TestSoundKernelIsEquivalent(t *testing.T) {
	t.Parallel()
	kernels.Test(t, kernels.Worker(t.Context(), line("sound")), kernels.Operators("sinkhorn"))
}

// A wrong kernel, and one that writes nothing, MUST be a fault.
func TestPlantedKernelIsAFault(t *testing.T) {
	t.Parallel()
	for _, role := range []string{"planted", "silent"} {
		r, err := kernels.Run(t.Context(), kernels.Worker(t.Context(), line(role)), kernels.Operators("sinkhorn"))
		require.NoError(t, err)
		assert.Equal(t, 1, r.Code, "%s: %s", role, r.Verdict)
	}
}

func sinkhornCall(mode string) candidate.Call {
	return candidate.Call{
		Op: "sinkhorn", Case: "one", Mode: mode,
		Attrs: map[string]any{"variant": "v4", "iterations": 3, "hc_eps": 1e-6},
		Storage: map[string]candidate.Storage{"logits": {
			DType: "F32", Shape: []int{1, 2, 2}, Data: candidate.FromFloat32s([]float32{1, 2, 3, 5}).Data,
		}},
		Outputs: map[string]candidate.Output{"comb": {DType: "F32", Shape: []int{1, 2, 2}, Prefill: "nan"}},
	}
}

// Whatever breaks MUST be an error of that call with CUDA's name and number or the operand, and the run MUST go on in a
// fresh process, which says the same of the next call.
func TestEveryErrorPath(t *testing.T) {
	t.Parallel()
	for role, c := range map[string]struct {
		mode string
		says []string
	}{
		"bad-image": {"", []string{"building sinkhorn.cu", "CUDA_ERROR_INVALID_IMAGE (200)"}},
		"compile": {"", []string{
			"NVRTC_ERROR_COMPILATION (6)", `sinkhorn.cu(12): error: identifier "lgits" is undefined`,
		}},
		"launch": {"", []string{"launching sinkhorn with grid [1 1 1]", "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701)"}},
		"memory": {"", []string{`bytes for "comb"`, "CUDA_ERROR_OUT_OF_MEMORY (2)"}},
		"sticky": {"", []string{"running [sinkhorn]", "CUDA_ERROR_LAUNCH_FAILED (719)"}},
		"address": {"", []string{
			"running [sinkhorn]: cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (700)",
		}},
		"outside":    {"", []string{`wrote outside of "comb": first at byte 24, 8 bytes behind its end`}},
		"before":     {"", []string{`wrote outside of "comb": first at byte -8, 8 bytes before its beginning`}},
		"operand":    {"", []string{`wrote into the operand "logits", which it may only read: first at byte 3 of 16`}},
		"no-capture": {"graph", []string{"CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED (900)"}},
	} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			w, err := candidate.Start(t.Context(), line(role), candidate.Options{})
			require.NoError(t, err)
			for range 2 {
				_, err = w.Run(t.Context(), sinkhornCall(c.mode))
				var broken *candidate.Error
				require.ErrorAs(t, err, &broken)
				assert.Equal(t, candidate.KindFailed, broken.Kind)
				for _, s := range c.says {
					assert.ErrorContains(t, err, s)
				}
			}
			assert.Equal(t, 1, w.Restarts(), "the second call is answered by a fresh process")
			require.NoError(t, w.Close())
		})
	}
}

// Without a driver or a device the worker MUST end before it greets, with the reason.
func TestNoDevice(t *testing.T) {
	t.Parallel()
	for role, says := range map[string]string{
		"no-library": "libcuda.so.1 cannot be loaded", "no-device": "CUDA_ERROR_NO_DEVICE (100)",
	} {
		_, err := candidate.Start(t.Context(), line(role), candidate.Options{})
		var broken *candidate.Error
		require.ErrorAs(t, err, &broken)
		assert.Contains(t, broken.Stderr, says)
	}
}

// A wrong command line MUST end with code 2 and a sentence.
func TestUsage(t *testing.T) {
	t.Parallel()
	bad := filepath.Join(t.TempDir(), "bad.manifest")
	require.NoError(t, os.WriteFile(bad, []byte("operator: x\ngrid: 1\n"), 0o600))
	for says, args := range map[string][]string{
		"the manifest cannot be read":                 {"/no/such.manifest"},
		"bad.manifest:2: grid comes before any entry": {bad},
		"flag provided but not defined":               {"-cpu", bad},
	} {
		var out, errs strings.Builder
		assert.Equal(t, 2, run(args, strings.NewReader(""), &out, &errs), says)
		assert.Contains(t, errs.String(), says)
		assert.Empty(t, out.String())
	}
}
