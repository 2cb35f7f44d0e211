package safetensors_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/safetensors"
)

// A file written in pieces MUST be the bytes of one that is written whole.
func TestStreamIsWrite(t *testing.T) {
	tensors := []safetensors.Tensor{
		{Name: "a", DType: safetensors.U8, Shape: []int{3}, Data: []byte{1, 2, 3}},
		{Name: "b", DType: safetensors.F32, Shape: []int{2, 1}, Data: []byte{4, 5, 6, 7, 8, 9, 10, 11}},
	}
	meta := map[string]string{"format": "pt"}
	var whole bytes.Buffer
	require.NoError(t, safetensors.Write(&whole, meta, tensors...))
	path := filepath.Join(t.TempDir(), "x.safetensors")
	s, err := safetensors.Create(path, meta, tensors...)
	require.NoError(t, err)
	require.NoError(t, s.WriteAt("b", 4, tensors[1].Data[4:]))
	require.NoError(t, s.WriteAt("a", 0, tensors[0].Data))
	require.NoError(t, s.WriteAt("b", 0, tensors[1].Data[:4]))
	require.NoError(t, s.Close())
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, whole.Bytes(), got)
}

// What is not all there, or does not fit, MUST be refused, and nothing left behind.
func TestStreamRefuses(t *testing.T) {
	dir := t.TempDir()
	s, err := safetensors.Create(filepath.Join(dir, "x.safetensors"), nil,
		safetensors.Tensor{Name: "a", DType: safetensors.U8, Shape: []int{3}})
	require.NoError(t, err)
	require.ErrorContains(t, s.WriteAt("b", 0, nil), `not begun with a tensor "b"`)
	require.ErrorContains(t, s.WriteAt("a", 2, []byte{1, 2}), "2 bytes at 2 do not fit")
	require.ErrorContains(t, s.Close(), "0 bytes of tensors were written, the header says 3")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}
