package oracle_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
)

// Every head alone is attention over rows [v | k] with the query behind zeros, which ListAttention (and
// with it the recorded tensors) proves; scales folded into k and v by hand; any page table, with NaN in
// every row that nobody may see.
func TestGQAEqualsListAttentionUnderAnyPageTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const d, dv = 2, 3
		g := rapid.IntRange(1, 3).Draw(t, "kv heads")
		h := g * rapid.IntRange(1, 3).Draw(t, "group")
		n, window := rapid.IntRange(1, 9).Draw(t, "tokens"), rapid.IntRange(0, 4).Draw(t, "window")
		size := rapid.IntRange(1, 4).Draw(t, "page")
		positions := []int{rapid.IntRange(0, n-1).Draw(t, "position"), n - 1}
		in := oracle.GQAInput{
			Q: drawMat(t, 2, h*d, "q"), Heads: h, KVHeads: g, K: drawMat(t, n, g*d, "k"), V: drawMat(t, n, g*dv, "v"),
			Sink: drawMat(t, 1, h, "sink").Data, Scale: 0.25, Rows: oracle.CausalRows(positions, 0, window),
		}
		for range g {
			in.KScale = append(in.KScale, rapid.SampledFrom([]float64{.5, 2, 4}).Draw(t, "k_scale"))
			in.VScale = append(in.VScale, rapid.SampledFrom([]float64{.25, 8}).Draw(t, "v_scale"))
		}
		got, lse, err := oracle.GQA(in, oracle.LSEForm{Base2: true})
		require.NoError(t, err)
		for head := range h {
			kv := head / (h / g)
			rows, q := oracle.NewMat(n, dv+d), oracle.NewMat(2, dv+d)
			for s := range n {
				for c := range dv {
					rows.Row(s)[c] = in.V.Row(s)[kv*dv+c] * in.VScale[kv]
				}
				for c := range d {
					rows.Row(s)[dv+c] = in.K.Row(s)[kv*d+c] * in.KScale[kv]
				}
			}
			for i := range 2 {
				copy(q.Row(i)[dv:], in.Q.Row(i)[head*d:])
			}
			want, wantLSE, _ := oracle.ListAttention(oracle.ListAttentionInput{
				Q: q, Heads: 1, Values: dv, Sink: in.Sink[head : head+1], Scale: in.Scale, Lists: []oracle.RowList{
					{Rows: rows, Indices: in.Rows},
				},
			}, oracle.LSEForm{Base2: true})
			for i := range 2 {
				if !close12(lse.Row(i)[head], wantLSE.Data[i]) {
					t.Fatalf("head %d: LSE %v, want %v", head, lse.Row(i)[head], wantLSE.Data[i])
				}
				for c := range dv {
					if got, want := got.Row(i)[head*dv+c], want.Row(i)[c]; math.Abs(got-want) > 1e-12*64 {
						t.Fatalf("head %d, query %d, channel %d: %v, want %v", head, i, c, got, want)
					}
				}
			}
		}
		table, pages := drawTable(t, []int{n}, size)
		k, v := oracle.NewPaged(pages, size, g*d), oracle.NewPaged(pages, size, g*dv)
		for _, m := range []oracle.Mat{k.Rows, v.Rows} {
			for i := range m.Data {
				m.Data[i] = math.NaN()
			}
		}
		require.NoError(t, k.Write(table[0], 0, in.K))
		require.NoError(t, v.Write(table[0], 0, in.V))
		paged := in
		paged.K, paged.V = k.Rows, v.Rows
		paged.Rows, err = oracle.PagedRows(k, table, []int{0, 0}, in.Rows)
		require.NoError(t, err)
		again, _, err := oracle.GQA(paged, oracle.LSEForm{})
		if err != nil || !slices.Equal(again.Data, got.Data) {
			t.Fatalf("paged %v, contiguous %v, %v", again.Data, got.Data, err)
		}
	})
}

