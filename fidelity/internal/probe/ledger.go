package probe

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/assay-suite/assay/internal/suite"
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
	lines *suite.Lines              // nil: nothing is kept
	done  map[string]map[int]Record // of the newest epoch of each case
	epoch int
}

// openLedger reads what an earlier run left and opens a new part. An empty path keeps nothing. h.Nonce becomes the
// first run's.
func openLedger(path string, h *head) (_ *ledger, err error) {
	l := &ledger{done: map[string]map[int]Record{}}
	var old []byte
	if path != "" {
		if l.lines, old, err = suite.OpenLines(path); err != nil {
			return nil, err
		}
	}
	if err = l.read(old, path, h); err == nil && h.Nonce == "" {
		err = errors.New("probe: the nonce is empty: give a text that no earlier run had")
	}
	if err == nil {
		err = l.add(h)
	}
	if err != nil {
		return nil, errors.Join(err, l.close())
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

func (l *ledger) add(v any) error {
	if l.lines == nil {
		return nil
	}
	return l.lines.Append(v)
}

func (l *ledger) close() error {
	if l.lines == nil {
		return nil
	}
	return l.lines.Close()
}
