package bench_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// A malformed call MUST be refused with a sentence that names the view, and nothing may panic.
func TestCallsAreChecked(t *testing.T) {
	good := func() bench.Call {
		return bench.Call{
			Op:      "rms_norm",
			Storage: map[string]bench.Storage{"s": {DType: "F32", Data: make([]float64, 12)}},
			Views:   map[string]bench.View{"x": {Storage: "s", Offset: 1, Shape: []int{2, 3}, Strides: []int{5, 1}}},
		}
	}
	require.NoError(t, good().Check())
	for _, row := range []struct {
		name  string
		spoil func(c bench.Call)
		want  string
	}{
		{"unknown storage", func(c bench.Call) { c.Views["x"] = bench.View{Storage: "t"} }, `storage "t"`},
		{"one element too far", func(c bench.Call) {
			c.Views["x"] = bench.View{Storage: "s", Offset: 5, Shape: []int{2, 3}, Strides: []int{5, 1}}
		}, "reaches element 12 of a storage of 12"},
		{"negative offset", func(c bench.Call) {
			c.Views["x"] = bench.View{Storage: "s", Offset: -1, Shape: []int{2}, Strides: []int{1}}
		}, "storage of 12"},
		{"negative stride", func(c bench.Call) {
			c.Views["x"] = bench.View{Storage: "s", Offset: 11, Shape: []int{2}, Strides: []int{-1}}
		}, "negative"},
		{"a stride short", func(c bench.Call) {
			c.Views["x"] = bench.View{Storage: "s", Shape: []int{2, 3}, Strides: []int{3}}
		}, "one stride for each dimension"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := good()
			row.spoil(c)
			if err := c.Check(); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want an error that says %q", err, row.want)
			}
		})
	}
}

// Outputs MUST be allocated full of the prefill pattern: quiet NaN with a payload that no arithmetic produces, or the
// bits that were asked for.
func TestOutputsArePrefilled(t *testing.T) {
	out := bench.Call{Outputs: map[string]bench.Output{
		"y": bench.Out(bench.F32, 2, 2), "i": bench.OutI32(3), "cache": {DType: bench.U8, Shape: []int{2}, Prefill: "0xa5"},
		"b": bench.Out(bench.BF16, 1),
	}}.Allocate()
	require.Len(t, out["y"].Data, 4)
	for _, v := range out["y"].Data {
		assert.Equal(t, uint32(0x7fc5a55a), math.Float32bits(float32(v)))
	}
	assert.Equal(t, []float64{0x7fc5a55a, 0x7fc5a55a, 0x7fc5a55a}, out["i"].Data)
	assert.Equal(t, []float64{0xa5, 0xa5}, out["cache"].Data)
	assert.Equal(t, uint32(0x7fc50000), math.Float32bits(float32(out["b"].Data[0])))
}

// A kernel that panics MUST be an error of the candidate, an operator that it lacks unsupported, and an element that it
// left alone the prefill pattern.
func TestKernels(t *testing.T) {
	crash := bench.FromKernel("crash", "op", func(bench.Args) (bench.Results, error) { panic("index out of range") })
	_, err := crash.Run(t.Context(), bench.Call{Op: "op", Case: "c"})
	assert.ErrorContains(t, err, "crashed")
	_, err = crash.Run(t.Context(), bench.Call{Op: "conv2d"})
	assert.True(t, bench.Unsupported(err), "%v", err)
	lazy := bench.FromKernel("lazy", "op", func(a bench.Args) (bench.Results, error) {
		y := a.Fresh("y")
		y[0] = 1.0 / 3
		return bench.Results{"y": y}, nil
	})
	r, err := lazy.Run(t.Context(), bench.Call{Op: "op", Outputs: map[string]bench.Output{"y": bench.Out(bench.BF16, 2)}})
	require.NoError(t, err)
	assert.Equal(t, 0.333984375, r.Outputs["y"].Data[0], "1/3 in bf16")
	assert.True(t, math.IsNaN(r.Outputs["y"].Data[1]))
}
