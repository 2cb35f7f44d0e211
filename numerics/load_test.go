package numerics_test

import (
	"bytes"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/safetensors"
)

// tensor is a stored tensor decoded exactly into float64.
type tensor struct {
	shape []int
	v     []float64
}

// tensors is what both a file and a checkpoint offer.
type tensors interface {
	Tensor(name string) (safetensors.Info, bool)
	Bytes(name string) ([]byte, error)
}

// read decodes one tensor of a float dtype of at least 8 bits.
func read(t testing.TB, f tensors, name string) tensor {
	t.Helper()
	info, ok := f.Tensor(name)
	require.True(t, ok, "no tensor %q", name)
	b, err := f.Bytes(name)
	require.NoError(t, err)
	ff, err := format.ByDType(string(info.DType))
	require.NoError(t, err)
	size := ff.Width() / 8
	require.Positive(t, size, "%s has codes of less than a byte", ff)
	out := tensor{shape: info.Shape, v: make([]float64, len(b)/size)}
	for i := range out.v {
		var code uint32
		for j := range size {
			code |= uint32(b[i*size+j]) << (8 * j)
		}
		out.v[i] = ff.Decode(code)
	}
	return out
}

// recording is one GEMM of the H200: operands and every recorded output.
type recording struct {
	name    string
	x, w    []float64
	m, n, k int
	out     map[string][]float64 // by the recorded name: out_fp32, out_tf32, out_bf16, out_fast_accum, out_accurate
}

// recordings are read once.
var recordings = sync.OnceValues(func() (*safetensors.File, error) {
	raw, err := fixtures.ReadFile(fixtures.FS, "oracles/gemm_h200.safetensors.gz")
	if err != nil {
		return nil, err
	}
	return safetensors.NewReader(bytes.NewReader(raw), int64(len(raw)), "gemm_h200.safetensors")
})

func recorded(t testing.TB, name string) recording {
	t.Helper()
	f, err := recordings()
	require.NoError(t, err)
	xn, wn, outs := "x_bf16", "w_fp32", []string{"out_fp32", "out_tf32", "out_bf16"}
	if name[:3] == "fp8" {
		xn, wn, outs = "a_e4m3", "b_e4m3", []string{"out_fast_accum", "out_accurate"}
	}
	x, w := read(t, f, name+"."+xn), read(t, f, name+"."+wn)
	r := recording{name: name, x: x.v, w: w.v, m: x.shape[0], n: w.shape[0], k: x.shape[1], out: map[string][]float64{}}
	for _, o := range outs {
		r.out[o] = read(t, f, name+"."+o).v
	}
	return r
}
