// Package kernels holds equivalence suites: does this kernel compute the same function as the operator?
//
// A suite is a table of cases (mhc_pre.go, mhc_post.go, mhc_head.go). A case fixes operator, inputs, memory layout and
// declared contract; its inputs follow from its ID alone. A candidate answers a Call, which has the shape of the worker
// protocol: operator, attributes, storages with views into them, outputs to be prefilled. numerics.Judge then decides from
// tensors and contract: structure first (shape, class of every element, elements never written, poison in what is not
// to be read, inputs left alone), then the bound that the contract allows, derived for the case's own numbers.
//
// What is claimed: an accepted candidate stayed within the declared contract on these inputs, read nothing that it had no
// business reading, and wrote everything. A rejected one breached a certain bound, or one that holds at a stated risk.
// What is not: speed, races, address arithmetic beyond these sizes, nor anything about inputs that no case has.
//
// Tables, generators and candidates are ordinary files so that cases can be listed without running; the tests iterate.
package kernels
