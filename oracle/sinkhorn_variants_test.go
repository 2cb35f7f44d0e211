package oracle_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/assay-suite/assay/oracle"
)

func variant(t require.TestingT, name string) oracle.SinkhornVariant {
	for _, v := range oracle.SinkhornVariants() {
		if v.Name == name {
			return v
		}
	}
	require.FailNow(t, "no variant "+name)
	return oracle.SinkhornVariant{}
}

// publishedLogits and its result are the example of docs/sources.md.
var publishedLogits = []float64{2, 0, 0, 0, 0, 1, 0, -1, .5, 0, 0, 0, 0, 0, -2, 3}

// V4's variant is Sinkhorn to the bit, on the published example and any other.
func TestSinkhornVariantV4(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawMat(t, 4, 4, "logits").Data
		want := slices.Clone(b)
		oracle.Sinkhorn(want, 4, 20, 1e-6)
		variant(t, "v4").Apply(b, 4)
		if !slices.Equal(b, want) {
			t.Fatalf("got %v, want %v", b, want)
		}
	})
	b := slices.Clone(publishedLogits)
	variant(t, "v4").Apply(b, 4)
	if math.Abs(b[0]-0.5855009) > 5e-8 || math.Abs(b[15]-0.8175539) > 5e-8 {
		t.Errorf("got %v and %v, published 0.5855009 and 0.8175539", b[0], b[15])
	}
}

// A 2x2 matrix has a closed-form limit: diagonal p, off p', with p/p' = exp((b00 - b01 - b10 + b11)/2).
// All variants but the sigmoid reach it; the sigmoid's limit is that of ln sigmoid(B).
func TestSinkhornVariantsLimitAtTwo(t *testing.T) {
	b := []float64{1.5, -0.25, 0.5, 2}
	limit := func(b []float64) float64 { return 1 / (1 + math.Exp(-(b[0]-b[1]-b[2]+b[3])/2)) }
	logs := make([]float64, 4)
	for i, v := range b {
		logs[i] = -math.Log1p(math.Exp(-v))
	}
	for _, start := range []oracle.SinkhornStart{
		oracle.StartSoftmax, oracle.StartExp, oracle.StartRowExp, oracle.StartSigmoid,
	} {
		want := limit(b)
		if start == oracle.StartSigmoid {
			want = limit(logs)
		}
		for _, v := range []oracle.SinkhornVariant{
			{Start: start, Iterations: 200},
			{Start: start, Iterations: 200, RowsLast: true},
			{Start: start, Iterations: 200, Eps: 1e-15},
			{Start: start, Iterations: 200, Eps: 1e-15, RowsLast: true},
		} {
			got := slices.Clone(b)
			v.Apply(got, 2)
			// 400 steps of two roundings each, and eps 1e-15 in each divisor.
			for i, w := range []float64{want, 1 - want, 1 - want, want} {
				if math.Abs(got[i]-w) > 2e-12 {
					t.Errorf("%+v: entry %d is %v, want %v", v, i, got[i], w)
				}
			}
		}
	}
}

// Log space and linear space without eps are one function: an eps of 2^-300 is below every rounding.
func TestSinkhornLogEqualsLinear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawMat(t, 4, 4, "logits").Data
		v := oracle.SinkhornVariant{
			Start: rapid.SampledFrom([]oracle.SinkhornStart{
				oracle.StartSoftmax, oracle.StartExp, oracle.StartRowExp, oracle.StartSigmoid,
			}).Draw(t, "start"),
			Iterations: rapid.IntRange(1, 20).Draw(t, "iterations"), RowsLast: rapid.Bool().Draw(t, "rows last"),
		}
		logs, linear := slices.Clone(b), slices.Clone(b)
		v.Apply(logs, 4)
		v.Eps = math.Exp2(-300)
		v.Apply(linear, 4)
		for i := range logs {
			if !close12(logs[i], linear[i]) {
				t.Fatalf("%+v: entry %d is %v in log space, %v in linear", v, i, logs[i], linear[i])
			}
		}
	})
}

// Side by side on one dominant entry: what each leaves undone is how they are told apart, and logits
// of +-30 stay finite in all.
func TestSinkhornVariantsSideBySide(t *testing.T) {
	v4, ten, log := apply(t, "v4"), apply(t, "tilekernels"), apply(t, "log")
	for name, m := range map[string][]float64{"v4": v4, "tilekernels": ten} {
		for k := range 4 {
			if sum := m[k] + m[4+k] + m[8+k] + m[12+k]; math.Abs(sum-1) > 1.1e-6 {
				t.Errorf("%s: column %d sums to %v", name, k, sum)
			}
		}
	}
	for j := range 4 {
		if sum := log[4*j] + log[4*j+1] + log[4*j+2] + log[4*j+3]; math.Abs(sum-1) > 1e-14 {
			t.Errorf("log: row %d sums to %v", j, sum)
		}
	}
	if d := largestGap(v4, ten); d < 1e-4 {
		t.Errorf("10 and 20 iterations differ by %v only", d)
	}
	if d := largestGap(v4, log); d < 1e-6 {
		t.Errorf("log space and eps differ by %v only", d)
	}
	for _, v := range oracle.SinkhornVariants() {
		b := []float64{30, -30, -30, 30, -30, -30, 30, -30, 0, -30, -30, -30, 30, 30, -30, 30}
		v.Apply(b, 4)
		for i, x := range b {
			if math.IsNaN(x) || x < 0 || x > 1+1e-12 {
				t.Errorf("%s: entry %d is %v", v.Name, i, x)
			}
		}
	}
}

func apply(t *testing.T, name string) []float64 {
	t.Helper()
	b := []float64{8, 0, 0, 0, 6, 0, 0, 1, 5, 0, 1, 0, 4, 1, 0, 0}
	variant(t, name).Apply(b, 4)
	return b
}

func largestGap(a, b []float64) float64 {
	largest := 0.0
	for i := range a {
		largest = math.Max(largest, math.Abs(a[i]-b[i]))
	}
	return largest
}
