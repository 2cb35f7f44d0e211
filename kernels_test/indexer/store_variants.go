package indexer

import (
	"math/bits"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// The other correct ways to store keys.
func asMatrix(s *keyStore) { s.walsh = matrix }

func factorFirst(s *keyStore) {
	s.hadamard = func(s keyStore, y []float32) []float32 { return s.walsh(s.sum, normalised(y)) }
}

func byReciprocals(s *keyStore) { s.quotient = func(v, by float32) float32 { return v * (1 / by) } }

func weightFolded(s *keyStore) {
	s.gain = func(v, root, w float32) float32 { return v * float32(root*w) }
}

func adding(sum bench.Summing) func(s *keyStore) { return func(s *keyStore) { s.sum = sum } }

// matrix is the transform as a product with its matrix.
func matrix(sum bench.Summing, y []float32) []float32 {
	terms, out := make([]float32, len(y)), make([]float32, len(y))
	for i := range out {
		for j, v := range y {
			if terms[j] = v; bits.OnesCount(uint(i&j))%2 == 1 {
				terms[j] = -v
			}
		}
		out[i] = sum(terms)
	}
	return out
}

// storeVariants are correct ways to store keys.
func storeVariants() []bench.Variant {
	var out []bench.Variant
	for _, contract := range []string{"fp32", "bf16-steps"} {
		add := func(name string, changes ...func(s *keyStore)) {
			name = slug("store-%s-%s", contract, name)
			s := correctStore(contract, changes...)
			out = append(out, bench.Variant{
				Name: name, Contract: contract, Candidate: bench.FromKernel(name, storeOp, s.run),
			})
		}
		add("sums-reversed", adding(bench.Reversed))
		add("sums-pairwise", adding(bench.Pairwise))
		add("sums-lanes-32", adding(bench.Lanes(32, bench.Sequential)))
		add("sums-exact", adding(bench.Wide))
		add("matrix", asMatrix)
		add("matrix-lanes-8", asMatrix, adding(bench.Lanes(8, bench.Sequential)))
		add("factor-first", factorFirst)
		add("reciprocals", byReciprocals)
		add("weight-folded", weightFolded)
		add("steps-unrounded", func(s *keyStore) { s.round = unrounded })
		add("all", adding(bench.Pairwise), asMatrix, factorFirst, byReciprocals, weightFolded)
	}
	return out
}
