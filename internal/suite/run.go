package suite

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Run collects what became of the cases of one process. The zero value is ready; it is safe for concurrent use.
type Run struct {
	mu      sync.Mutex
	dir     string
	ledger  *Ledger
	results []Result
	verdict Code
	text    string
	job     bool
}

// process is the run of this process.
var process Run

// Record adds a result to the run of this process: see Run.Record.
func Record(r Result) error { return process.Record(r) }

// Verdict gives the run of this process a code and the text of its verdict line: see Run.Verdict.
func Verdict(code Code, text string) { process.Verdict(code, text) }

// RunDir returns the folder of the run of this process: see Run.Dir.
func RunDir() (string, error) { return process.Dir() }

// Results returns what the run of this process has recorded so far.
func Results() []Result { return process.Results() }

// Record adds a result. It counts towards the exit code, and is a line of the ledger as soon as the run has a folder.
// A result that cannot be recorded is an error, and makes the run a tool error besides.
func (u *Run) Record(r Result) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	err := r.Validate()
	if err == nil {
		r.Schema = Schema
		if u.ledger != nil {
			r.Run = filepath.Base(u.dir)
			err = u.ledger.Append(r)
		}
	}
	if err != nil {
		u.raise(ToolError, err.Error())
		return err
	}
	u.results = append(u.results, r)
	return nil
}

// Verdict raises the run's code to code, with the text of the closing line. Of several the heaviest code decides, and
// of equal ones the first that has a text.
func (u *Run) Verdict(code Code, text string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.raise(code, text)
}

func (u *Run) raise(code Code, text string) {
	if code.weight() > u.verdict.weight() || code == u.verdict && u.text == "" {
		// one line
		u.verdict, u.text = code, strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }),
			"; ")
	}
}

// Dir returns the run's folder, <ASSAY_ARTIFACTS>/<UTC time>, and makes it and its ledger results.jsonl at the first
// call. A run that never asks leaves nothing on the disk.
func (u *Run) Dir() (string, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.dir != "" {
		return u.dir, nil
	}
	parent, err := artifacts()
	if err != nil {
		return "", err
	}
	dir, err := NewRunDir(parent, time.Now())
	if err != nil {
		return "", err
	}
	ledger, err := OpenLedger(filepath.Join(dir, "results.jsonl"))
	if err != nil {
		return "", err
	}
	for i := range u.results {
		u.results[i].Run = filepath.Base(dir)
		if err := ledger.Append(u.results[i]); err != nil {
			return "", err
		}
	}
	u.dir, u.ledger = dir, ledger
	return dir, nil
}

// Results returns a copy of what was recorded.
func (u *Run) Results() []Result {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([]Result(nil), u.results...)
}

// conclude returns the run's code and the text of its verdict line, given what the tests returned and how many results
// a run needs to be green.
func (u *Run) conclude(testsCode, atLeast int) (Code, string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ledger != nil {
		if err := u.ledger.Close(); err != nil {
			u.raise(ToolError, "the ledger cannot be closed: "+err.Error())
		}
		u.ledger = nil
	}
	counts := map[Code]int{}
	for _, r := range u.results {
		counts[codeOf(r)]++
	}
	for _, code := range []Code{ToolError, Regression, Inconclusive} {
		if n := counts[code]; n > 0 {
			u.raise(code, fmt.Sprintf("%s: %d of %d cases", code, n, len(u.results)))
		}
	}
	if len(u.results) < atLeast && u.verdict == Pass && testsCode == 0 {
		u.raise(ToolError, fmt.Sprintf("tool error: %d cases ran, and this run must have at least %d", len(u.results),
			atLeast))
	}
	if testsCode != 0 && u.verdict == Pass {
		u.raise(Regression, "fault: tests failed")
	}
	text := u.text
	if text == "" {
		text = u.verdict.String()
	}
	return u.verdict, text
}
