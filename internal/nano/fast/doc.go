// Package fast holds the operators of oracle.Ops a second time, for speed: matrix products, attention and the indexer's
// scores in fp32 on blocks of tokens, the rest in float64, rows over all cores. Where the processor has AVX2 and FMA
// the inner loops are assembly, chosen at run time; the Go loops elsewhere keep the same bounds.
//
// What is claimed: every operator is within the bound in its comment of the oracle's on the same inputs, and a row's
// result does not depend on the rows beside it, so that a prompt in chunks gives the bits of one in one shot. What is
// not: the same bits with and without assembly.
//
// The oracles stay the reference. An operator that somebody exchanged in the Ops is left as it is.
package fast
