package numerics_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
)

// A rejection MUST name the mistake whose signature the residuals carry, from tensors and contract only; a correct
// result gets no cause.
func TestCausesBySignature(t *testing.T) {
	const rows, cols = 32, 128
	rng := rand.New(rand.NewPCG(41, 42))
	base := numerics.Trial{
		Shape:  []int{rows, cols},
		Axes:   []string{"position", "col"},
		Scales: map[string]float64{"routed scaling": 1.5, "softmax scale": 0.0442},
	}
	for range rows * cols {
		w := rng.NormFloat64() * 3
		base.Want = append(base.Want, w)
		base.Bound = append(base.Bound, 0.05*math.Abs(w)+1e-3)
	}
	c := numerics.Contract{Name: "bf16", Acc: numerics.FP32Any(), Out: format.BF16}
	times := func(f float64) func(i int, w float64) float64 {
		return func(_ int, w float64) float64 { return w * f }
	}
	for _, row := range []struct {
		name, cause string
		fault       func(i int, w float64) float64
	}{
		{"none", "", times(1)},
		{"sqrt-2 norm", "sqrt 2", times(math.Sqrt2)},
		{"root of a half", "1/sqrt 2", times(1 / math.Sqrt2)},
		{"doubled", "2", times(2)},
		{"halved", "1/2", times(0.5)},
		{"exp2 for exp", "log2 e", times(math.Log2E)},
		{"log2 for ln", "ln 2", times(math.Ln2)},
		{"negated", "sign", times(-1)},
		{"scale twice", "routed scaling applied twice", times(1.5)},
		{"scale dropped", "routed scaling dropped", times(1 / 1.5)},
		{"scale three times", "routed scaling applied three times", times(2.25)},
		{"scale inverted", "routed scaling inverted", times(1 / 2.25)},
		{"another scale dropped", "softmax scale dropped", times(1 / 0.0442)},
		{"a scale without a name", "scale", times(1.23)},
		{"one row in eight by sqrt 2", "sqrt 2", func(i int, w float64) float64 {
			if i/cols%8 == 3 {
				return w * math.Sqrt2
			}
			return w
		}},
		{"a constant", "offset", func(_ int, w float64) float64 { return w + 5 }},
		{"half is zero", "zeros", func(i int, w float64) float64 {
			if i%2 == 0 {
				return 0
			}
			return w
		}},
		{"last column of every tile of 64", "period", func(i int, w float64) float64 {
			if i%32 == 31 {
				return w + (2+math.Abs(w))*math.Copysign(1, math.Sin(float64(i*i)))
			}
			return w
		}},
		{"drift with position", "growth", func(i int, w float64) float64 {
			return w * (1 + 0.02*float64(i/cols+1)*math.Copysign(1, math.Sin(float64(i*i))))
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			tr := base
			tr.Got = make([]float64, len(base.Want))
			for i, w := range base.Want {
				tr.Got[i] = format.BF16.RoundTo(row.fault(i, w), format.RN, format.Overflow)
			}
			v := numerics.Judge(tr, c)
			if v.Accepted != (row.cause == "") {
				t.Fatalf("got %v", v)
			}
			if row.cause == "" {
				return
			}
			if !slices.ContainsFunc(v.Cause, func(c numerics.Cause) bool { return c.Name == row.cause }) {
				t.Errorf("causes %q, want %q", v.Cause, row.cause)
			}
			if len(v.Cause) > 0 && v.Cause[0].Name != row.cause && row.cause != "period" && row.cause != "growth" {
				t.Errorf("the first cause is %q, want %q", v.Cause[0], row.cause)
			}
			if !strings.Contains(v.String(), "likely cause") {
				t.Errorf("the verdict's text names no cause: %v", v)
			}
		})
	}
}
