// Package suite holds what the three pillars share about running: case values and their registry, outcomes, the result
// ledger, shards, the environment table, run folders, seeded random numbers, and Main, which owns the exit code and the
// closing verdict line of a test binary.
//
// It judges nothing. A test decides an outcome and records it; Main turns the worst of what was recorded into one of
// six exit codes. It does not promise that `go test` passes that code on: `go test` turns every failure into 1, so
// whoever needs the code runs the binary, as the mage targets do.
package suite
