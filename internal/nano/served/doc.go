// Package served is a nano model as engines compute it in a declared number format: weights stored in the format,
// results of operators rounded to the engine's activations, inputs of quantised products and rows of the cache
// quantised where engines do so. It says how far the log-probabilities of a sound engine stand from the exact ones.
//
// Claimed: the roundings are those of the recipes in numerics/format; a row's result does not depend on the rows
// beside it. A seed draws a gauge, a factor in [1, 2) for each kind of value that is multiplied before a rounding and
// divided out after it: seeds give different roundings of one law, as engines that add in other orders or fuse other
// operators do. Seed 0 rounds plainly.
//
// Not claimed: the bits of any engine, and its accumulators; products are those of internal/nano/fast.
package served
