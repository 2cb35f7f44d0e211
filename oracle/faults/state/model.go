// Package state models bugs that no operator's inputs and outputs show: addresses that wrap, buffers too
// small, dispatch, loading, caches, speculation, batch variance and races. Each is a small model with a
// correct and a faulty version, and cases that run on both.
//
// What is claimed: the corrected model passes every case; the faulty one fails in at least two, on
// different inputs; a Blind case passes both and shows why the usual test missed the bug. Expected
// values come from a second source: 64-bit addresses, a list of tokens, a sort, enumeration of all
// interleavings.
//
// What is not: that the model is the original code. It restates what the public report says, and where
// the report names only a symptom, Origin says so. Interleavings are sequentially consistent: what
// only weak memory or real timing shows needs a device.
package state

import (
	"cmp"
	"fmt"
	"slices"
)

// Model is one fault outside of the operators.
type Model struct {
	Row    string // row of the bug catalogue, as in a plant's catches
	Slug   string
	Effect string // one sentence: what the faulty version does
	Origin string // public reports
	Class  string // the kind of cause, a slug
	Cases  []Case
}

// Case is one input and its check.
type Case struct {
	ID    string // [a-z0-9.-] segments, unique within the model
	Why   string // what the input is for
	Blind bool   // a popular check that passes the fault as well
	// Run executes the model in the faulty or the correct version. nil passes, a *ViolationError is a
	// finding, any other error says that the model itself broke.
	Run func(faulty bool) error
}

// ViolationError is what a check found.
type ViolationError struct{ What string }

// Error is the finding.
func (v *ViolationError) Error() string { return v.What }

// violated makes a finding.
func violated(format string, args ...any) error {
	return &ViolationError{fmt.Sprintf(format, args...)}
}

// Models lists the rows of the catalogue that a model of state or addresses shows, by row and slug.
func Models() []Model {
	return slices.SortedFunc(slices.Values(slices.Concat(addressModels(), bufferModels(), prefixModels(),
		dispatchModels(), scaleModels(), columnModels(), draftModels(), batchModels(), raceModels(), launchModels())),
		func(a, b Model) int { return cmp.Or(cmp.Compare(a.Row, b.Row), cmp.Compare(a.Slug, b.Slug)) })
}
