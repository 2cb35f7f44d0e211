package safetensors

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// Stream writes a file whose tensors are too large to be held: all are named first, then their bytes come in pieces, in
// any order and from any number of goroutines. Nobody sees the file before Close has renamed it.
type Stream struct {
	file *os.File
	path string
	at   map[string]span

	mu      sync.Mutex
	written int64
	total   int64
}

type span struct{ from, size int64 }

// Create begins a file at path. Data of the tensors is not looked at; wide dtypes go first, as Write puts them.
func Create(path string, metadata map[string]string, tensors ...Tensor) (*Stream, error) {
	sorted := slices.Clone(tensors)
	slices.SortStableFunc(sorted, func(a, b Tensor) int { return b.DType.Bits() - a.DType.Bits() })
	header, err := headerOf(metadata, sorted)
	if err != nil {
		return nil, err
	}
	s := &Stream{path: path, at: map[string]span{}}
	from := int64(8 + len(header))
	for _, t := range sorted {
		size, err := t.size()
		if err != nil {
			return nil, err
		}
		s.at[t.Name] = span{from, int64(size)}
		from += int64(size)
		s.total += int64(size)
	}
	if s.file, err = os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"); err != nil {
		return nil, fmt.Errorf("a file beside %q cannot be made: %w", path, err)
	}
	head := append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...)
	if _, err := s.file.Write(head); err != nil {
		return nil, errors.Join(fmt.Errorf("writing the header of %q: %w", path, err), s.Abandon())
	}
	return s, nil
}

// WriteAt writes bytes of a tensor, from byte off of it on. Each byte of a tensor is to be written once.
func (s *Stream) WriteAt(name string, off int64, data []byte) error {
	at, ok := s.at[name]
	if !ok {
		return fmt.Errorf("%q was not begun with a tensor %q", s.path, name)
	}
	if off < 0 || off+int64(len(data)) > at.size {
		return fmt.Errorf("tensor %q has %d bytes; %d bytes at %d do not fit", name, at.size, len(data), off)
	}
	if _, err := s.file.WriteAt(data, at.from+off); err != nil {
		return fmt.Errorf("writing tensor %q: %w", name, err)
	}
	s.mu.Lock()
	s.written += int64(len(data))
	s.mu.Unlock()
	return nil
}

// Close ends the file and moves it to its path. It fails, and leaves nothing, when bytes of a tensor are missing.
func (s *Stream) Close() error {
	if s.written != s.total {
		return errors.Join(fmt.Errorf("%q: %d bytes of tensors were written, the header says %d", s.path, s.written, s.total),
			s.Abandon())
	}
	if err := s.file.Close(); err != nil {
		return errors.Join(fmt.Errorf("closing the file for %q: %w", s.path, err), os.Remove(s.file.Name()))
	}
	if err := os.Rename(s.file.Name(), s.path); err != nil {
		return errors.Join(fmt.Errorf("moving the written file to %q: %w", s.path, err), os.Remove(s.file.Name()))
	}
	return nil
}

// Abandon drops a file that was begun; after Close it does nothing that matters.
func (s *Stream) Abandon() error {
	return errors.Join(s.file.Close(), os.Remove(s.file.Name()))
}
