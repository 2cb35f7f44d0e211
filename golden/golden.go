package golden

import (
	"testing"

	"github.com/assay-suite/assay/internal/golden"
)

// Doc is what a test computed for a family.
type Doc struct {
	Provenance Provenance
	// Cases maps a case ID to its value: anything that marshals to JSON (Float for numbers that may be NaN or infinite).
	Cases map[string]any
}

// Provenance says where the values of a golden come from. Generator, Seed and Source are required; Model in families
// below "fidelity/". The tool's version and the toolchain are added when the file is written.
type Provenance struct {
	Generator string // what computed the values: a package and function, or a command
	Seed      string // seed and transform behind random inputs, or "none"
	Source    string // what the values were derived from: a formula with its paper, a recording, a fixture
	Model     string // fingerprint of the weights, "sha256:..."
	Device    string // hardware and driver, where the values depend on them
	Profile   string // settings of the run, where the values depend on them
	Notes     string // free text for the reader
}

func (d Doc) inner() golden.Doc {
	p := d.Provenance
	return golden.Doc{Cases: d.Cases, Provenance: golden.Provenance{
		Generator: p.Generator, Seed: p.Seed, Source: p.Source, Model: p.Model, Device: p.Device, Profile: p.Profile,
		Notes: p.Notes,
	}}
}

// Assert compares doc with the family's golden, every number by its rule. family is a slug path of at least two
// segments, "kernels/my-decode". A case without a golden, and a family without a file, is a failure; a golden without a
// case is not (see Orphans). With -update the violated and new cases are rewritten instead, the others keep their
// bytes. Incomplete provenance is a failure in either mode.
func Assert(t testing.TB, family string, doc Doc, rules Rules) {
	t.Helper()
	golden.Assert(t, family, doc.inner(), rules.inner())
}

// Orphans fails t when the family's golden holds cases that ids, the complete list, does not name. With -update they
// are removed instead. A missing file has no orphans.
func Orphans(t testing.TB, family string, ids []string) {
	t.Helper()
	golden.Orphans(t, family, ids)
}

// Read returns a family's cases as decoded JSON (numbers as json.Number), for a test that judges by more than a rule a
// number. The error wraps fs.ErrNotExist where there is none.
func Read(family string) (map[string]any, error) {
	f, err := golden.Read(family)
	if err != nil {
		return nil, err
	}
	return f.Cases, nil
}

// Updating reports whether goldens are to be rewritten: -update, or GOLDIE_UPDATE=1.
func Updating() bool { return golden.Updating() }

// Float is a float64 that survives JSON: NaN and the infinities are written as strings, which the comparison reads back
// as numbers.
type Float float64

// MarshalJSON writes f as a number, or as "NaN", "+Inf" or "-Inf".
func (f Float) MarshalJSON() ([]byte, error) { return golden.Float(f).MarshalJSON() }
