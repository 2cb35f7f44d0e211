package inference_test

import (
	"testing"

	"github.com/assay-suite/assay/golden"
	kernels "github.com/assay-suite/assay/kernels_test"
)

// Numbers of this repository's own: how much of the bound the kernel uses, facet by facet. `go test -update` records
// them in goldens/activation/swiglu.json.
func TestGolden(t *testing.T) {
	r, err := kernels.Run(t.Context(), candidate, kernels.WithSuites(suite))
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]any{}
	for _, f := range r.Facets {
		cases[f.Name] = map[string]golden.Float{"rho": golden.Float(f.Rho)}
	}
	golden.Assert(t, "activation/swiglu", golden.Doc{Cases: cases, Provenance: golden.Provenance{
		Generator: "inference_test.TestGolden", Seed: "by case ID", Source: "silu in float64 and fp32's bound",
	}}, golden.All(golden.Factor(1.5, "exp may differ in the last bit from one processor to another")))
}
