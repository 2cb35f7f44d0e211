// Package bench is what every kernel suite is made of: calls with memory layouts, cases, the judging of a candidate,
// proofs that a suite rejects faults and passes correct kernels.
//
// Call kernels.Test first (package kernels_test), which judges a candidate by a suite. A suite of your own is a [Suite]
// with one [Family] an operator; [FromKernel] makes a candidate of Go code, [StartWorker] of a process, and [New] with
// [Bench.Judge] judges one case. The API is v0: it may change.
//
// A suite (kernels_test/indexer, kernels_test/dense, ...) is data: families of cases for one operator each, with a
// generator, an expectation derived from oracle and numerics, correct variants, planted faults. A candidate answers a
// Call, which has the shape of the worker protocol. numerics.Judge decides from tensors and contract.
//
// Claimed: an accepted candidate stayed within the declared contract on these inputs, read no memory outside its
// operands and no element marked unread, and wrote every output element. Not claimed: speed, races, address arithmetic
// beyond these sizes, inputs that no case has.
package bench
