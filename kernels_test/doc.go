// Package kernels tests a kernel against the operator that it claims to compute: attention, top-k, GEMM, routing and
// other operators of LLM inference (the table is in adapters/README.md), and any operator of your own.
//
// Call Test first, with a worker process in any language or with Go code:
//
//	func TestMyKernels(t *testing.T) { kernels.Test(t, kernels.Worker(t.Context(), "python3 my_worker.py")) }
//
// The candidate says what it offers, and every facet of that (operator, storage format, output, phase, mode) is judged
// by all of its cases. Run does the same and returns a Result. WithSuites judges by a suite of your own: one operator
// takes about forty lines of package bench, as the example shows. `go tool mage kernels` is the same run on a terminal,
// with a heat map of errors, and puts the kernels into a small model besides.
//
// Claimed: an accepted candidate stayed within the declared contract on these inputs. Not claimed: speed, races,
// address arithmetic beyond these sizes (oracle/faults/state models those), inputs that no case has, and what a kernel
// does to a model.
//
// The API is v0: it may change.
package kernels
