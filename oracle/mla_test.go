package oracle_test

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/assay-suite/assay/oracle"
)

func drawMLA(t *rapid.T) (oracle.MLA, oracle.MLAInput) {
	m := oracle.MLA{Heads: 2, Nope: 3, Rope: 2, Values: 2, Scale: 0.125}
	rank, rows := 4, rapid.IntRange(1, 6).Draw(t, "rows")
	k, v, err := oracle.SplitKVUp(drawMat(t, m.Heads*(m.Nope+m.Values), rank, "wkv_b"), m.Heads, m.Nope, m.Values)
	require.NoError(t, err)
	m.KUp, m.VUp = k, v
	in := oracle.MLAInput{
		Q:      drawMat(t, 2, m.Heads*(m.Nope+m.Rope), "q"),
		Latent: drawMat(t, rows, rank, "latent"),
		KRope:  drawMat(t, rows, m.Rope, "rope"),
	}
	in.Rows = [][]int{{0}, rapid.SliceOfN(rapid.IntRange(-1, rows), 0, 5).Draw(t, "selected")}
	return m, in
}

// Absorbed is expanded. On integers both forms have the same scores, so the LSEs agree to the bit and
// a query with one key gives W_uv c exactly; the rest is the rounding of two float64 sums.
func TestMLAAbsorbedEqualsExpanded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, in := drawMLA(t)
		o, lse := m.Expanded(in)
		a, absorbedLSE := m.Absorbed(in)
		if !slices.Equal(lse.Data, absorbedLSE.Data) {
			t.Fatalf("LSE: expanded %v, absorbed %v", lse.Data, absorbedLSE.Data)
		}
		want := oracle.Linear(in.Latent.Slice(0, 1), m.VUp).Data
		if !slices.Equal(o.Row(0), want) || !slices.Equal(a.Row(0), want) {
			t.Fatalf("one key: expanded %v, absorbed %v, want %v", o.Row(0), a.Row(0), want)
		}
		for i, v := range o.Data {
			// Values reach 4·64: 16 products of that size under probabilities good to 1e-14.
			if math.Abs(v-a.Data[i]) > 1e-14*16*256 {
				t.Fatalf("element %d: expanded %v, absorbed %v", i, v, a.Data[i])
			}
		}
	})
}

// The identity needs every part: heads that are swapped in one projection, or rope channels left
// out, break it.
func TestMLAIdentityHasTeeth(t *testing.T) {
	m := oracle.MLA{
		Heads:  2,
		Nope:   1,
		Rope:   1,
		Values: 1,
		Scale:  1,
		KUp:    oracle.Mat{Rows: 2, Cols: 2, Data: []float64{1, 0, 0, 2}},
		VUp:    oracle.Mat{Rows: 2, Cols: 2, Data: []float64{1, 1, 3, -1}},
	}
	in := oracle.MLAInput{
		Q: oracle.Mat{Rows: 1, Cols: 4, Data: []float64{1, 1, .5, -1}}, Latent: oracle.Mat{
			Rows: 2,
			Cols: 2,
			Data: []float64{1, 0, 0, 1},
		},
		KRope: oracle.Mat{Rows: 2, Cols: 1, Data: []float64{0, 1}}, Rows: [][]int{{0, 1}},
	}
	o, lse := m.Expanded(in)
	// Head 0 scores 1, 1 and values 1, 1; head 1 scores 0, 0 and values 3, -1.
	for i, want := range []float64{1, 1} {
		if !near(o.Data[i], want) {
			t.Errorf("head %d gives %v, want %v", i, o.Data[i], want)
		}
	}
	if !near(lse.Data[0], 1+math.Ln2) || !near(lse.Data[1], math.Ln2) {
		t.Errorf("LSE %v", lse.Data)
	}
	swapped := m
	swapped.KUp = oracle.Mat{Rows: 2, Cols: 2, Data: []float64{0, 2, 1, 0}}
	if a, _ := swapped.Absorbed(in); near(a.Data[1], o.Data[1]) {
		t.Error("swapped heads pass")
	}
	bare := in
	bare.KRope = oracle.NewMat(2, 1)
	if a, _ := m.Absorbed(bare); near(a.Data[1], o.Data[1]) {
		t.Error("missing rope channels pass")
	}
	_, _, err := oracle.SplitKVUp(oracle.NewMat(3, 2), 2, 1, 1)
	require.ErrorContains(t, err, "need 4")
}

// The values of docs/sources.md.
func TestMLAScalePublished(t *testing.T) {
	if got := oracle.MLAScale(192, 40, 1); !published(got, 0.1352337789, 10) {
		t.Errorf("with YaRN %v, published 0.1352337789", got)
	}
	if got := oracle.MLAScale(192, 1, 1); !published(got, 0.0721687836, 9) {
		t.Errorf("without YaRN %v, published 0.0721687836", got)
	}
}

func TestCausalRows(t *testing.T) {
	for name, c := range map[string]struct {
		positions     []int
		start, window int
		want          [][]int
	}{
		"no window":           {[]int{0, 2}, 0, 0, [][]int{{0}, {0, 1, 2}}},
		"window 2":            {[]int{0, 1, 3}, 0, 2, [][]int{{0}, {0, 1}, {2, 3}}},
		"window 1 is oneself": {[]int{3}, 0, 1, [][]int{{3}}},
		"rows start later":    {[]int{5}, 4, 3, [][]int{{0, 1}}},
	} {
		if diff := cmp.Diff(c.want, oracle.CausalRows(c.positions, c.start, c.window)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
