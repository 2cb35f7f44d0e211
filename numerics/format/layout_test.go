package format_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/numerics/format"
)

// cell names what a byte of a page holds. The maps below are written byte after byte, as a kernel's
// author would draw the page; Offset is a closed form. Neither is made from the other.
type cell struct {
	field    string
	token, e int // the first element in the byte
}

// drawn lists, for one layout, the pages to draw.
type drawn struct {
	name  string
	make  func() (format.Layout, error)
	bytes func() []cell
}

const pad = "pad"

// run appends n elements of a token, size bytes each, or two to a byte for size 0.
func run(to []cell, field string, token, n, size int) []cell {
	if size == 0 {
		for e := 0; e < n; e += 2 {
			to = append(to, cell{field, token, e})
		}
		return to
	}
	for e := range n {
		for range size {
			to = append(to, cell{field, token, e})
		}
	}
	return to
}

func drawings() []drawn {
	var out []drawn
	for _, block := range []int{1, 2, 53, 61, 64, 69, 256, 576} { // FlashMLA's production and test blocks
		out = append(out,
			drawn{fmt.Sprintf("v4/%d", block), func() (format.Layout, error) { return format.PageV4(block) }, func() (c []cell) {
				for t := range block {
					c = run(run(c, "nope", t, 448, 1), "rope", t, 64, 2)
				}
				for t := range block {
					c = append(run(c, "scale", t, 7, 1), cell{pad, 0, 0})
				}
				for len(c)%576 != 0 {
					c = append(c, cell{pad, 0, 0})
				}
				return c
			}},
			drawn{
				fmt.Sprintf("v32/%d", block), func() (format.Layout, error) { return format.PageV32(block) }, func() (c []cell) {
					for t := range block {
						c = run(run(run(c, "nope", t, 512, 1), "scale", t, 4, 4), "rope", t, 64, 2)
					}
					return c
				},
			},
		)
	}
	for _, block := range []int{1, 32, 64} {
		for _, dim := range []int{64, 128} {
			out = append(out,
				drawn{
					fmt.Sprintf("index-fp8/%d/%d", block, dim), func() (format.Layout, error) {
						return format.PageIndexFP8(block, dim)
					}, func() (c []cell) {
						for t := range block {
							c = run(c, "key", t, dim, 1)
						}
						for t := range block {
							c = run(c, "scale", t, 1, 4)
						}
						return c
					},
				},
				drawn{
					fmt.Sprintf("index-fp4/%d/%d", block, dim), func() (format.Layout, error) {
						return format.PageIndexFP4(block, dim)
					}, func() (c []cell) {
						for t := range block {
							c = run(c, "key", t, dim, 0)
						}
						for t := range block {
							c = run(c, "scale", t, dim/32, 1)
							for range 4 - dim/32 {
								c = append(c, cell{pad, 0, 0})
							}
						}
						return c
					},
				},
			)
		}
	}
	return out
}

// Every element of every layout is where the drawing has it, every other byte is padding, and a page
// of random codes survives unpacking and packing, with zeros in the padding.
func TestLayoutsMatchTheirDrawings(t *testing.T) {
	r := rand.New(rand.NewPCG(20261129, 7))
	for _, d := range drawings() {
		t.Run(d.name, func(t *testing.T) {
			l, err := d.make()
			require.NoError(t, err)
			require.NoError(t, l.Validate())
			want := d.bytes()
			require.Len(t, want, l.Size)
			got := make([]cell, l.Size)
			for i := range got {
				got[i] = cell{pad, 0, 0}
			}
			for _, f := range l.Fields {
				for tok := range l.Tokens {
					for e := range f.Count {
						at, bit, err := l.Offset(f.Name, tok, e)
						require.NoError(t, err)
						if wantBit := e % 2 * 4; f.Format.Width() == 4 && bit != wantBit || f.Format.Width() != 4 && bit != 0 {
							t.Fatalf("%s element %d is at bit %d", f.Name, e, bit)
						}
						for b := range max(1, f.Format.Width()/8) {
							if bit == 0 {
								got[at+b] = cell{f.Name, tok, e}
							}
						}
					}
				}
			}
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("byte %d holds %+v, the drawing has %+v", i, got[i], want[i])
				}
			}

			page := make([]byte, l.Size)
			for i := range page {
				page[i] = byte(r.Uint32())
			}
			parts, err := l.Unpack(page)
			require.NoError(t, err)
			at := map[string]int{} // read in the order of the drawing, each field's bytes are its part
			for i, c := range want {
				if c.field == pad {
					page[i] = 0
					continue
				}
				if parts[c.field][at[c.field]] != page[i] {
					t.Fatalf("byte %d of part %q is not byte %d of the page", at[c.field], c.field, i)
				}
				at[c.field]++
			}
			for name, p := range parts {
				require.Len(t, p, at[name])
			}
			back, err := l.Pack(parts)
			require.NoError(t, err)
			require.True(t, bytes.Equal(page, back), "packing is not the inverse of unpacking")
		})
	}
}

