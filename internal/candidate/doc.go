// Package candidate runs kernels that live in another process: a worker that any command line starts and that speaks
// the worker protocol, version 1, over its standard input and output, with tensors in safetensors files.
//
// Claimed: a call ends with the worker's outputs, with an error that wraps ErrUnsupported, or with an *Error that names
// what the worker did (ended, hung, answered garbage, wrote a wrong output); after an *Error the worker is started anew
// for the next call, so that one broken case costs one case; outputs have the dtype and shape that were asked for;
// standard error is kept with a bound; the folder of tensor files is removed by Close.
//
// Not claimed: values are not looked at; digests of repeats are passed on and not compared; a worker is not sandboxed
// and runs with the rights of the caller. Processes of the worker's own that leave its process group outlive it.
//
// The protocol, line by line, is in adapters/README.md.
package candidate
