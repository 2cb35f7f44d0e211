package cuda_test

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/candidate"
	"github.com/assay-suite/assay/internal/cuda"
	"github.com/assay-suite/assay/internal/cuda/fake"
	"github.com/assay-suite/assay/internal/cuda/manifest"
)

// double is y = 2 x over a matrix, with x as it lies or packed.
const double = `
operator: double
source: double.cu
dtypes: F32
in: x F32[T, D]
out: y F32[T, D]
scratch: tmp F32[T + 1]
require: D <= 4
entry: double
grid: ceil(T, 2)
block: 32
args: x, y, tmp, i32 T, i32 D, i64 `

func kernel(m *fake.Memory, l cuda.Launch) {
	x, y, tmp := cuda.Ptr(l.Params[0].Bits), cuda.Ptr(l.Params[1].Bits), cuda.Ptr(l.Params[2].Bits)
	rows, columns, stride := int(l.Params[3].Bits), int(l.Params[4].Bits), int(l.Params[5].Bits)
	if !math.IsNaN(float64(m.F32(tmp, rows))) || l.Grid[0] != (rows+1)/2 {
		return
	}
	for i := range rows {
		for j := range columns {
			m.SetF32(y, i*columns+j, 2*m.F32(x, i*stride+j))
		}
	}
}

func worker(t *testing.T, stride string, faults fake.Faults) (*cuda.Worker, *fake.Device) {
	t.Helper()
	m, err := manifest.Parse("double.manifest", double+stride)
	require.NoError(t, err)
	d, err := fake.Open(map[string]fake.Kernel{"double": kernel}, faults)
	require.NoError(t, err)
	w, err := cuda.New(func() (cuda.Device, error) { return d, nil }, []cuda.Kernel{{Manifest: m}})
	require.NoError(t, err)
	t.Cleanup(w.Close)
	return w, d
}

// call doubles a view of 2 x 3 inside of a storage with gaps, which hold NaN.
func call() candidate.Call {
	nan := float32(math.NaN())
	return candidate.Call{
		Op: "double", Case: "c",
		Storage: map[string]candidate.Storage{
			"memory": candidate.FromFloat32s([]float32{nan, 1, 2, 3, nan, nan, 4, 5, 6, nan}),
		},
		Views: map[string]candidate.View{
			"x": {Storage: "memory", Offset: 1, Shape: []int{2, 3}, Strides: []int{5, 1}},
		},
		Outputs: map[string]candidate.Output{"y": {DType: "F32", Shape: []int{2, 3}, Prefill: "nan"}},
	}
}

func values(t *testing.T, r candidate.Reply) []float32 {
	t.Helper()
	out, err := r.Outputs["y"].Float32s()
	require.NoError(t, err)
	return out
}

// An operand MUST reach the kernel as it lies where the manifest names its strides, packed otherwise; scratch memory
// holds NaN, and freed memory is overwritten.
func TestLayoutsAndPoison(t *testing.T) {
	t.Parallel()
	for _, stride := range []string{"x.stride0", "D"} {
		w, d := worker(t, stride, fake.Faults{})
		c := call()
		c.Repeat = 2
		r, err := w.Run(t.Context(), c)
		require.NoError(t, err)
		assert.Equal(t, []float32{2, 4, 6, 8, 10, 12}, values(t, r))
		assert.Len(t, r.Digests, 2)
		assert.Equal(t, r.Digests[0], r.Digests[1])
		require.Len(t, d.Freed, 3)
		for _, b := range d.Freed {
			assert.Equal(t, bytes.Repeat([]byte{0xff}, len(b)), b)
		}
	}
}

// A graph MUST be captured with its companion's values and replayed with the call's own, from the same memory.
func TestGraphReplaysWithOtherValues(t *testing.T) {
	t.Parallel()
	w, d := worker(t, "x.stride0", fake.Faults{})
	c, before := call(), call()
	before.Case = "before"
	before.Storage = map[string]candidate.Storage{"memory": candidate.FromFloat32s(make([]float32, 10))}
	c.Mode, c.CaptureWith = candidate.Graph, &before
	r, err := w.Run(t.Context(), c)
	require.NoError(t, err)
	assert.Equal(t, []float32{2, 4, 6, 8, 10, 12}, values(t, r))
	assert.Equal(t, 1, d.Replays)
	before.Storage["memory"] = candidate.FromFloat32s(make([]float32, 11))
	_, err = w.Run(t.Context(), c)
	require.ErrorIs(t, err, candidate.ErrUnsupported)
}

