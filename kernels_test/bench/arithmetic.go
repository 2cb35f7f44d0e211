package bench

import "github.com/assay-suite/assay/numerics"

// Arithmetic says which accumulator reproduces a GEMM-like output bit for bit, or nothing where the case has no such
// output.
func (b *Bench) Arithmetic(r Report) string {
	for i, e := range b.Expected {
		if e.Gemm == nil || i >= len(r.Findings) || len(r.Findings[i].Got) != e.Gemm.M*e.Gemm.N {
			continue
		}
		found, err := numerics.Explain(r.Findings[i].Got, *e.Gemm)
		if err == nil && found.Explained() {
			return e.Name + " is " + found.String()
		}
	}
	return ""
}
