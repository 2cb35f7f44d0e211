// Package fidelity asks a live endpoint whether it still recalls what stands in its context, and
// judges the answers against a golden or, without one, against internal controls.
//
// A run is: capability pre-flight, plan (recall grid of length x depth, window test, cold = warm),
// prompts whose length is taken by the server's own count, answers with their class, the
// log-probability margin of every needle token and the top log-probabilities, then the gates.
//
// What is claimed: a REGRESSED or fault verdict comes from an exact test at the stated level with a
// practical margin on top, or from margins that moved further than the recorded noise; pairs are
// compared only when their prompts are the same bytes; what could not be measured is never counted
// as found or as lost, and too much of it makes the run inconclusive.
//
// What is not claimed: that a model understands its context. Needles are copied codes: a fault that
// spares copying passes. Without a golden a weak model and a faulty engine can look alike; the text
// of the verdict then names both.
//
// The jobs themselves are in fidelity/internal: this package holds their tests, which are what a user runs.
package fidelity
