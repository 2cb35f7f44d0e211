package suite

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// Ledger appends results to a file, one JSON line each, and syncs every line before Append returns: what was recorded
// survives a crash of the run. It is safe for concurrent use.
type Ledger struct {
	mu   sync.Mutex
	file *os.File
}

// OpenLedger opens or makes the file. A last line without a newline, left by a crash, is cut off.
func OpenLedger(name string) (*Ledger, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("the ledger %s cannot be opened: %w", name, err)
	}
	if err := cutTornLine(f); err != nil {
		return nil, errors.Join(fmt.Errorf("the ledger %s cannot be continued: %w", name, err), f.Close())
	}
	return &Ledger{file: f}, nil
}

// cutTornLine truncates f after its last newline and moves there.
func cutTornLine(f *os.File) error {
	raw, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	end := int64(bytes.LastIndexByte(raw, '\n') + 1)
	if end < int64(len(raw)) {
		if err := f.Truncate(end); err != nil {
			return err
		}
	}
	_, err = f.Seek(end, io.SeekStart)
	return err
}

// Append writes one result and syncs it to the disk.
func (l *Ledger) Append(r Result) error {
	r.Schema = Schema
	if err := r.Validate(); err != nil {
		return err
	}
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("the result of %q cannot be written as JSON: %w", r.Case, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("the result of %q cannot be written to the ledger: %w", r.Case, err)
	}
	if err := l.file.Sync(); err != nil {
		return fmt.Errorf("the ledger cannot be synced after %q: %w", r.Case, err)
	}
	return nil
}

// Close closes the file.
func (l *Ledger) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.Close()
}

// ReadLedger reads every result. A last line that is torn (no newline, or not JSON) is left out; anything wrong earlier
// is an error with its line number.
func ReadLedger(r io.Reader) ([]Result, error) {
	var out []Result
	in := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return out, nil // nothing, or a line that a crash cut off
		}
		if err != nil {
			return out, fmt.Errorf("the ledger cannot be read at line %d: %w", n, err)
		}
		res, err := readLine(line)
		if err != nil {
			if _, peek := in.Peek(1); errors.Is(peek, io.EOF) && !json.Valid(line) {
				return out, nil
			}
			return out, fmt.Errorf("line %d of the ledger: %w", n, err)
		}
		out = append(out, res)
	}
}

func readLine(line []byte) (Result, error) {
	var r Result
	if err := json.Unmarshal(line, &r); err != nil {
		return r, err
	}
	if r.Schema < 1 || r.Schema > Schema {
		return r, fmt.Errorf("schema version %d, and this build reads 1 to %d", r.Schema, Schema)
	}
	return r, r.Validate()
}

// ReadLedgerFile reads the results of a file.
func ReadLedgerFile(name string) ([]Result, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("the ledger cannot be opened: %w", err)
	}
	results, err := ReadLedger(f)
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return results, errors.Join(err, f.Close())
}
