package suite

import (
	"hash/fnv"
	"math/rand/v2"
)

// RandDescription names the generator of Rand in the words that go into a golden's provenance.
const RandDescription = "math/rand/v2 PCG(FNV-1a-64 of the case ID, 0)"

// Seed returns the FNV-1a 64-bit hash of a case ID: stable across machines, releases and the addition of cases.
func Seed(caseID string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(caseID)) // a hash never fails
	return h.Sum64()
}

// Rand returns the random numbers of a case.
func Rand(caseID string) *rand.Rand {
	return rand.New(rand.NewPCG(Seed(caseID), 0))
}
