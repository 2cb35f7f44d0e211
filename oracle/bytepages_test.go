package oracle_test

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
)

func recipe(t require.TestingT, name string) format.Recipe {
	r, err := format.RecipeByName(name)
	require.NoError(t, err)
	return r
}

// Round trip through V4's page: fp8 channels within half a step of e4m3 under a scale of at most twice
// amax/448, RoPE channels within half a bf16 step; a second trip changes no value; pages of no table keep every
// byte, and unwritten tokens stay NaN.
func TestBytePagesRoundTrip(t *testing.T) {
	layout, err := format.PageV4(3)
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		tokens := rapid.IntRange(1, 7).Draw(t, "tokens")
		table, pages := drawTable(t, []int{tokens + 1}, 3)
		cache := oracle.NewBytePages(layout, pages, 0xff)
		x := ramp(tokens, 512, rapid.IntRange(0, 1000).Draw(t, "seed"))
		for i := range x.Data {
			x.Data[i] = float64(float32(x.Data[i] * math.Exp2(float64(i/64%8))))
		}
		r := recipe(t, "sglang-kv")
		require.NoError(t, cache.Write(table[0], 0, x, r))
		got, err := cache.Read(table[0], 0, tokens)
		require.NoError(t, err)
		for i := range tokens {
			for d, v := range x.Row(i) {
				bound := math.Abs(v) * 0x1p-8
				if d < 448 {
					amax := 0.0
					for _, w := range x.Row(i)[d/64*64 : d/64*64+64] {
						amax = math.Max(amax, math.Abs(w))
					}
					bound = math.Max(math.Abs(v)*0x1p-4, 2*amax/448*0x1p-10)
				}
				if math.Abs(got.Row(i)[d]-v) > bound*(1+1e-6) {
					t.Fatalf("token %d, channel %d: %v became %v", i, d, v, got.Row(i)[d])
				}
			}
		}
		// The values stay; the bytes need not: 449 is stored as 224 under a doubled scale, 448 as 448 under 1.
		require.NoError(t, cache.Write(table[0], 0, got, r))
		again, err := cache.Read(table[0], 0, tokens)
		require.NoError(t, err)
		if !slices.Equal(again.Data, got.Data) {
			t.Fatal("writing what was read changes a value")
		}
		untouched := bytes.Repeat([]byte{0xff}, layout.Size)
		for p, page := range cache.Pages {
			if !slices.Contains(table[0], p) && !bytes.Equal(page, untouched) {
				t.Fatalf("page %d is in no table and was written", p)
			}
		}
		beyond, err := cache.Read(table[0], tokens, 1)
		require.NoError(t, err)
		for d, v := range beyond.Data {
			if !math.IsNaN(v) {
				t.Fatalf("channel %d of an unwritten token is %v", d, v)
			}
		}
		_, err = cache.Read(table[0], 3*len(table[0]), 1)
		require.ErrorContains(t, err, "outside")
	})
	_, err = oracle.NewBytePages(layout, 1, 0).Read([]int{1}, 0, 1)
	require.ErrorContains(t, err, "the cache has 1")
	err = oracle.NewBytePages(layout, 1, 0).Write([]int{0}, 0, oracle.NewMat(1, 512), recipe(t, "v4-fp4"))
	require.ErrorContains(t, err, "token 0")
}

// V3.2's decode from bytes: absorbed attention over pages of 656 bytes a token equals both forms on
// the values that were stored.
func TestMLAFromBytePages(t *testing.T) {
	const rank, rope, tokens = 512, 64, 5
	layout, err := format.PageV32(2)
	require.NoError(t, err)
	table, err := oracle.BuildPageTable([]int{tokens}, 2, []int{3, 0, 2}, 0)
	require.NoError(t, err)
	cache := oracle.NewBytePages(layout, 4, 0xff)
	require.NoError(t, cache.Write(table[0], 0, ramp(tokens, rank+rope, 7), recipe(t, "v32-fp8")))
	stored, err := cache.Read(table[0], 0, tokens)
	require.NoError(t, err)
	m := oracle.MLA{
		Heads:  2,
		Nope:   3,
		Rope:   rope,
		Values: 2,
		KUp:    ramp(6, rank, 1),
		VUp:    ramp(4, rank, 2),
		Scale:  oracle.MLAScale(3+rope, 40, 1),
	}
	in := oracle.MLAInput{
		Q:      ramp(2, 2*(3+rope), 3),
		Latent: oracle.NewMat(tokens, rank),
		KRope:  oracle.NewMat(tokens, rope),
		Rows:   oracle.CausalRows([]int{2, 4}, 0, 0),
	}
	for s := range tokens {
		copy(in.Latent.Row(s), stored.Row(s)[:rank])
		copy(in.KRope.Row(s), stored.Row(s)[rank:])
	}
	want, _ := m.Expanded(in)
	absorbed, _ := m.Absorbed(in)
	pages, err := oracle.DecodePages(layout, cache.Pages)
	require.NoError(t, err)
	rows, err := oracle.PagedRows(pages, table, []int{0, 0}, in.Rows)
	require.NoError(t, err)
	u, _, _ := oracle.ListAttention(oracle.ListAttentionInput{
		Q: m.Absorb(in.Q), Heads: 2, Values: rank, Scale: m.Scale, Lists: []oracle.RowList{{Rows: pages.Rows, Indices: rows}},
	}, oracle.LSEForm{})
	got := m.Expand(u)
	for i, v := range got.Data {
		if v != absorbed.Data[i] || math.Abs(v-want.Data[i]) > 1e-12*rank {
			t.Errorf("element %d: pages %v, absorbed %v, expanded %v", i, v, absorbed.Data[i], want.Data[i])
		}
	}
}
