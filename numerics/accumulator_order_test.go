package numerics_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
)

// The fast fp32 GEMM MUST give the bits of the plain loop, for every shape of its blocks of four columns and every cut.
func TestGemm32MatchesDot(t *testing.T) {
	rng := rand.New(rand.NewPCG(81, 82))
	for n := 1; n <= 9; n++ {
		for _, splits := range [][]numerics.Split{nil, {{Size: 17}}, {{K: 100, Size: 32}, {Size: 7}}} {
			const m, k = 3, 100
			x, w := gaussian(rng, m*k, false), gaussian(rng, n*k, false)
			c := numerics.MHCFP32()
			c.Acc.Splits = splits
			got := under(t, c, x, w, m, n, k)
			for i, y := range got {
				var want, part float32
				size := c.Acc.SplitSize(k)
				for j := range k {
					if j%size == 0 && j > 0 {
						want, part = want+part, 0
					}
					part += float32(float32(x[i/n*k+j]) * float32(w[i%n*k+j]))
				}
				if want += part; y != float64(want) {
					t.Fatalf("n=%d, splits %v: element %d is %v, the loop gives %v", n, splits, i, y, want)
				}
			}
		}
	}
}

// Orders and fused products whose results can be done on paper.
func TestOrdersClosedForms(t *testing.T) {
	tiny := math.Exp2(-24)
	f := 1 + math.Exp2(-12) // f² = 1 + 2^-11 + 2^-24: the last bit is half a unit of fp32
	fused := numerics.Accumulator{Result: 23, Order: numerics.Sequential, Fused: true}
	plain := numerics.Accumulator{Result: 23, Order: numerics.Sequential}
	for _, row := range []struct {
		name string
		acc  numerics.Accumulator
		x, w []float64
		want float64
	}{
		{"a rounded product loses its last bit", plain, []float64{-1, f}, []float64{1, f}, math.Exp2(-11)},
		{"a fused one keeps it", fused, []float64{-1, f}, []float64{1, f}, math.Exp2(-11) + tiny},
	} {
		if got := row.acc.Dot(row.x, row.w); got != row.want {
			t.Errorf("%s: got %v, want %v", row.name, got, row.want)
		}
	}
}

// A drawn order MUST depend on its seed and on nothing else, and reach every order of three terms.
func TestStochasticOrder(t *testing.T) {
	tiny := math.Exp2(-24)
	x, w := []float64{1, tiny, tiny}, []float64{1, 1, 1}
	seen := map[float64]bool{}
	split := map[float64]bool{}
	for seed := range uint64(40) {
		a := numerics.Accumulator{Result: 23, Order: numerics.Stochastic, Seed: seed}
		if a.Dot(x, w) != a.Dot(x, w) {
			t.Fatal("one seed gives two results")
		}
		seen[a.Dot(x, w)] = true
		a.Splits = []numerics.Split{{Size: 1}}
		split[a.Dot(x, w)] = true
	}
	for name, s := range map[string]map[float64]bool{"products": seen, "pieces": split} {
		if len(s) != 2 || !s[1] || !s[1+2*tiny] {
			t.Errorf("orders of three %s give %v, want 1 and 1+2^-23", name, s)
		}
	}
}

// The bound for an order that nobody promises MUST hold for every permutation, where the bound of one order does not.
func TestAnyOrderBound(t *testing.T) {
	const n, k = 8, 512
	rng := rand.New(rand.NewPCG(91, 92))
	beyond := 0
	for _, acc := range []numerics.Accumulator{numerics.HopperTF32(), numerics.HopperFP8(0), numerics.HopperFP8(128)} {
		c := kernel(format.BF16, format.RN, format.FP32, acc)
		for range 20 {
			x, w := gaussian(rng, n*k, false), gaussian(rng, n*k, false)
			for i := range n {
				x[i*k+k-1] *= 1000 // the last product dwarfs the others: early in a drawn order, late in the given one
			}
			x, w = c.Operand("x").Read(x), c.Operand("w").Read(w)
			one, err := c.GemmBounds(x, w, n, n, k, alpha)
			if err != nil {
				t.Fatal(err)
			}
			anyOrder := c
			anyOrder.Acc.Order = numerics.Unknown
			all, err := anyOrder.GemmBounds(x, w, n, n, k, alpha)
			if err != nil {
				t.Fatal(err)
			}
			outs, err := c.Ensemble(x, w, n, n, k, 4, rng.Uint64())
			if err != nil {
				t.Fatal(err)
			}
			for _, y := range outs {
				if rho := numerics.QuantilesOf(numerics.Rho(y, all.Want, all.Det)).Max; rho > 1 {
					t.Errorf("b=%d f=%d: a permutation leaves the bound of every order, rho %v", acc.Block, acc.Align, rho)
				}
				if numerics.QuantilesOf(numerics.Rho(y, one.Want, one.Det)).Max > 1 {
					beyond++
				}
			}
		}
	}
	if beyond == 0 {
		t.Error("no permutation leaves the bound of the given order: the test shows nothing")
	}
}
