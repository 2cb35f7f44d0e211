package oracle_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/assay-suite/assay/oracle"
)

// close12 allows the float64 rounding of exponentials of scores up to about 100: each carries 100
// units of 1.1e-16, and a row has at most a few dozen of them.
func close12(got, want float64) bool {
	return got == want || math.Abs(got-want) <= 1e-12*math.Max(1, math.Abs(want))
}

func TestLogSumExpClosedForms(t *testing.T) {
	inf := math.Inf(1)
	for name, c := range map[string]struct {
		z    []float64
		form oracle.LSEForm
		want float64
	}{
		"uniform is ln n":           {make([]float64, 8), oracle.LSEForm{}, math.Log(8)},
		"uniform is log2 n":         {make([]float64, 8), oracle.LSEForm{Base2: true}, 3},
		"no overflow":               {[]float64{1e4, 1e4}, oracle.LSEForm{}, 1e4 + math.Ln2},
		"no underflow":              {[]float64{-1e4, -1e4}, oracle.LSEForm{}, -1e4 + math.Ln2},
		"masked scores count for 0": {[]float64{-inf, 5, -inf}, oracle.LSEForm{}, 5},
		"empty":                     {nil, oracle.LSEForm{}, -inf},
		"all masked":                {[]float64{-inf, -inf}, oracle.LSEForm{}, -inf},
		"empty, base 2":             {nil, oracle.LSEForm{Base2: true}, -inf},
		"empty, FlashMLA":           {nil, oracle.LSEForm{EmptyPlusInf: true}, inf},
	} {
		if got := oracle.LogSumExp(c.z, c.form); got != c.want && !near(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if got := oracle.LogSumExp([]float64{0, math.NaN()}, oracle.LSEForm{}); !math.IsNaN(got) {
		t.Errorf("NaN became %v", got)
	}
}

// Z = (2, 8), o = (0, 1) is 0.8; base-2 LSEs taken for natural ones give 0.881 (sgl-project/sglang#35045).
func TestMergeBases(t *testing.T) {
	state := func(o, lse float64, form oracle.LSEForm) oracle.PartialState {
		return oracle.PartialState{O: oracle.Mat{Rows: 1, Cols: 1, Data: []float64{o}}, LSE: []float64{lse}, LSEForm: form}
	}
	two := oracle.LSEForm{Base2: true}
	got, err := oracle.MergeStates([]oracle.PartialState{state(0, 1, two), state(1, math.Log(8), oracle.LSEForm{})}, nil,
		two)
	require.NoError(t, err)
	if !near(got.O.Data[0], 0.8) || !near(got.LSE[0], math.Log2(10)) {
		t.Errorf("got %v, LSE %v", got.O.Data[0], got.LSE[0])
	}
	wrong, err := oracle.MergeStates([]oracle.PartialState{state(0, 1, oracle.LSEForm{}), state(1, 3, oracle.LSEForm{})},
		nil, two)
	require.NoError(t, err)
	if math.Abs(wrong.O.Data[0]-0.881) > 5e-4 {
		t.Errorf("mixed bases give %v, published 0.881", wrong.O.Data[0])
	}
	// A sink of ln 10 beside Z = 10 halves the output, once, and leaves the LSE.
	half, err := oracle.MergeStates([]oracle.PartialState{state(0, 1, two), state(1, 3, two)}, []float64{math.Log(10)},
		two)
	require.NoError(t, err)
	if !near(half.O.Data[0], 0.4) || !near(half.LSE[0], math.Log2(10)) {
		t.Errorf("with sink: %v, LSE %v", half.O.Data[0], half.LSE[0])
	}
}

func TestMergeEmptyStatesAndSinks(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	mat := func(v float64) oracle.Mat { return oracle.Mat{Rows: 1, Cols: 1, Data: []float64{v}} }
	plus := oracle.LSEForm{EmptyPlusInf: true}
	empty := oracle.PartialState{O: mat(nan), LSE: []float64{-inf}}
	emptyPlus := oracle.PartialState{O: mat(nan), LSE: []float64{inf}, LSEForm: plus}
	full := oracle.PartialState{O: mat(3), LSE: []float64{2}}
	for name, c := range map[string]struct {
		states []oracle.PartialState
		sink   []float64
		form   oracle.LSEForm
		o, lse float64
	}{
		"empty and full":         {[]oracle.PartialState{empty, full, emptyPlus}, nil, oracle.LSEForm{}, 3, 2},
		"two empty":              {[]oracle.PartialState{empty, empty}, nil, oracle.LSEForm{}, 0, -inf},
		"two empty, FlashMLA":    {[]oracle.PartialState{empty, emptyPlus}, nil, plus, 0, inf},
		"empty with sink":        {[]oracle.PartialState{empty}, []float64{7}, oracle.LSEForm{}, 0, -inf},
		"sink -Inf is no sink":   {[]oracle.PartialState{full}, []float64{-inf}, oracle.LSEForm{}, 3, 2},
		"sink +Inf takes it all": {[]oracle.PartialState{full}, []float64{inf}, oracle.LSEForm{}, 0, 2},
		"sink at the LSE":        {[]oracle.PartialState{full}, []float64{2}, oracle.LSEForm{}, 1.5, 2},
	} {
		got, err := oracle.MergeStates(c.states, c.sink, c.form)
		require.NoError(t, err, name)
		if !close12(got.O.Data[0], c.o) || got.LSE[0] != c.lse {
			t.Errorf("%s: %v, LSE %v; want %v, %v", name, got.O.Data[0], got.LSE[0], c.o, c.lse)
		}
	}
	for name, states := range map[string][]oracle.PartialState{
		"no states":        nil,
		"+Inf by mistake":  {{O: mat(1), LSE: []float64{inf}}},
		"NaN":              {{O: mat(1), LSE: []float64{nan}}},
		"shapes that vary": {full, {O: oracle.NewMat(2, 1), LSE: make([]float64, 2)}},
	} {
		_, err := oracle.MergeStates(states, nil, oracle.LSEForm{})
		require.ErrorContains(t, err, "merge", name)
	}
}

// Any split, merged in any nesting, is the whole; -1, rows past the end and lists cut short count for
// nothing; what is not listed may be NaN.
func TestSplitsMergeToTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const heads, width = 2, 3
		queries := rapid.IntRange(1, 3).Draw(t, "queries")
		in := oracle.ListAttentionInput{
			Q: drawMat(t, queries, heads*width, "q"), Heads: heads, Scale: 0.3, Sink: []float64{1, -2},
			Values: rapid.SampledFrom([]int{0, 2}).Draw(t, "values"),
		}
		for range 2 {
			rows := drawMat(t, 6, width, "rows")
			copy(rows.Row(5), []float64{math.NaN(), math.Inf(1), math.NaN()})
			l := oracle.RowList{Rows: rows}
			for range queries {
				l.Indices = append(l.Indices,
					append(rapid.SliceOfN(rapid.SampledFrom([]int{-1, 0, 1, 2, 3, 4, 6}), 0, 5).Draw(t, "indices"), 5))
				l.Lengths = append(l.Lengths, len(l.Indices[len(l.Indices)-1])-1)
			}
			in.Lists = append(in.Lists, l)
		}
		o, lse, _ := oracle.ListAttention(in, oracle.LSEForm{Base2: true, EmptyPlusInf: true})
		states := oracle.ListSplits(in, rapid.IntRange(1, 5).Draw(t, "parts"))
		cut := rapid.IntRange(0, len(states)-1).Draw(t, "cut")
		if cut > 0 {
			inner, err := oracle.MergeStates(states[:cut], nil, oracle.LSEForm{Base2: true})
			if err != nil {
				t.Fatalf("%v", err)
			}
			states = append([]oracle.PartialState{inner}, states[cut:]...)
		}
		merged, err := oracle.MergeStates(states, in.Sink, oracle.LSEForm{Base2: true, EmptyPlusInf: true})
		if err != nil {
			t.Fatalf("%v", err)
		}
		for i, v := range merged.O.Data {
			if !close12(v, o.Data[i]) {
				t.Fatalf("output %d: merged %v, whole %v", i, v, o.Data[i])
			}
		}
		for i, v := range merged.LSE {
			if !close12(v, lse.Data[i]) {
				t.Fatalf("LSE %d: merged %v, whole %v", i, v, lse.Data[i])
			}
		}
	})
}

