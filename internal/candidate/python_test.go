package candidate

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/numerics/format"
)

// adapters is the folder of the Python files.
const adapters = "../../adapters/python"

// python returns the interpreter that ASSAY_PYTHON names. The offline proof needs no Python, so that these tests ask
// for it; once asked, an interpreter without numpy is a failure.
func python(t *testing.T) string {
	t.Helper()
	path, set := os.LookupEnv("ASSAY_PYTHON")
	if !set || path == "" {
		t.Skip("set ASSAY_PYTHON to an interpreter with numpy to run the Python workers")
	}
	return path
}

// script starts a Python worker.
func script(t *testing.T, args string) *Worker {
	t.Helper()
	at, err := filepath.Abs(adapters)
	require.NoError(t, err)
	line := fmt.Sprintf("PYTHONDONTWRITEBYTECODE=1 PYTHONPATH='%s' '%s' %s", at, python(t), args)
	w, err := Start(context.WithoutCancel(t.Context()), line, Options{})
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return w
}

// raw makes a storage of codes.
func raw(t *testing.T, dtype string, codes []uint32) Storage {
	t.Helper()
	s := Storage{DType: dtype, Shape: []int{len(codes)}}
	width, err := byteSize(dtype, []int{1})
	require.NoError(t, err)
	for _, c := range codes {
		s.Data = append(s.Data, binary.LittleEndian.AppendUint32(nil, c)[:width]...)
	}
	return s
}

// one is a call with the operand x and the output y.
func one(op string, x Storage, dtype, prefill string) Call {
	return Call{
		Op: op, Case: op, Storage: map[string]Storage{"x": x},
		Outputs: map[string]Output{"y": {DType: dtype, Shape: x.Shape, Prefill: prefill}},
	}
}

// The worker's codecs MUST be those of numerics/format: every code of the narrow formats widened, and values on, beside
// and between all their codes narrowed.
func TestPythonFormats(t *testing.T) {
	w := script(t, "testdata/odd_worker.py")
	for _, dtype := range []string{"F16", "BF16", "F8_E4M3", "F8_E5M2", "F8_E8M0"} {
		f, err := format.ByDType(dtype)
		require.NoError(t, err)
		codes := make([]uint32, f.Codes())
		for i := range codes {
			codes[i] = uint32(i)
		}
		got, err := w.Run(t.Context(), one("widen", raw(t, dtype, codes), "F32", "nan"))
		require.NoError(t, err)
		wide, err := got.Outputs["y"].Float32s()
		require.NoError(t, err)
		var between []float32
		for i, code := range codes {
			want := f.Decode(code)
			same := math.Float64bits(want) == math.Float64bits(float64(wide[i])) ||
				math.IsNaN(want) && math.IsNaN(float64(wide[i]))
			if !same {
				t.Errorf("%s: code 0x%x is %v, and numerics/format says %v", dtype, code, wide[i], want)
			}
			if next := f.Decode(code ^ 1); !math.IsNaN(want+next) && !math.IsInf(want+next, 0) {
				mid := float32((want + next) / 2)
				between = append(between, float32(want), math.Nextafter32(mid, 0), mid, math.Nextafter32(mid, float32(math.Inf(1))))
			}
		}
		if dtype == "F8_E8M0" || dtype == "F16" {
			continue // not encoded; numpy's own
		}
		between = append(between, float32(f.Max())*1.01, float32(f.Max())*4, -float32(f.Max())*4, float32(math.Inf(1)),
			float32(math.NaN()))
		got, err = w.Run(t.Context(), one("narrow", FromFloat32s(between), dtype, "0x11"))
		require.NoError(t, err)
		width := len(got.Outputs["y"].Data) / len(between)
		for i, v := range between {
			code := binary.LittleEndian.Uint32(append(slices.Clone(got.Outputs["y"].Data[width*i:width*(i+1)]), 0, 0, 0))
			want := f.Encode(float64(v), format.RN, format.Overflow)
			if code != want && !(math.IsNaN(f.Decode(code)) && math.IsNaN(f.Decode(want))) {
				t.Errorf("%s: %v (0x%x) becomes 0x%x, and numerics/format says 0x%x", dtype, v, math.Float32bits(v), code, want)
			}
		}
	}
}

