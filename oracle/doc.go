// Package oracle holds the reference operators of the DeepSeek-V4 family in float64, one file each:
// the formula once, next to its source.
//
// Call an operator first ([Attention], [Sinkhorn], [Gate], ...), on matrices of [NewMat]; [Reference] gives all that
// a model is composed from.
//
// What is claimed: each operator computes the published formula with no rounding beyond float64's,
// checked against recorded tensors of the Hugging Face implementation (local_test.go) and against
// closed forms where those tensors do not depend on a term. What is not: any particular rounding order of
// a GPU kernel; that is a numerics.Contract, and the difference between the two is what assay judges.
//
// Ops gathers the operators as a struct of functions. A model is composed from it (internal/nano),
// so that one operator can be replaced by a catalogued fault, a reduced-precision contract or a user's
// kernel while everything around it stays exact.
//
// Shapes are checked where data enters (checkpoint loading, case generators); an operator given
// inconsistent shapes fails as a slice access does. What depends on values (NaN scores, unknown
// expert ids) is returned as an error.
//
// Sources: DeepSeek-V4-Flash inference/model.py and kernel.py, DeepSeek-V3.2-Exp inference/model.py,
// huggingface/transformers modeling_deepseek_v4.py.
package oracle
