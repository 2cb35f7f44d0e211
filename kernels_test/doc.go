// Package kernels gathers the equivalence suites: does this kernel compute the same function as the operator?
//
// Each suite has a package of its own (mhc, norm, ...), made of what bench offers; here they stand side by side
// (Suites), are registered for listing, and run against a candidate: the built-in ones, or the user's worker process
// (Run). A failing case gets a text, its likely cause and a folder that reproduces it without assay.
//
// Claimed: an accepted candidate stayed within the declared contract on these inputs. Not claimed: speed, races,
// address arithmetic beyond these sizes (oracle/faults/state models those), inputs that no case has.
package kernels
