package oracle_test

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
)

// By hand: two heads of two channels. <q0,k> = 2, -1, 0; <q1,k> = -3, 4, 0; weights 1 and -0.5.
func TestIndexerRaggedByHand(t *testing.T) {
	q := oracle.Mat{Rows: 3, Cols: 4, Data: []float64{2, -1, -3, 4, 2, -1, -3, 4, 2, -1, -3, 4}}
	k := oracle.Mat{Rows: 3, Cols: 2, Data: []float64{1, 0, 0, 1, 0, 0}}
	w := oracle.Mat{Rows: 3, Cols: 2, Data: []float64{1, -.5, 1, -.5, 1, -.5}}
	inf := math.Inf(-1)
	start, end := []int{0, 1, 2}, []int{3, 2, 2}
	got, err := oracle.IndexerLogitsRagged(q, k, w, []float64{3, 5, 7}, start, end)
	require.NoError(t, err)
	if want := []float64{6, -10, 0, inf, -10, inf, inf, inf, inf}; !slices.Equal(got.Data, want) {
		t.Errorf("got %v, want %v", got.Data, want)
	}
	compact, err := oracle.CompactRagged(got, start, end, 4)
	require.NoError(t, err)
	if want := []float64{6, -10, 0, inf, -10, inf, inf, inf, inf, inf, inf, inf}; !slices.Equal(compact.Data, want) {
		t.Errorf("compact: got %v, want %v", compact.Data, want)
	}
	_, err = oracle.CompactRagged(got, start, end, 2)
	require.ErrorContains(t, err, "sees 3 keys")
	for name, bounds := range map[string][2]int{"reversed": {2, 1}, "negative": {-1, 1}, "past the end": {0, 4}} {
		_, err := oracle.IndexerLogitsRagged(q.Slice(0, 1), k, w, nil, []int{bounds[0]}, []int{bounds[1]})
		require.ErrorContains(t, err, "of 3", name)
	}
	_, err = oracle.IndexerLogitsRagged(q, k, w, []float64{1, 0, 1}, start, end)
	require.ErrorContains(t, err, "scale 1 is 0")
}

// Concatenated sequences give each the logits that it has alone, which the whole-sequence oracle
// knows (proved on recorded tensors); the paged form gives the same under any page table, with
// everything that is not to be read poisoned.
func TestIndexerRaggedAndPagedEqualContiguous(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const heads, width = 2, 3
		drafts := rapid.IntRange(1, 3).Draw(t, "drafts")
		size := rapid.IntRange(1, 4).Draw(t, "page")
		lengths := rapid.SliceOfN(rapid.IntRange(drafts, 9), 1, 3).Draw(t, "lengths")
		table, pages := drawTable(t, lengths, size)
		in := oracle.PagedIndexer{
			Keys:    oracle.NewPaged(pages, size, width),
			Table:   table,
			Lengths: oracle.DraftLengths(lengths, drafts),
			Width:   10,
		}
		scales := make([]float64, pages*size)
		for i := range in.Keys.Rows.Data {
			in.Keys.Rows.Data[i] = math.NaN()
		}
		var keys oracle.Mat
		var ks []float64
		var start, end []int
		for b, n := range lengths {
			k := drawMat(t, n, width, "k")
			if err := in.Keys.Write(table[b], 0, k); err != nil {
				t.Fatalf("%v", err)
			}
			for i := range drafts {
				start = append(start, keys.Rows)
				end = append(end, keys.Rows+n-drafts+i+1)
			}
			for j := range n {
				at, _ := oracle.PageSlot(table[b], size, j)
				scales[at] = float64(rapid.IntRange(1, 4).Draw(t, "scale"))
				ks = append(ks, scales[at])
			}
			keys = keys.Append(k)
		}
		in.KeyScale = scales
		in.Q, in.W = drawMat(t, len(start), heads*width, "q"), drawMat(t, len(start), heads, "w")
		ragged, err := oracle.IndexerLogitsRagged(in.Q, keys, in.W, ks, start, end)
		if err != nil {
			t.Fatalf("%v", err)
		}
		paged, err := oracle.IndexerLogitsPaged(in)
		if err != nil {
			t.Fatalf("%v", err)
		}
		compact, err := oracle.CompactRagged(ragged, start, end, in.Width)
		if err != nil || !slices.Equal(paged.Data, compact.Data) {
			t.Fatalf("paged %v, ragged %v, %v", paged.Data, compact.Data, err)
		}
		for r := range start {
			alone := oracle.IndexerLogits(in.Q.Slice(r, r+1), keys.Slice(start[r], end[r]), in.W.Slice(r, r+1),
				[]int{end[r] - start[r]})
			for s, l := range alone.Data {
				if want := l * ks[start[r]+s]; paged.Row(r)[s] != want {
					t.Fatalf("query %d, key %d: %v, alone %v", r, s, paged.Row(r)[s], want)
				}
			}
		}
	})
}

// A page of bytes laid out by hand (values first, then one fp32 scale a token: DeepGEMM's layout)
// decodes to the same logits as its codes with the scale outside of relu.
func TestIndexerPagedFromBytes(t *testing.T) {
	const block, dim = 2, 32
	layout, err := format.PageIndexFP8(block, dim)
	require.NoError(t, err)
	page := make([]byte, block*(dim+4))
	codes, means := []byte{0x38, 0xb8, 0x40, 0x30, 0xc0}, []float64{1, -1, 2, 0.5, -2} // e4m3, bias 7
	values := oracle.NewPaged(1, block, dim)
	for i, code := range codes {
		for _, at := range []int{i, dim + 3*i} {
			page[at], values.Rows.Data[at] = code, means[i]
		}
	}
	scales := []float64{0.25, 3}
	for t, s := range scales {
		binary.LittleEndian.PutUint32(page[block*dim+4*t:], math.Float32bits(float32(s)))
	}
	decoded, err := oracle.DecodePages(layout, [][]byte{page})
	require.NoError(t, err)
	q := oracle.NewMat(1, dim)
	for d := range q.Data {
		q.Data[d] = float64(d%5) - 1
	}
	in := oracle.PagedIndexer{
		Q: q, W: oracle.Mat{Rows: 1, Cols: 1, Data: []float64{0.5}}, Keys: decoded,
		Table: oracle.PageTable{{0}}, Lengths: [][]int{{2}}, Width: 2,
	}
	a, err := oracle.IndexerLogitsPaged(in)
	require.NoError(t, err)
	in.Keys, in.KeyScale = values, scales
	b, err := oracle.IndexerLogitsPaged(in)
	require.NoError(t, err)
	if !slices.Equal(a.Data, b.Data) {
		t.Errorf("dequantised %v, scale outside %v", a.Data, b.Data)
	}
	in.Lengths = [][]int{{3}}
	_, err = oracle.IndexerLogitsPaged(in)
	require.ErrorContains(t, err, "sees 3 keys")
	in.Width = 3
	_, err = oracle.IndexerLogitsPaged(in)
	require.ErrorContains(t, err, "token 2")
}
