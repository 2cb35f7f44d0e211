package golden

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/assay-suite/assay/internal/suite"
)

// Provenance says where the values of a golden come from. Generator, Seed and Source are always required, Model in the
// fidelity pillar; Tool and Go are filled in when the file is written.
type Provenance struct {
	// Generator names what computed the values: a package and function, or a command.
	Generator string `json:"generator"`
	// Seed names the seed and the transform behind random inputs ("pcg(fnv64a(case ID)), box-muller"), or "none".
	Seed string `json:"seed"`
	// Source names what the values were derived from: a formula with paper and section, a recording, a fixture.
	Source string `json:"source"`
	// Model is the fingerprint of the weights, such as "sha256:...". Required for fidelity goldens.
	Model string `json:"model,omitempty"`
	// Device names the hardware and driver where the values depend on them.
	Device string `json:"device,omitempty"`
	// Profile names the settings of the run (grid, budget, quantisation) where the values depend on them.
	Profile string `json:"profile,omitempty"`
	// Notes is free text for the reader.
	Notes string `json:"notes,omitempty"`
	// Tool is the version of this module, set by the wrapper.
	Tool string `json:"tool,omitempty"`
	// Go is the toolchain and architecture, set by the wrapper.
	Go string `json:"go,omitempty"`
}

// validate returns an error that names every required field that is empty.
func (p Provenance) validate(family string) error {
	var errs []error
	need := func(field, value string) {
		if strings.TrimSpace(value) == "" {
			errs = append(errs, fmt.Errorf("golden %q has no provenance field %q: say where the values come from", family,
				field))
		}
	}
	need("generator", p.Generator)
	need("seed", p.Seed)
	need("source", p.Source)
	if strings.HasPrefix(family, "fidelity/") {
		need("model", p.Model)
	}
	return errors.Join(errs...)
}

// identity is the part that must agree before cases of two runs may stand in one file.
func (p Provenance) identity() Provenance {
	p.Tool, p.Go, p.Notes = "", "", ""
	return p
}

// stamped returns p with the fields that the wrapper owns.
func (p Provenance) stamped() Provenance {
	p.Tool = "assay"
	if v := suite.Version(); v != "" {
		p.Tool = "assay " + v
	}
	p.Go = runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
	return p
}
