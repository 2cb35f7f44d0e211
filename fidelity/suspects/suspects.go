// Package suspects joins what the three pillars have measured into one answer a patch: cleared, implicated, or not
// exercised.
//
// A patches file names what was changed in an engine: operator, phases, and the switch that turns it off. Evidence
// comes from the ledgers of runs (results.jsonl): kernel cases judged through a worker, numerics rows, and the
// diagnosis of a live run.
//
// Claimed: a patch is cleared only where its own kernel passed in every phase that it is used in, implicated only where
// a measurement of its own operator failed, or where the live diagnosis points at its operator and nothing has cleared
// it. Not claimed: that a cleared patch is called by the engine as it was called here; path and phase reachability say
// what is known.
package suspects

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// Patch is one suspect.
type Patch struct {
	Name      string   `json:"name"`      // slug or words, unique
	Operator  string   `json:"operator"`  // as in adapters/README.md
	Phases    []string `json:"phases"`    // prefill, decode, extend; empty: all that the operator has
	Off       string   `json:"off"`       // the switch that turns it off
	Candidate string   `json:"candidate"` // name of the worker that ran it; empty: any worker
}

// File is a patches file.
type File struct {
	Patches []Patch `json:"patches"`
}

var phases = []string{"prefill", "decode", "extend"}

// Load reads a patches file. Unknown fields are an error: a misspelt phase would clear a patch that nobody ran.
func Load(path string) ([]Patch, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the patches of ASSAY_SUSPECTS cannot be read: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	var f File
	if err := d.Decode(&f); err != nil {
		return nil, fmt.Errorf("%s is no patches file, {\"patches\": [{\"name\", \"operator\", \"phases\", \"off\"}]}: %w",
			path, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s goes on after the patches; keep one object in it", path)
	}
	return f.Patches, check(path, f.Patches)
}

func check(path string, patches []Patch) error {
	if len(patches) == 0 {
		return fmt.Errorf("%s names no patch; give at least one with a name and an operator", path)
	}
	var names []string
	for i, p := range patches {
		switch {
		case p.Name == "" || p.Operator == "":
			return fmt.Errorf("patch %d of %s has name %q and operator %q; give both", i+1, path, p.Name, p.Operator)
		case slices.Contains(names, p.Name):
			return fmt.Errorf("%s names patch %q twice", path, p.Name)
		}
		for _, phase := range p.Phases {
			if !slices.Contains(phases, phase) {
				return fmt.Errorf("patch %q of %s has phase %q; use %s", p.Name, path, phase, strings.Join(phases, ", "))
			}
		}
		names = append(names, p.Name)
	}
	return nil
}
