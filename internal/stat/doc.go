// Package stat holds the small statistics that assay's verdicts rest on: intervals for a recall
// rate, exact tests for two rates and for paired answers, Holm's correction, quantiles, and three
// named rules for comparing two numbers.
//
// Claimed: the tests are exact (sums of binomial or hypergeometric probabilities, no normal
// approximation), so their p-values hold for the handful of cells that a recall grid has. Wilson's
// interval is the one approximate member; its coverage is enumerated in the tests.
//
// Not claimed: nothing here knows about cells, goldens or margins, and no function decides what
// drop matters in practice. A p-value without a practical margin is half a gate.
//
// Every function returns an error sentence for arguments outside its domain; none panics.
package stat
