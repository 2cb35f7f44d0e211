// Package totals judges how many of a run's answers are wrong, whatever the probes' contrasts say: a loss that is
// spread evenly over all ways of asking has no contrast. Live, compare and diagnose share this one judgement.
//
// Claimed: a fault is called where short questions asked alone are wrong more often than any sound model's (exact lower
// bound above 5 %), where one way of asking is worse than others at the same lengths and depths (exact stratified
// test), where recall falls with length in a way that no smooth decline explains, or where the wrong answers come in a
// period, on one connection, from one time on or at one residue of the token count. Chance alone gives one of these in
// one run of a thousand (see the simulation in the tests).
//
// Not claimed: that a model with a smooth decline is sound, or that one is not. That is neither a fault nor a pass.
package totals
