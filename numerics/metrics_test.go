package numerics_test

import (
	"math"
	"testing"

	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
)

// Closed forms: (got, want) pairs whose measures can be done on paper.
func TestMetricsClosedForms(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, row := range []struct {
		name      string
		got, want []float64
		rel, abs  float64
		maxRel    float64
		cos, diff float64
	}{
		{"equal", []float64{3, 4}, []float64{3, 4}, 0, 0, 0, 1, 0},
		{"one off", []float64{3, 9}, []float64{3, 4}, 1, 5, 1.25, 45 / math.Sqrt(90*25), 1 - 2*45.0/115},
		{"scaled by 2", []float64{6, 8}, []float64{3, 4}, 1, 4, 1, 1, 1 - 2*50.0/125},
		{"both zero", []float64{0, 0}, []float64{0, 0}, 0, 0, 0, nan, 0},
		{"want zero", []float64{1, 0}, []float64{0, 0}, inf, 1, inf, nan, 1},
		{"nan", []float64{nan, 1}, []float64{nan, 1}, nan, nan, nan, nan, nan},
		{"lengths", []float64{1}, []float64{1, 2}, nan, nan, nan, nan, nan},
		{"infinities agree", []float64{inf, 2}, []float64{inf, 1}, 1, 1, 1, nan, nan},
		{"infinities differ", []float64{-inf, 1}, []float64{inf, 1}, inf, inf, inf, nan, nan},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, m := range []struct {
				name      string
				got, want float64
			}{
				{"RelL2", numerics.RelL2(row.got, row.want), row.rel},
				{"MaxAbs", numerics.MaxAbs(row.got, row.want), row.abs},
				{"MaxRel", numerics.MaxRel(row.got, row.want), row.maxRel},
				{"Cosine", numerics.Cosine(row.got, row.want), row.cos},
				{"CalcDiff", numerics.CalcDiff(row.got, row.want), row.diff},
			} {
				// 4 ulp: these are sums of four exact products, a root and a quotient
				if !(math.Abs(m.got-m.want) <= 4*numerics.UFP64*math.Max(1, math.Abs(m.want)) || m.got == m.want ||
					m.got != m.got && m.want != m.want) {
					t.Errorf("%s = %v, want %v", m.name, m.got, m.want)
				}
			}
		})
	}
}

func TestULPDistance(t *testing.T) {
	for _, row := range []struct {
		name string
		f    format.Format
		a, b float64
		want int64
	}{
		{"neighbours of 1 in bf16", format.BF16, 1, 1 + 1.0/128, 1},
		{"below 1 the step halves", format.BF16, 1, 1 - 1.0/256, 1},
		{"across zero in e2m1", format.E2M1, -0.5, 0.5, 2},
		{"the two zeros", format.FP32, 0, math.Copysign(0, -1), 0},
		{"all of e4m3", format.E4M3FN, -448, 448, 252},
		{"tf32 step, stored in the high bits", format.TF32, 1, 1 + 1.0/1024, 1},
		{"max to infinity", format.FP16, 65504, math.Inf(1), 1},
	} {
		got, err := numerics.ULPDistance(row.a, row.b, row.f)
		if err != nil || got != row.want {
			t.Errorf("%s: got %d, %v, want %d", row.name, got, err, row.want)
		}
	}
	for _, bad := range []float64{math.NaN(), 1.001} {
		if _, err := numerics.ULPDistance(bad, 1, format.BF16); err == nil {
			t.Errorf("%v has a place in bf16, want an error", bad)
		}
	}
	if got := numerics.MaxULP([]float64{1.5}, []float64{1}, format.BF16, 0); got != 64 {
		t.Errorf("0.5 at 1 is %v ulp of bf16, want 64", got)
	}
	if got := numerics.MaxULP([]float64{1.0 / 128}, []float64{0}, format.BF16, 1); got != 1 {
		t.Errorf("2^-7 at 0 with floor 1 is %v ulp of bf16, want 1", got)
	}
}

func TestQuantilesAndRho(t *testing.T) {
	v := make([]float64, 200)
	for i := range v {
		v[i] = float64(200 - i) // 1..200 backwards
	}
	if got, want := numerics.QuantilesOf(v), (numerics.Quantiles{Median: 100, P99: 198, Max: 200}); got != want {
		t.Errorf("nearest-rank quantiles of 1..200: got %v, want %v", got, want)
	}
	if got := numerics.QuantilesOf([]float64{1, math.NaN()}); !math.IsInf(got.Max, 1) {
		t.Errorf("a NaN among ratios gives max %v, want +Inf", got.Max)
	}
	inf, nan := math.Inf(1), math.NaN()
	got := numerics.Rho([]float64{1, 1.5, 1, inf, nan, nan}, []float64{1, 1, 0, inf, nan, 0}, []float64{0, 2, 0, 1, 1, 1})
	for i, want := range []float64{0, 0.25, inf, 0, 0, inf} {
		if got[i] != want {
			t.Errorf("rho[%d] = %v, want %v", i, got[i], want)
		}
	}
}

// Each measure has a fault it is known not to see; the doc comments say so, and this keeps them honest.
func TestMetricsBlindSpots(t *testing.T) {
	want := make([]float64, 4096)
	for i := range want {
		want[i] = math.Sin(float64(i))
	}
	scaled := make([]float64, len(want))
	for i, w := range want {
		scaled[i] = 1.044 * w
	}
	if c := numerics.Cosine(scaled, want); c < 1-1e-12 {
		t.Errorf("cosine sees a scale of 4.4 %%: %v", c)
	}
	if d := numerics.CalcDiff(scaled, want); d > 1e-3 {
		t.Errorf("calc_diff of a 4.4 %% scale is %v: below 1e-3 by its closed form e²/(1+(1+e)²)", d)
	}
}
