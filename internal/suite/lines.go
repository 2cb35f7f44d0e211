package suite

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// Lines is a file of JSON values, one a line, each on the disk before Append returns: what was recorded survives a
// crash. It is safe for concurrent use.
type Lines struct {
	mu   sync.Mutex
	file *os.File
}

// OpenLines opens or makes the file, and returns what whole lines it has. A last line without a newline, left by a
// crash, is cut off. A file has one writer: while one is open, another process, or this one again, is refused.
func OpenLines(name string) (*Lines, []byte, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, nil, fmt.Errorf("the ledger %s cannot be opened: %w", name, err)
	}
	if err := lock(f); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("the ledger %s is being written by another process: %w; wait for it, or use "+
			"another folder", name, err), f.Close())
	}
	whole, err := cutTornLine(f)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("the ledger %s cannot be continued: %w", name, err), f.Close())
	}
	return &Lines{file: f}, whole, nil
}

// cutTornLine truncates f after its last newline, moves there, and returns what stands before.
func cutTornLine(f *os.File) ([]byte, error) {
	raw, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	end := bytes.LastIndexByte(raw, '\n') + 1
	if end < len(raw) {
		if err := f.Truncate(int64(end)); err != nil {
			return nil, err
		}
	}
	_, err = f.Seek(int64(end), io.SeekStart)
	return raw[:end], err
}

// Append writes one value and syncs it to the disk.
func (l *Lines) Append(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("cannot be written as JSON: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("cannot be written to the ledger: %w", err)
	}
	if err := l.file.Sync(); err != nil {
		return fmt.Errorf("the ledger cannot be synced: %w", err)
	}
	return nil
}

// Close closes the file.
func (l *Lines) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.Close()
}
