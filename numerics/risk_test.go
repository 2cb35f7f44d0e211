package numerics_test

import (
	"fmt"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/numerics"
)

// risks are stated where alarms can be counted, and the shipped one, of which 20,000 runs say only that its alarms are
// rare.
var risks = []float64{1e-2, 1e-3, numerics.DefaultRisk}

// alarms counts false alarms of correct runs: in all, by gate, and by operator.
type alarms struct {
	Runs int            `json:"runs"`
	All  int            `json:"alarms"`
	Gate map[string]int `json:"by-gate"`
	Op   map[string]int `json:"by-operator"`
}

// upper is the upper 95 % limit (Clopper and Pearson 1934, one-sided) of a rate of k in n.
func upper(k, n int) float64 {
	return distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(0.95)
}

// countAlarms judges n correct runs from a first one on, operators in turn, at every risk. Runs are seeded one by one,
// so that any can be repeated alone.
func countAlarms(t testing.TB, first, n int) []alarms {
	t.Helper()
	ops := operators()
	out := make([]alarms, len(risks))
	for i := range out {
		out[i] = alarms{Runs: n, Gate: map[string]int{}, Op: map[string]int{}}
	}
	for i := first; i < first+n; i++ {
		op := ops[i%len(ops)]
		tr, c := op.run(t, suite.Rand(fmt.Sprintf("numerics/false-alarms/%d", i)))
		for j, risk := range risks {
			tr.Risk = risk
			if v := numerics.Judge(tr, c); !v.Accepted {
				out[j].All++
				out[j].Gate[string(v.Gate)]++
				out[j].Op[op.name]++
				if v.Gate == numerics.Structure || v.Gate == numerics.Bound {
					t.Errorf("run %d, %s: a correct result leaves its certain or 1e-9 bound: %v", i, op.name, v)
				}
			}
		}
	}
	return out
}

// Correct runs of many operators, orders, formats and distributions MUST be rejected about as often as the stated risk
// says: the upper 95 % limit of the rate at most twice the risk, and at least a twentieth of it, so that the gates are
// not vacuous. Twice 20,000 runs under ASSAY_BUDGET=full: those that the gates were designed on, where a design that
// alarmed was changed, and as many that no design has seen. By default the first 500, whose counts alone are compared,
// since 500 runs cannot show a rate of 1e-3.
func TestFalseAlarms(t *testing.T) {
	t.Parallel()
	budget, _ := suite.Value("ASSAY_BUDGET")
	full := budget == "full"
	cases := map[string]any{}
	run := func(name string, first, n int) {
		for j, a := range countAlarms(t, first, n) {
			cases[fmt.Sprintf("%s/risk-%g", name, risks[j])] = a
			limit := upper(a.All, n)
			t.Logf("%s, risk %g: %d alarms in %d runs, upper 95 %% limit %.3g; by gate %v, by operator %v", name, risks[j],
				a.All, n, limit, a.Gate, a.Op)
			if n < 20000 {
				continue
			}
			if risks[j] == numerics.DefaultRisk {
				if a.All > 0 { // 20,000 runs at 1e-6 expect 0.02 alarms: one is beyond the upper 95 % limit
					t.Errorf("the shipped risk %g: %d alarms in %d runs", risks[j], a.All, n)
				}
				continue
			}
			if limit > 2*risks[j] {
				t.Errorf("risk %g: %d alarms in %d runs, upper 95 %% limit %.3g, want at most twice the risk", risks[j], a.All, n,
					limit)
			}
			if rate := float64(a.All) / float64(n); rate < risks[j]/20 {
				t.Errorf("risk %g: %d alarms in %d runs: the gates are vacuous", risks[j], a.All, n)
			}
		}
	}
	run("first-500", 0, 500)
	if full {
		run("all-20000", 0, 20000)
		run("held-out-20000", 20000, 20000)
	}
	golden.Assert(t, "numerics/false-alarms", golden.Doc{
		Provenance: golden.Provenance{
			Generator: "numerics_test.TestFalseAlarms",
			Seed:      suite.RandDescription + ", case ID numerics/false-alarms/<run>",
			Source:    "emulated correct runs",
		},
		Cases: cases,
	}, golden.All(golden.Count("runs are seeded; a count may move with the platform's libm only")))
}
