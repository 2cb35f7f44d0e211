package numerics_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
)

// The disputed claim: "bf16 loses fp8 products". Every e4m3 value MUST be exact in bf16, and so MUST every product of
// two: 4 significant bits times 4 are 8, which bf16 has. So neither reading fp8 into bf16 nor multiplying loses
// anything.
func TestE4M3IsExactInBF16(t *testing.T) {
	values, exact := 0, 0
	var v []float64
	for c := range uint32(256) {
		x := format.E4M3FN.Decode(c)
		values++
		if y := format.BF16.RoundTo(x, format.RN, format.Overflow); y == x || math.IsNaN(x) && math.IsNaN(y) {
			exact++
		}
		if !math.IsNaN(x) {
			v = append(v, x)
		}
	}
	if values != 256 || exact != 256 {
		t.Errorf("%d of %d e4m3 values are exact in bf16, want 256 of 256", exact, values)
	}
	pairs, kept, cut := 0, 0, 0
	for _, x := range v {
		for _, y := range v {
			pairs++
			if format.BF16.RoundTo(x*y, format.RN, format.Overflow) == x*y {
				kept++
			}
			if p := format.FP16.RoundTo(x*y, format.RN, format.Overflow); p != x*y {
				cut++ // planted: fp16 has the bits and not the range
			}
		}
	}
	if kept != pairs || pairs != 254*254 {
		t.Errorf("%d of %d products are exact in bf16, want all of 64,516", kept, pairs)
	}
	if cut == 0 {
		t.Error("fp16 holds every product too: the check sees nothing")
	}
}

// accumulationCase is one accumulation on one kind of data.
type accumulationCase struct {
	RelL2    golden.Float `json:"rel-l2"`
	Bias     golden.Float `json:"mean-relative-error"`
	OwnBound string       `json:"own-certain-bound"`
	OwnRho   golden.Float `json:"rho-under-own-bound,omitempty"`
	Verdict  string       `json:"as-fp32-accumulate"` // verdict when it is sold as bf16 in, fp32 accumulate, bf16 out
	Rho      golden.Float `json:"rho-as-fp32-accumulate"`
}

// What differs is the sum. Three accumulations that are all called "bf16" or "fp8" MUST be told apart at every length,
// on Gaussian and on coherent data: bf16 in / fp32 accumulate / bf16 out, a true bf16 accumulator (which no tensor core
// has), and Hopper's native fp8.
func TestThreeAccumulationsApart(t *testing.T) {
	t.Parallel()
	const m, n = 16, 16
	fp32acc := bf16Out(format.E4M3FN)
	chain := kernel(format.E4M3FN, format.RN, format.BF16, numerics.BF16Chain())
	native := numerics.FP8Hopper("native", 0)
	cases := map[string]any{}
	for _, k := range []int{512, 4096, 16384} {
		for _, coherent := range []bool{false, true} {
			data := map[bool]string{false: "gaussian", true: "coherent"}[coherent]
			rng := suite.Rand(fmt.Sprintf("numerics/disputed/%s/%d", data, k))
			s, x, w := gemmSpecimen(t, rng, fp32acc, m, n, k, coherent)
			for _, row := range []struct {
				name string
				c    numerics.Contract
				got  []float64
				fp32 bool
			}{
				{"fp32-accumulate", fp32acc, s.trial.Got, true},
				{"bf16-accumulator", chain, under(t, chain, x, w, m, n, k), false},
				{"hopper-fp8", native, under(t, native, x, w, m, n, k), false},
			} {
				id := fmt.Sprintf("%s/k-%d/%s", row.name, k, data)
				tr := s.trial
				tr.Got = row.got
				v := numerics.Judge(tr, fp32acc)
				b, err := row.c.GemmBounds(x, w, m, n, k, alpha)
				require.NoError(t, err)
				a := accumulationCase{
					RelL2:    twoDigits(numerics.RelL2(row.got, b.Want)),
					Verdict:  "accepted",
					Rho:      twoDigits(math.Max(v.Rho.Max, v.RhoMartingale.Max)),
					OwnBound: "finite",
				}
				var bias float64
				for i, y := range row.got {
					bias += (y - b.Want[i]) / math.Abs(b.Want[i]) / (m * n)
				}
				if coherent {
					a.Bias = twoDigits(bias) // of Gaussian sums near zero it says nothing
				}
				if !v.Accepted {
					a.Verdict = "rejected by " + string(v.Gate)
				}
				own := numerics.QuantilesOf(numerics.Rho(row.got, b.Want, b.Det)).Max
				if math.IsInf(b.Det[0], 1) {
					a.OwnBound = "none: K·2^-8 >= 1, a sum of this length in bf16 has no certain bound"
				} else {
					a.OwnRho = twoDigits(own)
				}
				t.Logf("%s: %+v", id, a)
				cases[id] = a
				if v.Accepted != row.fp32 {
					t.Errorf("%s sold as fp32 accumulation: %v", id, v)
				}
				if !(own <= 1) {
					t.Errorf("%s leaves its own bound, rho %v", id, own)
				}
			}
		}
	}
	golden.Assert(t, "numerics/disputed", golden.Doc{
		Provenance: golden.Provenance{
			Generator: "numerics_test.TestThreeAccumulationsApart",
			Seed:      suite.RandDescription + ", case ID numerics/disputed/<data>/<K>",
			Source:    "emulated accumulators; Hopper's as recorded in fixtures/oracles/gemm_h200.safetensors",
		},
		Cases: cases,
	}, golden.Rules{Default: golden.Exact("words and verdicts")}.With("rel-l2",
		golden.Factor(1.5, "two digits of a norm")).
		With("mean-relative-error", golden.Factor(1.5, "two digits of a mean")).With("rho*",
		golden.Factor(1.5, "rho keeps two digits and compares within x1.5")))
}