// What a function does not write MUST keep the prefill, to the bit, in every dtype.
func TestPythonPrefill(t *testing.T) {
	w := script(t, "testdata/odd_worker.py")
	x := FromFloat32s([]float32{1, 1, 1, 1})
	for _, c := range []struct {
		dtype, prefill string
		one            uint32
	}{
		{"F32", "nan", 0x3f800000},
		{"BF16", "nan", 0x3f80},
		{"F16", "nan", 0x3c00},
		{"F8_E4M3", "nan", 0x38},
		{"F8_E5M2", "nan", 0x3c},
		{"F32", "0x7fc12345", 0x3f800000},
		{"I32", "0xdeadbeef", 1},
		{"F8_E4M3", "0xd3", 0x38},
	} {
		o := Output{DType: c.dtype, Prefill: c.prefill}
		bits, err := o.Bits()
		require.NoError(t, err)
		got, err := w.Run(t.Context(), one("half", x, c.dtype, c.prefill))
		require.NoError(t, err, c.dtype)
		want := raw(t, c.dtype, []uint32{c.one, c.one, uint32(bits), uint32(bits)})
		assert.Equal(t, want, got.Outputs["y"], "%s %s", c.dtype, c.prefill)
	}
}

// Views, attributes and their defaults MUST arrive, and what a function prints may not.
func TestPythonViews(t *testing.T) {
	w := script(t, "testdata/odd_worker.py")
	call := Call{
		Op: "rows", Case: "rows", Attrs: map[string]any{"factor": 100},
		Storage: map[string]Storage{"s": FromFloat32s([]float32{-1, 1, 2, -1, 3, 4, -1})},
		Views: map[string]View{
			"a": {"s", 1, []int{2, 2}, []int{3, 1}}, // 1 2 / 3 4
			"b": {"s", 1, []int{2, 2}, []int{1, 3}}, // its transpose, in the same memory
		},
		Outputs: map[string]Output{"y": {"F32", []int{2, 2}, "nan"}},
	}
	got, err := w.Run(t.Context(), call)
	require.NoError(t, err)
	assert.Equal(t, FromFloat32s([]float32{111, 213, 312, 414}).Data, got.Outputs["y"].Data)
	assert.Equal(t, "rows path", got.Path)
	require.Eventually(t, func() bool { // standard error comes on its own time
		return strings.Contains(w.Stderr(), "launching") && strings.Contains(w.Stderr(), "from C")
	}, patience, time.Millisecond)
	assert.Zero(t, w.Restarts())
}

// Every run of a repeat MUST start from the same memory; digests are equal where the outputs are, and only there.
func TestPythonRepeats(t *testing.T) {
	w := script(t, "testdata/odd_worker.py")
	call := one("scribble", FromFloat32s([]float32{1, 2}), "F32", "nan")
	call.Repeat = 4
	got, err := w.Run(t.Context(), call)
	require.NoError(t, err)
	assert.Equal(t, FromFloat32s([]float32{1, 2}), got.Outputs["y"])
	assert.Len(t, slices.Compact(slices.Clone(got.Digests)), 1)
	call.Op = "counter"
	got, err = w.Run(t.Context(), call)
	require.NoError(t, err)
	assert.Equal(t, FromFloat32s([]float32{4, 4}), got.Outputs["y"], "what the last run wrote")
	assert.Len(t, slices.Compact(slices.Sorted(slices.Values(got.Digests))), 4)
}

