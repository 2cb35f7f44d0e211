package format_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/numerics/format"
)

func TestBlockDecode(t *testing.T) {
	// mxfp4 [2, 64]: two blocks a row; scales 2, 1/2 | 2^-127, 4. Element 0 of each block is 6, the
	// element after it -1.5, so that the nibble order and the block borders show.
	mx := format.Quantised{Rows: 2, Cols: 64, Codes: make([]byte, 64), Scales: []byte{128, 126, 0, 129}}
	for i := 0; i < 64; i += 16 {
		mx.Codes[i] = 0xb7
	}
	got, err := format.MXFP4.Decode(mx)
	require.NoError(t, err)
	want := make([]float64, 128)
	for i, s := range []float64{2, .5, 0x1p-127, 4} {
		want[32*i], want[32*i+1] = 6*s, -1.5*s
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("mxfp4 (-want +got)\n%s", d)
	}

	// nvfp4 [1, 32]: scales 1.125 and 448, tensor scale 2^-12 + 2^-35: products exact in float64,
	// and not in fp32.
	ts := float32(0x1p-12 + 0x1p-35)
	nv := format.Quantised{Rows: 1, Cols: 32, Codes: make([]byte, 16), Scales: []byte{0x39, 0x7e}, TensorScale: ts}
	nv.Codes[0], nv.Codes[15] = 0x05, 0xd0
	got, err = format.NVFP4.Decode(nv)
	require.NoError(t, err)
	assert.Equal(t, 3*1.125*float64(ts), got[0])
	assert.NotEqual(t, float64(3*1.125*ts), got[0])
	assert.Equal(t, -3*448*float64(ts), got[31])

	// blockfp8 [130, 129]: four blocks, the last ones short.
	fp8 := format.Quantised{Rows: 130, Cols: 129, Codes: make([]byte, 130*129), Scales: []byte{127, 128, 129, 130}}
	for i := range fp8.Codes {
		fp8.Codes[i] = 0x38 // 1
	}
	got, err = format.BlockFP8.Decode(fp8)
	require.NoError(t, err)
	for i, v := range got {
		if want := math.Exp2(float64(i/129/128*2 + i%129/128)); v != want {
			t.Fatalf("blockfp8 [%d, %d] is %v, want %v", i/129, i%129, v, want)
		}
	}
}

func TestHalfSteps(t *testing.T) {
	// Codes 0, 4 (2), 7 (6), 12 (-2), 15 (-6), 1 (.5), then zeros; scale 4.
	q := format.Quantised{
		Rows:   1,
		Cols:   32,
		Codes:  append([]byte{0x40, 0xc7, 0x1f}, make([]byte, 13)...),
		Scales: []byte{129},
	}
	down, up, err := format.MXFP4.HalfSteps(q)
	require.NoError(t, err)
	assert.Equal(t, []float64{1, 1, 4, 2, 4, 1}, down[:6])
	assert.Equal(t, []float64{1, 2, 4, 1, 4, 1}, up[:6])

	neg := format.Quantised{
		Rows:        1,
		Cols:        16,
		Codes:       append([]byte{0x04}, make([]byte, 7)...),
		Scales:      []byte{0xb8},
		TensorScale: 1,
	}
	down, up, err = format.NVFP4.HalfSteps(neg) // scale -1: the 2 stands for -2
	require.NoError(t, err)
	assert.Equal(t, []float64{.5, .25}, []float64{down[0], up[0]})

	nan := format.Quantised{Rows: 1, Cols: 32, Codes: make([]byte, 16), Scales: []byte{255}}
	down, up, err = format.MXFP4.HalfSteps(nan)
	require.NoError(t, err)
	assert.True(t, math.IsNaN(down[0]) && math.IsNaN(up[31]), "a NaN scale leaves nothing representable")
}

func TestBlockErrors(t *testing.T) {
	ok := format.Quantised{Rows: 2, Cols: 32, Codes: make([]byte, 32), Scales: make([]byte, 2)}
	_, err := format.MXFP4.Decode(ok)
	require.NoError(t, err)
	nv := format.Quantised{Rows: 1, Cols: 16, Codes: make([]byte, 8), Scales: make([]byte, 1), TensorScale: 1}
	_, err = format.NVFP4.Decode(nv)
	require.NoError(t, err)
	for _, row := range []struct {
		name, want string
		b          format.Block
		q          format.Quantised
		change     func(*format.Quantised)
	}{
		{"packed width as Cols", "Cols counts elements", format.MXFP4, ok, func(q *format.Quantised) { q.Cols = 16 }},
		{
			"scales of another block size", "scales of shape [2, 1], 2 bytes; got 4", format.MXFP4, ok,
			func(q *format.Quantised) {
				q.Scales = make([]byte, 4)
			},
		},
		{"odd columns", "whole bytes", format.MXFP4, ok, func(q *format.Quantised) { q.Cols = 31 }},
		{
			"shape that wraps round", "more elements", format.MXFP4, format.Quantised{}, func(q *format.Quantised) {
				q.Rows, q.Cols = 1<<33, 1<<31
			},
		},
		{
			"block of no rows", "at least 1",
			format.Block{Name: "x", Element: format.E2M1, Scale: format.E8M0, BlockCols: 32},
			ok, func(*format.Quantised) {},
		},
		{"negative shape", "negative", format.MXFP4, ok, func(q *format.Quantised) { q.Rows = -2 }},
		{"tensor scale where there is none", "has none", format.MXFP4, ok, func(q *format.Quantised) { q.TensorScale = 1 }},
		{"tensor scale forgotten", "positive finite", format.NVFP4, nv, func(q *format.Quantised) { q.TensorScale = 0 }},
		{
			"tensor scale NaN", "positive finite", format.NVFP4, nv, func(q *format.Quantised) {
				q.TensorScale = float32(math.NaN())
			},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			q := row.q
			row.change(&q)
			_, err := row.b.Decode(q)
			assert.ErrorContains(t, err, row.want)
			_, _, err = row.b.HalfSteps(q)
			assert.ErrorContains(t, err, row.want)
		})
	}
}
