// Package faults is the catalogue of planted faults: minimal variants of single operators, each standing for
// a public bug. Kernel suites must catch them, nanoserve serves them, and inside nano-v4 they show what a
// bug does to recall and margins.
//
// What is claimed: each fault changes exactly the operators it names. What is not: that a fault loses
// needles; most real ones only change margins.
package faults

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/assay-suite/assay/oracle"
)

// Fault is one planted bug.
type Fault struct {
	Name   string // slug, as in nanoserve -fault=NAME
	Effect string // one sentence: what the operator now does
	Origin string // public bugs of this kind, or the seed story
	Row    string // row of the catalogue, empty for none
	// Resumes says that the fault shows only where a sequence goes on: in a later chunk, a decode step, after a prefix
	// hit.
	Resumes bool
	Apply   func(oracle.Ops) oracle.Ops
}

// All lists the catalogue in order of name.
func All() []Fault {
	all := slices.Concat(selection, compression, attention, hyperConnections, indexer, rotation, routing, memory)
	slices.SortFunc(all, func(a, b Fault) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Names lists the slugs in order.
func Names() []string {
	var names []string
	for _, f := range All() {
		names = append(names, f.Name)
	}
	return names
}

// Lookup finds a fault by its slug; an unknown one is an error that lists them all.
func Lookup(name string) (Fault, error) {
	for _, f := range All() {
		if f.Name == name {
			return f, nil
		}
	}
	return Fault{}, fmt.Errorf("no fault is called %q; the catalogue has %s", name, strings.Join(Names(), ", "))
}
