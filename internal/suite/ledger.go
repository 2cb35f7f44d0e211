package suite

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Ledger is the Lines of a run's results.
type Ledger struct{ *Lines }

// OpenLedger opens or makes the file, as OpenLines does.
func OpenLedger(name string) (*Ledger, error) {
	l, _, err := OpenLines(name)
	if err != nil {
		return nil, err
	}
	return &Ledger{l}, nil
}

// Append writes one result and syncs it to the disk.
func (l *Ledger) Append(r Result) error {
	r.Schema = Schema
	err := r.Validate()
	if err != nil {
		return err
	}
	if err := l.Lines.Append(r); err != nil {
		return fmt.Errorf("the result of %q: %w", r.Case, err)
	}
	return nil
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
