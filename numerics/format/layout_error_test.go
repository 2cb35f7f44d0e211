package format_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/numerics/format"
)

func TestLayoutErrors(t *testing.T) {
	l, err := format.PageV4(2)
	require.NoError(t, err)
	page := make([]byte, l.Size)
	r, err := format.RecipeByName("v4-fp8")
	require.NoError(t, err)

	_, _, err = l.Offset("rope", 0, 64)
	assert.ErrorContains(t, err, "64 elements")
	_, _, err = l.Offset("values", 0, 0)
	assert.ErrorContains(t, err, `no field "values"`)
	_, err = l.Unpack(page[1:])
	assert.ErrorContains(t, err, "1727 bytes, want 1728")
	_, err = l.Pack(map[string][]byte{"nope": nil})
	assert.ErrorContains(t, err, "1 parts for 3 fields")
	_, err = l.Pack(map[string][]byte{"nope": make([]byte, 896), "rope": make([]byte, 256), "scale": make([]byte, 16)})
	assert.ErrorContains(t, err, `"scale" has 16 bytes, want 2 tokens of 7`)
	_, err = l.Decode(page, 2)
	assert.ErrorContains(t, err, "token 2 of 2")
	_, err = l.Decode(nil, 0)
	assert.ErrorContains(t, err, "0 bytes")
	assert.ErrorContains(t, l.Encode(page, 0, make([]float32, 448), r), "448 values for a token of 512")
	assert.ErrorContains(t, l.Encode(page, 0, make([]float32, 512), r), "blocks of 1 x 128")

	for _, block := range []int{0, -3, 1 << 30} {
		_, err = format.PageV4(block)
		assert.ErrorContains(t, err, "a page of")
		_, err = format.PageV32(block)
		assert.ErrorContains(t, err, "a page of")
	}
	_, err = format.PageIndexFP8(64, 100)
	assert.ErrorContains(t, err, "keys of 100")
	_, err = format.PageIndexFP4(0, 128)
	assert.ErrorContains(t, err, "a page of 0")

	p, tok, ok := l.Locate(7)
	assert.True(t, ok && p == 3 && tok == 1)
	_, _, ok = l.Locate(-1)
	assert.False(t, ok)
}

func TestLayoutValidate(t *testing.T) {
	good := func() format.Layout {
		l, err := format.PageIndexFP4(2, 64)
		require.NoError(t, err)
		return l
	}
	require.NoError(t, good().Validate())
	for _, row := range []struct {
		name, want string
		change     func(*format.Layout)
	}{
		{"scales begin one byte early", "share byte 63", func(l *format.Layout) { l.Fields[1].At-- }},
		{"page too short", "reaches byte", func(l *format.Layout) { l.Size -= 4 }},
		{"stride too small", "share byte", func(l *format.Layout) { l.Fields[0].Stride-- }},
		{"scales of nothing", `no field "factor"`, func(l *format.Layout) { l.Fields[0].Scales = "factor" }},
		{"groups too large", "need as many scales", func(l *format.Layout) { l.Fields[0].Group = 64 }},
		{"odd nibbles", "whole bytes", func(l *format.Layout) { l.Fields[0].Count, l.Fields[0].Group = 63, 32 }},
		{"before the page", "reaches byte", func(l *format.Layout) { l.Fields[0].At = -1 }},
		{"negative stride", "reaches byte", func(l *format.Layout) { l.Fields[0].Stride = -32 }},
		{"no group", "need as many scales", func(l *format.Layout) { l.Fields[0].Group = 0 }},
		{"huge page", "at most 254", func(l *format.Layout) { l.Size = 1 << 40 }},
		{"no tokens", "at least 1", func(l *format.Layout) { l.Tokens = 0 }},
	} {
		t.Run(row.name, func(t *testing.T) {
			l := good()
			row.change(&l)
			assert.ErrorContains(t, l.Validate(), row.want)
			// Invalid layouts give errors or another page, they do not panic.
			page := make([]byte, min(max(l.Size, 0), 1<<12))
			_, _ = l.Decode(page, l.Tokens-1)
			_, _ = l.Unpack(page)
			_, _ = l.Pack(map[string][]byte{"key": make([]byte, 64), "scale": make([]byte, 4)})
			_ = l.Encode(page, 0, make([]float32, l.Width()), recipe(t, "v4-fp4"))
		})
	}
}

// The tiles drawn by walking them in storage order: row block, column block, row within 32, quarter
// of 32 rows, column.
func TestSwizzleMatchesTheWalk(t *testing.T) {
	for _, shape := range [][2]int{
		{1, 1},
		{32, 4},
		{33, 5},
		{128, 4},
		{129, 4},
		{128, 8},
		{300, 13},
		{257, 32},
		{0, 4},
		{5, 0},
	} {
		rows, cols := shape[0], shape[1]
		pr, pc := format.SwizzledShape(rows, cols)
		scales := make([]byte, rows*cols)
		for i := range scales {
			scales[i] = byte(i*7 + 1)
		}
		tiles, err := format.Swizzle(scales, rows, cols, 0xaa)
		require.NoError(t, err)
		require.Len(t, tiles, pr*pc)
		at := 0
		for rb := 0; rb < pr; rb += 128 {
			for cb := 0; cb < pc; cb += 4 {
				for r32 := range 32 {
					for q := range 4 {
						for c := range 4 {
							row, col := rb+32*q+r32, cb+c
							want := byte(0xaa)
							if row < rows && col < cols {
								want = scales[row*cols+col]
								require.Equal(t, at, format.SwizzledOffset(row, col, cols))
							}
							if tiles[at] != want {
								t.Fatalf("%v: byte %d is %#x, want %#x of [%d, %d]", shape, at, tiles[at], want, row, col)
							}
							at++
						}
					}
				}
			}
		}
		require.Equal(t, pr*pc, at)
		back, err := format.Unswizzle(tiles, rows, cols)
		require.NoError(t, err)
		require.Equal(t, scales, back)
	}
	_, err := format.Swizzle(make([]byte, 5), 2, 3, 0)
	assert.ErrorContains(t, err, "5 scales")
	_, err = format.Unswizzle(make([]byte, 5), 2, 3)
	assert.ErrorContains(t, err, "want 128 x 4")
	_, err = format.Swizzle(nil, -1, 3, 0)
	assert.Error(t, err)
	_, err = format.Unswizzle(nil, -1, 3)
	assert.Error(t, err)
	// Planted: swizzling twice is another arrangement (a checkpoint's scales are linear).
	s := make([]byte, 512)
	for i := range s {
		s[i] = byte(i)
	}
	once, err := format.Swizzle(s, 128, 4, 0)
	require.NoError(t, err)
	twice, err := format.Swizzle(once, 128, 4, 0)
	require.NoError(t, err)
	assert.NotEqual(t, once, twice)
}
