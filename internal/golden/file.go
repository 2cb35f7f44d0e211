package golden

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/assay-suite/assay/internal/suite"
)

// version is the schema version of a golden file.
const version = 1

// File is one golden: a family's provenance and its cases, each a decoded JSON value (numbers as json.Number).
type File struct {
	Version    int            `json:"assay-golden"`
	Family     string         `json:"family"`
	Provenance Provenance     `json:"provenance"`
	Cases      map[string]any `json:"cases"`
}

// validFamily reports why family cannot be a path below the goldens folder.
func validFamily(family string) error { return suite.ValidPath("golden family", family) }

// decode parses the golden file of a family; name is used in errors.
func decode(name, family string, raw []byte) (*File, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	dec.DisallowUnknownFields()
	var f File
	if err := dec.Decode(&f); err != nil {
		return nil, fmt.Errorf("golden file %s is not readable (restore it from version control, it is written by -update "+
			"only): %w", name, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("golden file %s has text after its closing brace: restore it from version control", name)
	}
	if f.Version != version {
		return nil, fmt.Errorf("golden file %s has schema version %d and this build reads %d", name, f.Version, version)
	}
	if f.Family != family {
		return nil, fmt.Errorf("golden file %s says it is the family %q: it was moved by hand", name, f.Family)
	}
	return &f, nil
}

// encode renders f with sorted keys and a final newline. A case value may be anything that marshals to JSON.
func encode(f *File) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	// Through a generic value, so that struct fields come out in key order as maps do.
	cases, err := canonical(f.Cases)
	if err != nil {
		return nil, fmt.Errorf("golden %q: %w", f.Family, err)
	}
	if err := enc.Encode(File{f.Version, f.Family, f.Provenance, cases}); err != nil {
		return nil, fmt.Errorf("golden %q cannot be written as JSON: %w", f.Family, err)
	}
	return b.Bytes(), nil
}

// canonical turns case values into what decode would have returned for them.
func canonical(cases map[string]any) (map[string]any, error) {
	out := make(map[string]any, len(cases))
	for id, v := range cases {
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("case %q has a value that JSON cannot hold (golden.Float writes NaN and infinities): %w", id,
				err)
		}
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		var value any
		if err := dec.Decode(&value); err != nil {
			return nil, fmt.Errorf("case %q has a value that does not read back from JSON: %w", id, err)
		}
		out[id] = value
	}
	return out, nil
}

// load reads a family from the first of the roots that has it, with the name it was read from.
func load(roots []root, family string) (*File, string, error) {
	r, raw, err := read(roots, family)
	if err != nil {
		return nil, "", err
	}
	name := r.name + "/" + family + ".json"
	f, err := decode(name, family, raw)
	return f, name, err
}

// read returns the bytes of a family and the first of the roots that has it.
func read(roots []root, family string) (root, []byte, error) {
	if err := validFamily(family); err != nil {
		return root{}, nil, err
	}
	for _, r := range roots {
		raw, err := fs.ReadFile(r.fsys, family+".json")
		switch {
		case err == nil:
			return r, raw, nil
		case !errors.Is(err, fs.ErrNotExist):
			return r, nil, fmt.Errorf("golden %q cannot be read from %s: %w", family, r.name, err)
		}
	}
	return root{}, nil, fmt.Errorf("golden %q does not exist in %s: %w", family, rootNames(roots), fs.ErrNotExist)
}
