// Package golden keeps expected results of your own tests in files, in the form and by the rules of assay's own: one
// JSON file a family, keyed by case, with a provenance block; every number compared by a named rule with a derivation.
//
// Call Assert first, in a test:
//
//	golden.Assert(t, "kernels/my-decode", golden.Doc{
//		Provenance: golden.Provenance{Generator: "TestDecode", Seed: "none", Source: "float64 reference, my.pdf eq. 4"},
//		Cases:      map[string]any{"len-65": map[string]golden.Float{"rho": 0.31}},
//	}, golden.All(golden.Factor(1.5, "two digits of rho")))
//
// The file is goldens/kernels/my-decode.json below the folder of your go.mod, or below ASSAY_GOLDENS. `go test -update`
// writes it: only the cases whose numbers left their rule, never in CI (with CI set), never without provenance. A
// failure says what moved, by which rule, and prints the commands that run it again and that accept it. The files' form
// is published in docs/schema/golden-1.json.
//
// Only _test.go files may import this package: github.com/sebdah/goldie, which reads and writes the files, registers
// the flags -update and -clean.
//
// Not claimed: that an expectation is right. A golden says what was once computed, by what, from what.
//
// The API is v0: it may change.
package golden
