package safetensors_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/safetensors"
)

// A written file MUST be what the format's text says, to the byte: wide dtypes first, header padded to 8.
func TestWriteBytes(t *testing.T) {
	var got bytes.Buffer
	err := safetensors.Write(&got, map[string]string{"by": "hand"},
		safetensors.Tensor{Name: "narrow", DType: safetensors.U8, Shape: []int{3}, Data: []byte{7, 8, 9}},
		safetensors.Tensor{Name: "empty", DType: safetensors.F32, Shape: []int{0, 4}},
		safetensors.Tensor{Name: "wide", DType: safetensors.F32, Data: []byte{0, 0, 128, 63}},
		safetensors.Tensor{Name: "packed", DType: safetensors.F4, Shape: []int{2}, Data: []byte{0x21}})
	require.NoError(t, err)
	header := `{"__metadata__":{"by":"hand"},` +
		`"empty":{"dtype":"F32","shape":[0,4],"data_offsets":[0,0]},` +
		`"wide":{"dtype":"F32","shape":[],"data_offsets":[0,4]},` +
		`"narrow":{"dtype":"U8","shape":[3],"data_offsets":[4,7]},` +
		`"packed":{"dtype":"F4","shape":[2],"data_offsets":[7,8]}}`
	header += strings.Repeat(" ", (8-len(header)%8)%8)
	want := build(header, 0)
	want = append(want, 0, 0, 128, 63, 7, 8, 9, 0x21)
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("wrote\n%q, want\n%q", got.Bytes(), want)
	}
	f, err := open(got.Bytes())
	require.NoError(t, err)
	closeAfter(t, f)
}

// What was read from files of other writers and written again MUST hold the same tensors, bit for bit.
func TestWriteFixturesAgain(t *testing.T) {
	for _, name := range []string{
		"nano-v4/model.safetensors", "nano-v4-nvfp4/model-00001-of-00003.safetensors", "oracles/codecs_ml_dtypes.safetensors",
	} {
		t.Run(name, func(t *testing.T) {
			f, err := safetensors.OpenFS(fixtures.FS, name)
			require.NoError(t, err)
			closeAfter(t, f)
			var tensors []safetensors.Tensor
			for _, n := range f.Names() {
				info, _ := f.Tensor(n)
				data, err := f.Bytes(n)
				require.NoError(t, err)
				tensors = append(tensors, safetensors.Tensor{Name: n, DType: info.DType, Shape: info.Shape, Data: data})
			}
			path := filepath.Join(t.TempDir(), "again.safetensors")
			require.NoError(t, safetensors.WriteFile(path, f.Metadata(), tensors...))
			got, err := os.ReadFile(path)
			require.NoError(t, err)
			want, err := fs.ReadFile(fixtures.FS, name)
			require.NoError(t, err)
			entries, meta, start := parseRaw(t, got)
			original, originalMeta, originalStart := parseRaw(t, want)
			require.Equal(t, originalMeta, meta)
			require.Len(t, entries, len(original))
			for n, o := range original {
				e := entries[n]
				if e.DType != o.DType || !slices.Equal(e.Shape, o.Shape) {
					t.Errorf("%q became %q %v, want %q %v", n, e.DType, e.Shape, o.DType, o.Shape)
				}
				if !bytes.Equal(got[start+e.Offsets[0]:start+e.Offsets[1]],
					want[originalStart+o.Offsets[0]:originalStart+o.Offsets[1]]) {
					t.Errorf("the bytes of %q changed", n)
				}
			}
		})
	}
}

func TestWriteRefusals(t *testing.T) {
	u8 := func(name string, shape []int, n int) safetensors.Tensor {
		return safetensors.Tensor{Name: name, DType: safetensors.U8, Shape: shape, Data: make([]byte, n)}
	}
	for name, c := range map[string]struct {
		tensors []safetensors.Tensor
		says    string
	}{
		"data too short": {
			[]safetensors.Tensor{u8("a", []int{3}, 2)},
			`tensor "a" of dtype "U8" and shape [3] has 3 bytes, and its data 2`,
		},
		"data too long": {[]safetensors.Tensor{u8("a", nil, 2)}, "and its data 2"},
		"name twice":    {[]safetensors.Tensor{u8("a", nil, 1), u8("a", nil, 1)}, `tensor name "a" is taken`},
		"reserved name": {[]safetensors.Tensor{u8("__metadata__", nil, 1)}, "is taken"},
		"unknown dtype": {[]safetensors.Tensor{{Name: "a", DType: "F9"}}, `dtype "F9"; the format has BOOL`},
		"negative":      {[]safetensors.Tensor{u8("a", []int{-1}, 0)}, "no dimension may be negative"},
		"overflow":      {[]safetensors.Tensor{u8("a", []int{1 << 40, 1 << 40}, 0)}, "more elements than a file can hold"},
		"half a byte": {
			[]safetensors.Tensor{{Name: "a", DType: safetensors.F4, Shape: []int{3}, Data: make([]byte, 2)}},
			"write whole bytes",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			err := safetensors.Write(&out, nil, c.tensors...)
			require.ErrorContains(t, err, c.says)
			if out.Len() > 0 {
				t.Errorf("%d bytes were written before the refusal", out.Len())
			}
			dir := t.TempDir()
			require.Error(t, safetensors.WriteFile(filepath.Join(dir, "x"), nil, c.tensors...))
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Empty(t, left, "a refused file leaves nothing behind")
		})
	}
	require.ErrorContains(t, safetensors.Write(failing{}, nil, u8("a", nil, 1)), "disk full")
	require.ErrorContains(t, safetensors.WriteFile(filepath.Join(t.TempDir(), "no", "such"), nil), "cannot be made")
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("disk full") }

// A file without tensors is a file.
func TestWriteNothing(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, safetensors.Write(&out, nil))
	f, err := open(out.Bytes())
	require.NoError(t, err)
	closeAfter(t, f)
	require.Empty(t, f.Names())
}
