// Package job gathers the equivalence suites and runs them: does this kernel compute the same function as the operator?
//
// Each suite has a package of its own (mhc, norm, ...), made of what bench offers; here they stand side by side
// (Suites), are registered for listing, and run against a candidate: the built-in ones, or the user's (Run). A failing
// case gets a text, its likely cause and a folder that reproduces it without assay. Watch is the run on a terminal.
package job