// The lists of a window and a selection give the attention that recorded tensors prove; the LSE
// agrees with the sink's share, o = o without sink times sigmoid(lse - sink) (FlashMLA tests/ref.py).
func TestListAttentionIsAttention(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := oracle.AttentionInput{
			Q: drawMat(t, 3, 4, "q"), Positions: []int{2, 5, 7}, Window: drawMat(t, 8, 2, "window"), WindowSize: 3,
			Compressed: drawMat(t, 3, 2, "compressed"), Selected: [][]int{{}, {1}, {0, 2}}, Sink: []float64{0.5, -1},
			Scale: 0.25,
		}
		want := oracle.Attention(in)
		lists := in.Lists()
		got, lse, top := oracle.ListAttention(lists, oracle.LSEForm{})
		lists.Sink = nil
		free, _, _ := oracle.ListAttention(lists, oracle.LSEForm{})
		for i := range want.Data {
			h := i / 2 % 2
			l := lse.Data[i/2]
			share := 1 / (1 + math.Exp(in.Sink[h]-l))
			if !close12(got.Data[i], want.Data[i]) || !close12(free.Data[i]*share, want.Data[i]) {
				t.Fatalf("element %d: lists %v, from the LSE %v, want %v", i, got.Data[i], free.Data[i]*share, want.Data[i])
			}
			if top.Data[i/2] > l+1e-12 {
				t.Fatalf("the largest score %v exceeds the LSE %v", top.Data[i/2], l)
			}
		}
	})
}

