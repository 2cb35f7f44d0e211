// Package cuda runs CUDA kernels that manifests describe as the calls of the worker protocol: it compiles or loads the
// source, puts operands between guard zones on the device, launches, checks the guards and reads the outputs back.
//
// Claimed: a call ends with the outputs, with an error that wraps candidate.ErrUnsupported, or with an error that names
// what broke: CUDA's own name and number, the compile log, or the operand and byte where a kernel wrote outside of an
// output. Every device buffer lies between zones of its dtype's NaN that are compared after every call; operands are
// compared with what was sent; freed memory is overwritten before it is freed. After an error that leaves the context
// unusable every further call is refused with the first one's words, so that whoever started the process starts a new
// one.
// All calls into the driver come from one thread.
//
// Not claimed: a read outside of an operand is seen only through the NaN that it brings, or as an illegal address; a
// write beyond the guard zones hits memory that nothing compares.
//
// The driver is an interface: internal/cuda/native loads libcuda and NVRTC, internal/cuda/emulate compiles the same
// source for the CPU, internal/cuda/fake runs Go functions and breaks on request.
package cuda
