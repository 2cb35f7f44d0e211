// Package recall is the needle test of an endpoint: the plan of cells, the answers to them, and what golden, controls
// and window test make of these. It prints nothing and writes no file but the stored requests.
//
// What is claimed and what is not stands in package fidelity.
package recall
