package probe

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
)

// head opens each part of a ledger: the run, and what must not change when it goes on.
type head struct {
	Ledger   int    `json:"probe-ledger"` // version
	Seed     uint64 `json:"seed"`
	Nonce    string `json:"nonce"`
	Budget   Budget `json:"budget"`
	Model    string `json:"model"`
	Haystack string `json:"haystack"`
	Disrupt  bool   `json:"disrupt"`
}

// ledger keeps one synced line per answer.
type ledger struct {
	mu    sync.Mutex
	file  *os.File
	done  map[string]map[int]Record // of the newest epoch of each case
	epoch int
}

// openLedger reads what an earlier run left, cuts off a line that was not written to its end, and opens a new part.
// An empty path keeps nothing. h.Nonce becomes the first run's.
func openLedger(path string, h *head) (*ledger, error) {
	l := &ledger{done: map[string]map[int]Record{}}
	if path == "" {
		if h.Nonce == "" {
			return nil, errors.New("probe: the nonce is empty: give a text that no earlier run had")
		}
		return l, nil
	}
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("probe ledger: %w", err)
	}
	whole := bytes.LastIndexByte(old, '\n') + 1
	if err := l.read(old[:whole], path, h); err != nil {
		return nil, err
	}
	if h.Nonce == "" {
		return nil, errors.New("probe: the nonce is empty: give a text that no earlier run had")
	}
	if l.file, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644); err != nil {
		return nil, fmt.Errorf("probe ledger: %w", err)
	}
	err = l.file.Truncate(int64(whole))
	if err == nil {
		_, err = l.file.Seek(0, io.SeekEnd)
	}
	if err == nil {
		err = l.line(h)
	}
	if err != nil {
		_ = l.file.Close()
		return nil, fmt.Errorf("probe ledger %q: %w", path, err)
	}
	return l, nil
}

func (l *ledger) read(data []byte, path string, h *head) error {
	in := bufio.NewScanner(bytes.NewReader(data))
	in.Buffer(nil, 1<<24)
	for n := 1; in.Scan(); n++ {
		var first head
		if err := json.Unmarshal(in.Bytes(), &first); err != nil {
			return fmt.Errorf("probe ledger %q, line %d: %w: it was not written by this program", path, n, err)
		}
		if first.Ledger == 0 {
			if n == 1 {
				return fmt.Errorf("probe ledger %q does not begin with a run: it was not written by this program", path)
			}
			var r Record
			if err := json.Unmarshal(in.Bytes(), &r); err != nil {
				return fmt.Errorf("probe ledger %q, line %d: %w", path, n, err)
			}
			steps := l.done[r.Case]
			if steps == nil || newer(steps, r.Epoch) {
				steps = map[int]Record{}
				l.done[r.Case] = steps
			}
			steps[r.Step] = r
			continue
		}
		want := *h
		want.Nonce = first.Nonce
		if first != want {
			return fmt.Errorf("probe ledger %q is of another run (%+v, this one is %+v): give the same seed, budget, model "+
				"and text, or another file", path, first, want)
		}
		h.Nonce = first.Nonce
		l.epoch++
	}
	return in.Err()
}

func newer(steps map[int]Record, epoch int) bool {
	for _, r := range steps {
		return epoch > r.Epoch
	}
	return false
}

// answers returns a case that is done, nil for one that is not.
func (l *ledger) answers(id string, steps int) []Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	have := l.done[id]
	if len(have) != steps {
		return nil
	}
	out := make([]Record, steps)
	for i := range out {
		r, ok := have[i]
		if !ok {
			return nil
		}
		out[i] = r
	}
	return out
}

func (l *ledger) add(r Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	return l.line(r)
}

// line writes one line and waits until it is on the disk.
func (l *ledger) line(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("a line cannot be written: %w", err)
	}
	if _, err := l.file.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("a line cannot be written: %w", err)
	}
	if err := l.file.Sync(); err != nil {
		return fmt.Errorf("a line cannot be synced: %w", err)
	}
	return nil
}

func (l *ledger) close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}