// One key under a v_scale of 0.5, from fp8 codes (1.5 is 0x3c, 448 is 0x7e): the value is 0.75; two keys
// at k_scale 2 differ in score by twice their codes' difference.
func TestGQAScalesOfFP8(t *testing.T) {
	k, err := oracle.DecodeCodes(format.E4M3FN, []byte{0x38, 0x40}, 2, 1) // 1, 2
	require.NoError(t, err)
	v, err := oracle.DecodeCodes(format.E4M3FN, []byte{0x3c, 0x7e}, 2, 1)
	require.NoError(t, err)
	in := oracle.GQAInput{
		Q: oracle.Mat{Rows: 2, Cols: 1, Data: []float64{1, 1}}, Heads: 1, KVHeads: 1, K: k, V: v, Scale: 1,
		KScale: []float64{2}, VScale: []float64{.5}, Rows: [][]int{{0}, {0, 1}},
	}
	o, lse, err := oracle.GQA(in, oracle.LSEForm{})
	require.NoError(t, err)
	e := math.Exp(2)
	if o.Data[0] != 0.75 || !near(o.Data[1], (.75+224*e)/(1+e)) || !near(lse.Data[1], 2+math.Log(1+e)) {
		t.Errorf("got %v, LSE %v", o.Data, lse.Data)
	}
	_, err = oracle.DecodeCodes(format.E4M3FN, []byte{1, 2, 3}, 2, 1)
	require.ErrorContains(t, err, "do not fill [2, 1]")
}

// Uniform scores over index-coded values: the mean tells which keys were in the window. A window one
// longer or shorter gives another mean.
func TestGQAWindowIndexCoded(t *testing.T) {
	v := oracle.NewMat(10, 1)
	for s := range 10 {
		v.Data[s] = math.Exp2(float64(s))
	}
	for window, want := range map[int]float64{1: 128, 2: 96, 3: 224.0 / 3, 0: 255.0 / 8} {
		o, lse, err := oracle.GQA(oracle.GQAInput{
			Q: oracle.NewMat(1, 1), Heads: 1, KVHeads: 1, K: oracle.NewMat(10, 1), V: v, Scale: 1,
			Rows: oracle.CausalRows([]int{7}, 0, window),
		}, oracle.LSEForm{Base2: true})
		require.NoError(t, err)
		keys := window
		if window == 0 {
			keys = 8
		}
		if !near(o.Data[0], want) || !close12(lse.Data[0], math.Log2(float64(keys))) {
			t.Errorf("window %d: %v, LSE %v; want %v over %d keys", window, o.Data[0], lse.Data[0], want, keys)
		}
	}
}

func TestGQARefuses(t *testing.T) {
	base := oracle.GQAInput{
		Q:       oracle.NewMat(1, 4),
		Heads:   2,
		KVHeads: 2,
		K:       oracle.NewMat(2, 4),
		V:       oracle.NewMat(2, 4),
		Rows:    [][]int{{0}},
	}
	for want, change := range map[string]func(*oracle.GQAInput){
		"do not fit":           func(in *oracle.GQAInput) { in.KVHeads = 3 },
		"k_scale: scale 0":     func(in *oracle.GQAInput) { in.KScale = []float64{0} },
		"v_scale has 3 values": func(in *oracle.GQAInput) { in.VScale = []float64{1, 1, 1} },
		"row 2 of 2":           func(in *oracle.GQAInput) { in.Rows = [][]int{{2}} },
	} {
		in := base
		change(&in)
		_, _, err := oracle.GQA(in, oracle.LSEForm{})
		require.ErrorContains(t, err, want)
	}
	_, err := oracle.PagedRows(oracle.NewPaged(1, 2, 1), oracle.PageTable{{0}}, []int{0}, [][]int{{-1, 2}})
	require.ErrorContains(t, err, "query 0 of sequence 0")
}

// With one key and a sink of 0, o is v times the logistic of the capped score: with q·k = 30 under a cap of 20, of
// 20 tanh(3/2), and the log-sum-exp is that score.
func TestSoftCap(t *testing.T) {
	in := oracle.GQAInput{
		Q: oracle.Mat{Rows: 1, Cols: 1, Data: []float64{3}}, K: oracle.Mat{Rows: 1, Cols: 1, Data: []float64{20}},
		V:     oracle.Mat{Rows: 1, Cols: 1, Data: []float64{7}},
		Heads: 1, KVHeads: 1, Rows: [][]int{{0}}, Sink: []float64{0}, Scale: 0.5, SoftCap: 20,
	}
	o, lse, err := oracle.GQA(in, oracle.LSEForm{})
	if err != nil {
		t.Fatal(err)
	}
	e3 := math.Exp(3) // tanh(3/2) = (e^3 - 1)/(e^3 + 1)
	z := 20 * (e3 - 1) / (e3 + 1)
	if want := 7 / (1 + math.Exp(-z)); math.Abs(o.Data[0]-want) > 1e-14*want || math.Abs(lse.Data[0]-z) > 1e-14*z {
		t.Errorf("o %v and lse %v, want %v and %v", o.Data[0], lse.Data[0], want, z)
	}
}
