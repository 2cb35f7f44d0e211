package precision

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/safetensors"
)

// Every matrix of the quantised folders reads as the loader of nano-v4 reads it, in strips that cut blocks.
func TestStripsAreTheLoadersValues(t *testing.T) {
	for _, folder := range []string{"nano-v4-mxfp4", "nano-v4-nvfp4"} {
		s, err := newSource(shipped(t, folder), nil)
		require.NoError(t, err)
		compared := 0
		for _, canon := range s.names {
			rows, cols, ok := s.shape(canon)
			if !ok || rows < 2 || s.isScale(canon) || s.integer(canon) {
				continue
			}
			want, err := nano.Dequantise(s.ckpt, s.places[canon].stored, []int{rows, cols})
			require.NoError(t, err)
			var got []float64
			for from := 0; from < rows; from += 37 {
				m, err := s.rows(canon, from, min(from+37, rows))
				require.NoError(t, err)
				got = append(got, m.Data...)
			}
			require.Equal(t, want, got, "%s %s", folder, canon)
			compared++
		}
		assert.Greater(t, compared, 90, folder)
	}
}

// part is a tensor of a made checkpoint.
type part struct {
	dtype string
	shape []int
	raw   []byte
}

func f32(shape []int, v ...float32) part {
	var b bytes.Buffer
	for _, x := range v {
		_ = binary.Write(&b, binary.LittleEndian, x) // a buffer never fails
	}
	return part{"F32", shape, b.Bytes()}
}

// made writes a checkpoint of one file.
func made(t *testing.T, parts map[string]part) *safetensors.Checkpoint {
	t.Helper()
	header := map[string]any{}
	var data bytes.Buffer
	for name, p := range parts {
		header[name] = map[string]any{
			"dtype": p.dtype, "shape": p.shape, "data_offsets": []int{data.Len(), data.Len() + len(p.raw)},
		}
		data.Write(p.raw)
	}
	text, err := json.Marshal(header)
	require.NoError(t, err)
	var file bytes.Buffer
	require.NoError(t, binary.Write(&file, binary.LittleEndian, uint64(len(text))))
	file.Write(text)
	file.Write(data.Bytes())
	ckpt, err := safetensors.OpenCheckpoint(fstest.MapFS{"model.safetensors": {Data: file.Bytes()}}, ".")
	require.NoError(t, err)
	return ckpt
}

func TestOtherSpellingsAndStorages(t *testing.T) {
	one := byte(0x38) // 1.0 in e4m3
	s, err := newSource(made(t, map[string]part{
		// SGLang: wkv over wgate in one tensor, scales of fp8 as multipliers under another name.
		"model.layers.2.self_attn.indexer.compressor.wkv_gate.weight": f32([]int{4, 2}, 1, 2, 3, 4, 5, 6, 7, 8),
		"model.layers.2.self_attn.indexer.wq_b.weight": {
			"F8_E4M3", []int{2, 3}, []byte{one, one, one, one, one, one},
		},
		"model.layers.2.self_attn.indexer.wq_b.weight_scale_inv": f32([]int{1, 1}, 0.75),
		// One scale a row, as other quantisers store it.
		"model.layers.2.mlp.gate.weight":       {"F8_E4M3", []int{2, 2}, []byte{one, one, one, one}},
		"model.layers.2.mlp.gate.weight_scale": f32([]int{2, 1}, 2, 4),
		// No scale at all.
		"model.layers.3.mlp.gate.weight": {"F8_E4M3", []int{1, 2}, []byte{one, one}},
	}), nil)
	require.NoError(t, err)
	for canon, want := range map[string][]float64{
		"layers.2.attn.indexer.compressor.wkv.weight":   {1, 2, 3, 4},
		"layers.2.attn.indexer.compressor.wgate.weight": {5, 6, 7, 8},
		"layers.2.attn.indexer.wq_b.weight":             {0.75, 0.75, 0.75, 0.75, 0.75, 0.75},
		"layers.2.ffn.gate.weight":                      {2, 2, 4, 4},
	} {
		m, err := s.all(canon)
		require.NoError(t, err)
		assert.Equal(t, want, m.Data, canon)
	}
	m, err := s.rows("layers.2.attn.indexer.compressor.wgate.weight", 1, 2)
	require.NoError(t, err)
	assert.Equal(t, []float64{7, 8}, m.Data)
	_, err = s.all("layers.3.ffn.gate.weight")
	require.ErrorContains(t, err, "without its scale")
	_, err = s.all("layers.9.ffn.gate.weight")
	require.ErrorContains(t, err, "no such")
}

func TestSettings(t *testing.T) {
	s, defaulted, err := readSettings(nanoConfig(t))
	require.NoError(t, err)
	assert.Empty(t, defaulted)
	assert.Equal(t, 64, s.indexTopK)
	assert.Equal(t, 2, s.perToken)
	assert.Equal(t, 16, s.rope.Dims)
	assert.Equal(t, 20, s.hc.Iterations)
	_, defaulted, err = readSettings(nil)
	require.NoError(t, err)
	assert.Contains(t, defaulted, "index_topk 512")
	_, _, err = readSettings([]byte("{"))
	require.Error(t, err)
	for _, row := range []struct {
		rows, cols int
		head       bool
		want       int
	}{
		{24, 16384, false, 4},
		{8, 8, false, 2},
		{4, 16384, true, 4},
		{23, 16384, false, 0},
		{24, 10, false, 0},
		{0, 8, true, 0},
	} {
		assert.Equal(t, row.want, streams(row.rows, row.cols, row.head), "%v", row)
	}
}

func TestFingerprintFollowsTheGates(t *testing.T) {
	a, err := Fingerprint(shipped(t, "nano-v4"))
	require.NoError(t, err)
	b, err := Fingerprint(shipped(t, "nano-v4-mxfp4"))
	require.NoError(t, err)
	assert.NotEqual(t, a, b)
	gate := func(v float32) string {
		f, err := Fingerprint(made(t, map[string]part{"layers.0.ffn.gate.weight": f32([]int{1, 2}, 1, v)}))
		require.NoError(t, err)
		return f
	}
	first, again, other := gate(2), gate(2), gate(math.Nextafter32(2, 3))
	assert.Equal(t, first, again)
	assert.NotEqual(t, first, other)
}
