package kernels_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	kernels "github.com/assay-suite/assay/kernels_test"
)

// A malformed call MUST be refused with a sentence that names the view, and nothing may panic.
func TestCallsAreChecked(t *testing.T) {
	good := func() kernels.Call {
		return kernels.Call{
			Op:      "mhc_head",
			Storage: map[string]kernels.Storage{"s": {DType: "F32", F32: make([]float32, 12)}},
			Views:   map[string]kernels.View{"x": {Storage: "s", Offset: 1, Shape: []int{2, 3}, Strides: []int{5, 1}}},
		}
	}
	require.NoError(t, good().Check())
	for _, row := range []struct {
		name  string
		spoil func(c kernels.Call)
		want  string
	}{
		{"unknown storage", func(c kernels.Call) { c.Views["x"] = kernels.View{Storage: "t"} }, `storage "t"`},
		{"one element too far", func(c kernels.Call) {
			c.Views["x"] = kernels.View{Storage: "s", Offset: 5, Shape: []int{2, 3}, Strides: []int{5, 1}}
		}, "reaches element 12 of a storage of 12"},
		{"negative offset", func(c kernels.Call) {
			c.Views["x"] = kernels.View{Storage: "s", Offset: -1, Shape: []int{2}, Strides: []int{1}}
		}, "storage of 12"},
		{"negative stride", func(c kernels.Call) {
			c.Views["x"] = kernels.View{Storage: "s", Offset: 11, Shape: []int{2}, Strides: []int{-1}}
		}, "negative"},
		{"a stride short", func(c kernels.Call) {
			c.Views["x"] = kernels.View{Storage: "s", Shape: []int{2, 3}, Strides: []int{3}}
		}, "one stride for each dimension"},
		{"another dtype", func(c kernels.Call) { c.Storage["s"] = kernels.Storage{DType: "BF16"} }, `dtype "BF16"`},
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

// Outputs MUST be allocated full of the prefill pattern, which survives the way to the judge.
func TestOutputsArePrefilled(t *testing.T) {
	out := kernels.Call{Outputs: map[string]kernels.Output{"y": {DType: "F32", Shape: []int{2, 2}, Prefill: "nan"}}}.Allocate()
	require.Len(t, out["y"].F32, 4)
	for _, v := range out["y"].F32 {
		assert.Equal(t, uint32(kernels.PrefillBits), math.Float32bits(v))
		assert.Equal(t, math.Float64bits(kernels.Prefill()), math.Float64bits(float64(v)))
	}
}

// An operator that no candidate knows MUST be unsupported, not a crash.
func TestUnknownOperator(t *testing.T) {
	r, err := kernels.Built("fp32")
	require.NoError(t, err)
	_, err = kernels.FromOps(r.Name, r.Ops()).Run(t.Context(), kernels.Call{Op: "conv2d"})
	assert.True(t, kernels.Unsupported(err), "%v", err)
	_, err = kernels.Built("fp8")
	assert.ErrorContains(t, err, `"fp8"`)
}