// Times are of a replayed graph, of launches where they cannot be captured: at least 20 samples after warm-up.
func TestTimes(t *testing.T) {
	t.Parallel()
	for how, faults := range map[string]fake.Faults{"graph": {}, "events": {NoCapture: true}} {
		w, d := worker(t, "D", faults)
		c := call()
		c.Time = 5
		r, err := w.Run(t.Context(), c)
		require.NoError(t, err)
		require.NotNil(t, r.Times)
		assert.Equal(t, how, r.Times.How)
		assert.Len(t, r.Times.Samples, 20)
		assert.Equal(t, 1, r.Times.Launches)
		assert.Positive(t, r.Times.Ceilings.CopyGBs)
		assert.Zero(t, r.Times.Ceilings.BF16)
		assert.Equal(t, 24, d.Launches, "1 judged, 3 of warm-up, 20 timed")
	}
}

// What no manifest computes MUST be unsupported, with the reason of each manifest.
func TestUnsupported(t *testing.T) {
	t.Parallel()
	w, _ := worker(t, "D", fake.Faults{})
	for says, change := range map[string]func(c *candidate.Call){
		"no manifest is of operator":  func(c *candidate.Call) { c.Op = "triple" },
		"several cases in one launch": func(c *candidate.Call) { c.BatchWith = []candidate.Call{call()} },
		`the call has no operand "x"`: func(c *candidate.Call) { c.Views = nil; c.Storage = nil },
		"the kernel requires D <= 4, and here D is 5": func(c *candidate.Call) {
			c.Views["x"] = candidate.View{Storage: "memory", Shape: []int{2, 5}, Strides: []int{5, 1}}
			c.Outputs["y"] = candidate.Output{DType: "F32", Shape: []int{2, 5}, Prefill: "nan"}
		},
		`dimension 1 of y is 2, and D is 3`: func(c *candidate.Call) {
			c.Outputs["y"] = candidate.Output{DType: "F32", Shape: []int{2, 2}, Prefill: "nan"}
		},
		"y is BF16, and the kernel takes F32": func(c *candidate.Call) {
			c.Outputs["y"] = candidate.Output{DType: "BF16", Shape: []int{2, 3}, Prefill: "nan"}
		},
	} {
		c := call()
		change(&c)
		_, err := w.Run(t.Context(), c)
		require.ErrorIs(t, err, candidate.ErrUnsupported, says)
		assert.ErrorContains(t, err, says)
	}
}

// After an error that leaves the context unusable every call MUST be refused with the first one's words; after another
// one the next call works.
func TestStickyErrors(t *testing.T) {
	t.Parallel()
	w, _ := worker(t, "D", fake.Faults{Sync: 719})
	_, err := w.Run(t.Context(), call())
	require.ErrorContains(t, err, "running [double]: cuStreamSynchronize: CUDA_ERROR_LAUNCH_FAILED (719)")
	_, err = w.Run(t.Context(), call())
	require.ErrorContains(t, err, "start a new process: running [double]: cuStreamSynchronize: CUDA_ERROR_LAUNCH_FAILED")
	assert.True(t, cuda.Sticky(errors.Join(err)))
	assert.False(t, cuda.Sticky(&cuda.Error{Code: cuda.OutOfMemory}))

	w, _ = worker(t, "x.stride0", fake.Faults{Memory: 3 * 9000})
	big := call()
	big.Storage["memory"] = candidate.FromFloat32s(make([]float32, 1<<14))
	_, err = w.Run(t.Context(), big)
	require.ErrorContains(t, err, "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2)")
	_, err = w.Run(t.Context(), call())
	require.NoError(t, err)
}

// Two manifests of an operator are offered as one, as a list of facets.
func TestHelloJoinsManifests(t *testing.T) {
	t.Parallel()
	one, err := manifest.Parse("a.manifest", double+"D")
	require.NoError(t, err)
	two, err := manifest.Parse("b.manifest", "facet: dtypes=BF16 out=F32\n"+double+"D")
	require.NoError(t, err)
	open := func() (cuda.Device, error) { return fake.Open(nil, fake.Faults{}) }
	w, err := cuda.New(open, []cuda.Kernel{{Manifest: one}, {Manifest: two}})
	require.NoError(t, err)
	defer w.Close()
	h, err := w.Hello("w")
	require.NoError(t, err)
	assert.Len(t, h.Ops["double"].Facets, 4)
	two.Offer.Contract = "bf16-out"
	w, err = cuda.New(open, []cuda.Kernel{{Manifest: one}, {Manifest: two}})
	require.NoError(t, err)
	defer w.Close()
	_, err = w.Hello("w")
	require.ErrorContains(t, err, "b.manifest is a second manifest of operator \"double\"")
	_, err = cuda.New(open, nil)
	require.ErrorContains(t, err, "there is no manifest")
}
