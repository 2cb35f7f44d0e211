// Package protocol is the vocabulary of the worker protocol, version 1: what a worker says of itself.
// kernels_test/bench and the process side (internal/candidate) share it; the lines are in adapters/README.md.
package protocol

// Version is the version of the protocol.
const Version = 1

// Hello is what a worker says about itself when it is started.
type Hello struct {
	Name    string                `json:"name"`
	Version string                `json:"version"`
	Device  string                `json:"device"`
	Ops     map[string]Capability `json:"ops"`
}

// Capability is what a worker offers of one operator. An empty list of phases or dtypes is all of them, an empty list
// of modes is eager. DTypes are those of the operator's main operands, never of weights, scales or indices beside them.
type Capability struct {
	DTypes []string `json:"dtypes"`
	Phases []string `json:"phases"`
	Modes  []string `json:"modes"`

	// Facets are what is offered where it is no product of the lists above.
	Facets []Offer `json:"facets,omitempty"`
	// Contract is the contract that the worker declares; empty: the sharpest that it meets.
	Contract string `json:"contract,omitempty"`
	// Attrs are the values that are offered of attributes in which the operator's contracts differ, such as lse_base or
	// tie_break; an attribute that is not listed has all of its values.
	Attrs map[string][]string `json:"attrs,omitempty"`
	// NaN is "any" where results that depend on a NaN may be anything, since the kernel's maxima and clamps drop it; empty
	// or "propagates": they are NaN.
	NaN string `json:"nan,omitempty"`
	// MadeFor are dimensions of the operator's shapes, and the sizes that the kernel is made for.
	MadeFor map[string][]int `json:"made_for,omitempty"`
}

// Offer is an entry of a list of facets. What is left out is any; modes: eager.
type Offer struct {
	DTypes []string `json:"dtypes,omitempty"`
	Out    string   `json:"out,omitempty"`
	Layout string   `json:"layout,omitempty"`
	Phase  string   `json:"phase,omitempty"`
	Mode   string   `json:"mode,omitempty"`
}