// Graph mode and companions MUST reach a function that declares them and be refused for one that does not.
func TestPythonGraphAndBatch(t *testing.T) {
	w := script(t, "testdata/odd_worker.py")
	call := one("together", FromFloat32s([]float32{1, 2}), "F32", "nan")
	short := one("together", FromFloat32s([]float32{9}), "F32", "nan")
	other := one("together", FromFloat32s([]float32{5}), "F32", "nan")
	short.Case, other.Case = "short", "other"
	call.Mode, call.CaptureWith, call.BatchWith = Graph, &short, []Call{other}
	got, err := w.Run(t.Context(), call)
	require.NoError(t, err)
	assert.Equal(t, "graph after [9.0]", got.Path)
	assert.Equal(t, FromFloat32s([]float32{2, 4}), got.Outputs["y"])
	assert.Equal(t, FromFloat32s([]float32{10}), got.Batch[0]["y"])
	alone := one("scribble", FromFloat32s([]float32{1}), "F32", "nan")
	other.Op = alone.Op
	alone.BatchWith = []Call{other}
	_, err = w.Run(t.Context(), alone)
	require.ErrorIs(t, err, ErrUnsupported)
	require.ErrorContains(t, err, "several cases in one launch")
}

// An exception is an error with its text, Unsupported is unsupported, an exit is a crash, and the next call works.
func TestPythonFailures(t *testing.T) {
	w := script(t, "testdata/odd_worker.py")
	x := FromFloat32s([]float32{1})
	for op, c := range map[string]struct {
		kind Kind
		says string
	}{
		"raises": {KindFailed, "RuntimeError: shared memory exhausted"}, "exits": {KindExit, "exit status 5"},
	} {
		_, err := w.Run(t.Context(), one(op, x, "F32", "nan"))
		var broken *Error
		require.ErrorAs(t, err, &broken)
		assert.Equal(t, c.kind, broken.Kind)
		assert.ErrorContains(t, err, c.says)
	}
	refused := one("refuses", x, "F32", "nan")
	refused.Attrs = map[string]any{"heads": 4}
	_, err := w.Run(t.Context(), refused)
	require.ErrorIs(t, err, ErrUnsupported)
	require.ErrorContains(t, err, "heads must be 32 or 64, not 4")
	// dtypes are those of main operands, which assay knows and the worker does not: what lies beside them is answered
	_, err = w.Run(t.Context(), one("narrow", raw(t, "BF16", []uint32{1}), "F32", "nan"))
	require.NoError(t, err)
	_, err = w.Run(t.Context(), one("refuses", x, "F32", "nan"))
	require.ErrorContains(t, err, "no operand, output or attribute 'heads'")
	got, err := w.Run(t.Context(), one("narrow", x, "F32", "nan"))
	require.NoError(t, err)
	assert.Equal(t, x, got.Outputs["y"])
	assert.Equal(t, 2, w.Restarts())
}

// Where the interpreter has torch, operands and outputs are its tensors, with the same bits.
func TestPythonTorch(t *testing.T) {
	if err := exec.CommandContext(t.Context(), python(t), "-c", "import torch").Run(); err != nil {
		t.Skip("this interpreter has no torch, which workers need only if they ask for it")
	}
	w := script(t, "testdata/odd_worker.py cpu")
	for _, c := range []struct {
		in, out string
		code    uint32
		path    string
	}{
		{"F32", "F32", 0x3f800000, "torch.float32"},
		{"BF16", "F32", 0x3f80, "torch.bfloat16"},
		{"F8_E4M3", "BF16", 0x38, "torch.float8_e4m3fn"},
	} {
		got, err := w.Run(t.Context(), one("torch", raw(t, c.in, []uint32{c.code, c.code}), c.out, "nan"))
		require.NoError(t, err)
		bits, _ := NaN(c.out)
		want := map[string]uint32{"F32": 0x3f800000, "BF16": 0x3f80}[c.out]
		assert.Equal(t, raw(t, c.out, []uint32{want, uint32(bits)}), got.Outputs["y"])
		assert.Equal(t, c.path, got.Path)
	}
}

// The Python files' own tests.
func TestPythonUnitTests(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), python(t), "-m", "unittest", "discover", adapters)
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.NotContains(t, strings.ToLower(string(out)), "skipped", "numpy must be there once ASSAY_PYTHON is set")
}
