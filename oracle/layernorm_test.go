package oracle_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/assay-suite/assay/oracle"
)

func TestLayerNormByHand(t *testing.T) {
	// Mean 5, deviations -3 -1 1 3, variance 5.
	x := oracle.Mat{Rows: 1, Cols: 4, Data: []float64{2, 4, 6, 8}}
	got := oracle.LayerNorm(x, []float64{1, 2, 3, 4}, []float64{0, 0, 10, -10}, 0)
	for d, want := range []float64{-3 / math.Sqrt(5), -2 / math.Sqrt(5), 10 + 3/math.Sqrt(5), -10 + 12/math.Sqrt(5)} {
		if math.Abs(got.Data[d]-want) > 1e-14*10 {
			t.Errorf("channel %d is %v, want %v", d, got.Data[d], want)
		}
	}
	// Variance = eps: the divisor is sqrt(2 eps).
	tiny := oracle.Mat{Rows: 1, Cols: 2, Data: []float64{1 + 1.0/1024, 1 - 1.0/1024}}
	if got, want := oracle.LayerNorm(tiny, nil, nil, 1.0/1024/1024).Data[0], 1/math.Sqrt2; !near(got, want) {
		t.Errorf("eps: got %v, want %v", got, want)
	}
	// A constant row leaves the bias alone; RMSNorm would leave the row.
	flat := oracle.LayerNorm(oracle.Mat{Rows: 1, Cols: 2, Data: []float64{7, 7}}, []float64{3, 3}, []float64{-1, 2}, 1e-6)
	if flat.Data[0] != -1 || flat.Data[1] != 2 {
		t.Errorf("a constant row gives %v", flat.Data)
	}
}

// On a row and its negative (mean exactly 0) it is RMSNorm, and a shift by a power of two on integers
// changes nothing at all.
func TestLayerNormProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		half := drawMat(t, 1, 4, "x")
		x := oracle.NewMat(1, 8)
		for i, v := range half.Data {
			x.Data[i], x.Data[4+i] = v, -v
		}
		got, rms := oracle.LayerNorm(x, nil, nil, 1e-6), oracle.RMSNorm(x, nil, 0, 1e-6)
		moved := x.Clone()
		for i := range moved.Data {
			moved.Data[i] += 64
		}
		again := oracle.LayerNorm(moved, nil, nil, 1e-6)
		for d := range got.Data {
			if got.Data[d] != rms.Data[d] || got.Data[d] != again.Data[d] {
				t.Fatalf("channel %d: %v, RMSNorm %v, shifted %v", d, got.Data[d], rms.Data[d], again.Data[d])
			}
		}
	})
}
