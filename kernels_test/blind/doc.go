// Package blind looks for what the suites do not see: mutants made from the table of operators alone (names, shapes
// and meanings of a family's Doc, its facets, and the problems that its cases draw), no list of bugs, each wrapped
// around the sound built-in kernel and judged by the rows of the job. What survives and changes a result is a blind
// spot.
//
// Not claimed: that a kernel without these faults is right. Extents of 2^24 and 2^31 belong to byte offsets and are
// not among the mutants.
package blind
