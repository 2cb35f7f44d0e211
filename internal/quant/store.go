package quant

import (
	"fmt"
	"io"

	"github.com/assay-suite/assay/safetensors"
)

// Store is what weights are read from: a *safetensors.File, a *safetensors.Checkpoint, or tensors of several files.
type Store interface {
	Tensor(name string) (safetensors.Info, bool)
	Section(name string) (*io.SectionReader, error)
}

// read reads bytes [from, to) of a stored tensor.
func read(s Store, name string, from, to int64) ([]byte, error) {
	r, err := s.Section(name)
	if err != nil {
		return nil, err
	}
	raw := make([]byte, to-from)
	if n, err := r.ReadAt(raw, from); n < len(raw) {
		return nil, fmt.Errorf("%s: byte %d cannot be read: %w", name, from+int64(n), err)
	}
	return raw, nil
}