// The sizes the sources state.
func TestPageSizes(t *testing.T) {
	size := func(l format.Layout, err error) int {
		require.NoError(t, err)
		return l.Size
	}
	for name, row := range map[string]struct{ got, want int }{
		"v32 token":                    {size(format.PageV32(1)), 656},
		"v32 page of 64":               {size(format.PageV32(64)), 41984},
		"v4 page of 64: 37376 padded":  {size(format.PageV4(64)), 37440},
		"v4 page of 2":                 {size(format.PageV4(2)), 3 * 576},
		"v4 page of 256":               {size(format.PageV4(256)), 260 * 576},
		"v4 page of 72 pads nothing":   {size(format.PageV4(72)), 73 * 576},
		"index page of 64":             {size(format.PageIndexFP8(64, 128)), 8448},
		"index fp4: 68 bytes a token":  {size(format.PageIndexFP4(64, 128)), 64 * 68},
		"index fp8: 132 bytes a token": {size(format.PageIndexFP8(32, 128)), 32 * 132},
	} {
		assert.Equal(t, row.want, row.got, name)
	}
}

// A token written with a recipe reads back as the recipe's block matrix and the rounded rope part,
// other tokens and the padding stay as they were.
func TestLayoutEncode(t *testing.T) {
	layout := func(l format.Layout, err error) format.Layout {
		require.NoError(t, err)
		return l
	}
	for _, row := range []struct {
		recipe string
		l      format.Layout
	}{
		{"sglang-kv", layout(format.PageV4(64))},
		{"flashmla-kv", layout(format.PageV4(61))},
		{"vllm-kv", layout(format.PageV4(2))},
		{"v32-fp8", layout(format.PageV32(64))},
		{"v32-fp8-ue8m0", layout(format.PageV32(64))},
		{"vllm-index-fp8", layout(format.PageIndexFP8(64, 128))},
		{"vllm-fp4", layout(format.PageIndexFP4(64, 128))},
		{"deepgemm-fp4", layout(format.PageIndexFP4(32, 64))},
	} {
		t.Run(row.recipe+" "+row.l.Name, func(t *testing.T) {
			r, err := format.RecipeByName(row.recipe)
			require.NoError(t, err)
			rng := rand.New(rand.NewPCG(20261129, 8))
			x := make([]float32, row.l.Width())
			for i := range x {
				x[i] = float32(rng.NormFloat64() * math.Exp2(float64(i/64)))
			}
			token := row.l.Tokens - 1
			page := bytes.Repeat([]byte{0xee}, row.l.Size)
			before := bytes.Clone(page)
			require.NoError(t, row.l.Encode(page, token, x, r))
			got, err := row.l.Decode(page, token)
			require.NoError(t, err)

			n := row.l.Fields[0].Count
			q, err := r.Quantise(x[:n], 1, n)
			require.NoError(t, err)
			want, err := r.Block.Decode(q)
			require.NoError(t, err)
			for _, v := range x[n:] {
				want = append(want, format.BF16.Round(float64(v)))
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			if row.l.Name == "v4-kv" { // value(bf16) * scale(bf16), rounded to bf16, is exact
				for i, v := range got {
					require.Equal(t, v, format.BF16.Round(v), i)
				}
			}
			changed := 0
			for i := range page {
				if page[i] != before[i] {
					changed++
				}
			}
			used := 0
			for _, f := range row.l.Fields {
				used += f.Count * f.Format.Width() / 8
				for tok := range token {
					at, _, err := row.l.Offset(f.Name, tok, 0)
					require.NoError(t, err)
					require.Equal(t, before[at], page[at], "token %d", tok)
				}
			}
			assert.LessOrEqual(t, changed, used)
		})
	}
}

// Planted: the page read token by token, scales behind each key, as its view [block, 1, dim+4]
// suggests, is another page; so is a V4 page without its padding.
func TestInterleavedReadingIsAnotherPage(t *testing.T) {
	l, err := format.PageIndexFP8(4, 32)
	require.NoError(t, err)
	wrong := l
	wrong.Fields = []format.Field{
		{Name: "key", Format: format.E4M3FN, Count: 32, Stride: 36, Scales: "scale", Group: 32},
		{Name: "scale", Format: format.FP32, Count: 1, At: 32, Stride: 36},
	}
	require.NoError(t, wrong.Validate(), "the wrong layout is consistent in itself")
	r, err := format.RecipeByName("vllm-index-fp8")
	require.NoError(t, err)
	r.Block.BlockCols = 32
	page := make([]byte, l.Size)
	x := make([]float32, 32)
	for tok := range 4 {
		for i := range x {
			x[i] = float32(tok + 1)
		}
		require.NoError(t, l.Encode(page, tok, x, r))
	}
	differ := 0
	for tok := range 4 {
		a, err := l.Decode(page, tok)
		require.NoError(t, err)
		b, err := wrong.Decode(page, tok)
		require.NoError(t, err)
		if !cmp.Equal(a, b) {
			differ++
		}
	}
	assert.Equal(t, 4, differ)
}
