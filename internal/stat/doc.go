// Package stat holds the small statistics that assay's verdicts rest on: intervals for a recall
// rate, exact tests for two rates and for paired answers, a permutation test for paired measurements,
// Holm's correction, quantiles, and two named rules for comparing two numbers.
//
// Claimed: the tests are exact (sums of binomial or hypergeometric probabilities, no normal
// approximation), so their p-values hold for the handful of cells that a recall grid has; above 20 pairs
// the permutation test draws patterns, and its p still holds its level. Wilson's interval and
// the interval of a paired drop that is built from it are approximate; the tests enumerate coverage.
//
// Not claimed: nothing here knows about cells, goldens or margins, and no function decides which
// drop matters in practice. A p-value without a practical margin is half a gate.
//
// Every function returns an error sentence for arguments outside its domain; none panics.
package stat
