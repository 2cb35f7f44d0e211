package fidelity

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/assay-suite/assay/fidelity/internal/recall"
)

// readGolden reads a golden file as published in docs/schema; nil where there is none. (internal/golden, which writes
// them, belongs to _test.go files: goldie registers flags.)
func readGolden(dir, family string) (*recall.Golden, error) {
	name := filepath.Join(dir, filepath.FromSlash(family)+".json")
	raw, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the golden cannot be read: %w", err)
	}
	var file struct {
		Version int            `json:"assay-golden"`
		Family  string         `json:"family"`
		Cases   map[string]any `json:"cases"`
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&file); err != nil {
		return nil, fmt.Errorf("golden file %s is not readable, restore it from version control: %w", name, err)
	}
	if file.Version != 1 || file.Family != family {
		return nil, fmt.Errorf("golden file %s has schema version %d and says it is the family %q: this build reads "+
			"version 1, and the file's path is its family", name, file.Version, file.Family)
	}
	return recall.ParseGolden(family, file.Cases)
}