// Equal scores: the LSE is ln of the number of rows, and index-coded values read back their mean;
// a listed duplicate counts twice, a query without rows gives 0 and keeps its sink to itself.
func TestListAttentionIndexCoded(t *testing.T) {
	rows := oracle.Mat{Rows: 3, Cols: 2, Data: []float64{0, 10, 0, 20, 0, 60}}
	in := oracle.ListAttentionInput{
		Q: oracle.Mat{Rows: 2, Cols: 2, Data: []float64{1, 0, 1, 0}}, Heads: 1, Scale: 1, Sink: []float64{math.Inf(-1)},
		Lists: []oracle.RowList{{Rows: rows, Indices: [][]int{{0, 1, -1, 1}, {-1, 3}}}},
	}
	o, lse, top := oracle.ListAttention(in, oracle.LSEForm{})
	if !near(o.Data[1], 50.0/3) || !near(lse.Data[0], math.Log(3)) || top.Data[0] != 0 {
		t.Errorf("got %v, LSE %v, largest %v", o.Data, lse.Data, top.Data)
	}
	if o.Data[3] != 0 || !math.IsInf(lse.Data[1], -1) || !math.IsInf(top.Data[1], -1) {
		t.Errorf("a query without rows: %v, LSE %v, largest %v", o.Data[2:], lse.Data[1], top.Data[1])
	}
	rows.Data[2] = math.NaN()
	if o, lse, _ := oracle.ListAttention(in, oracle.LSEForm{}); !math.IsNaN(o.Data[1]) || !math.IsNaN(lse.Data[0]) {
		t.Errorf("a NaN in a listed row gives %v, LSE %v", o.Data, lse.Data)
	}
}
