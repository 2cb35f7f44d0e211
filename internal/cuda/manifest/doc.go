// Package manifest reads what tells the CUDA worker how to launch a kernel: a text file of `key: value` lines that
// names the operator, the operands with dtypes and shapes, and for each launch its entry, grid, block and arguments as
// expressions of the shapes and attributes of a call.
//
// Claimed: every error names the line and, inside of an expression, the column; a manifest that parses has all that a
// launch needs; Bind finds every dimension or says which operand contradicts it; arithmetic that overflows int64 or
// divides by zero is an error. Not claimed: that names in expressions exist, since attributes are known by the call
// alone; a call that lacks one is refused with its name.
//
// The format is described in docs/cudaworker.md.
package manifest
