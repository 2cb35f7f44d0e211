// Package native is a CUDA device by NVIDIA's driver library, and NVRTC, both loaded when they are asked for. It is the
// only importer of purego, so that every other binary of this repository stays static and needs no C library.
//
// Claimed: a library or function that is missing is an error that names it and says what was tried; every call that
// answers with a code other than success is a *cuda.Error with CUDA's name, number and sentence. Not claimed: anything
// about a driver older than 12.0.
package native
