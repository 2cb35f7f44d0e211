// Package fidelity asks a live endpoint whether it still recalls what stands in its context, and
// judges the answers against a golden or, without one, against internal controls.
//
// Call Test first, in a test of yours:
//
//	func TestMyServer(t *testing.T) { fidelity.Test(t, fidelity.Config{BaseURL: "http://127.0.0.1:8000/v1"}) }
//
// Run does the same and returns a Result. `go tool mage live` is the same run on a terminal. The golden
// that a later run is held against is recorded from a checkout of assay, into any folder of yours:
// ASSAY_GOLDENS=/your/goldens go tool mage bless -reason="what this build is".
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
// The jobs themselves are in fidelity/internal; the tests here are what mage runs.
//
// The API is v0: it may change.
package fidelity
