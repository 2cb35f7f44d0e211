package suspects

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Kernel is one kernel case that a worker answered.
type Kernel struct {
	Case, Op, Phase, Path, Candidate, Cause string
	Outcome                                 string // pass, fail, error, skip
}

// Evidence is what the ledgers hold.
type Evidence struct {
	Kernels  []Kernel
	Numerics map[string][]string // operator -> rows that failed
	Passed   map[string]int      // operator -> numerics rows that passed
	Classes  []Class             // of the live diagnosis, likely first
	Clean    bool                // a live run that found nothing
	Runs     []string            // folders that were read
}

// Class is a finding of the diagnosis.
type Class struct{ Class, Confidence string }

// line is what is read of a ledger's line.
type line struct {
	Case    string `json:"case"`
	Outcome string `json:"outcome"`
	Detail  struct {
		Op        string `json:"op"`
		Phase     string `json:"phase"`
		Path      string `json:"path"`
		Candidate string `json:"candidate"`
		Cause     string `json:"cause"`
		Diagnosis []struct {
			Class      string `json:"class"`
			Confidence string `json:"confidence"`
		} `json:"diagnosis"`
		Clean bool `json:"clean"`
	} `json:"detail"`
}

// Gather reads the ledgers of every run folder below dir, the newest word on a case last. A folder without a ledger is
// passed over, a damaged line is an error that names it; the last line of a run that was killed may be cut off.
func Gather(dir string) (Evidence, error) {
	e := Evidence{Numerics: map[string][]string{}, Passed: map[string]int{}}
	files, err := filepath.Glob(filepath.Join(dir, "*", "results.jsonl"))
	if err != nil {
		return e, fmt.Errorf("runs in %q cannot be listed: %w", dir, err)
	}
	slices.Sort(files) // run folders are named by their time
	latest, order := map[string]line{}, []string{}
	for _, f := range files {
		lines, err := read(f)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return e, err
		}
		e.Runs = append(e.Runs, filepath.Dir(f))
		for _, l := range lines {
			key := l.Case + " " + l.Detail.Candidate
			if _, seen := latest[key]; !seen {
				order = append(order, key)
			}
			latest[key] = l
		}
	}
	for _, key := range order {
		e.add(latest[key])
	}
	return e, nil
}

func read(path string) ([]line, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // read only
	var out []line
	s := bufio.NewScanner(f)
	s.Buffer(nil, 16<<20)
	var bad error
	for n := 1; s.Scan(); n++ {
		if bad != nil {
			return nil, bad // damage before the last line
		}
		var l line
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			bad = fmt.Errorf("line %d of %s is no result: %w", n, path, err)
			continue
		}
		out = append(out, l)
	}
	return out, s.Err()
}

func (e *Evidence) add(l line) {
	switch {
	case strings.HasPrefix(l.Case, "kernels/") && l.Detail.Candidate != "":
		e.Kernels = append(e.Kernels, Kernel{
			l.Case, l.Detail.Op, l.Detail.Phase, l.Detail.Path, l.Detail.Candidate, l.Detail.Cause, l.Outcome,
		})
	case strings.HasPrefix(l.Case, "numerics/") && l.Detail.Op != "":
		switch l.Outcome {
		case "pass":
			e.Passed[l.Detail.Op]++
		case "fail":
			e.Numerics[l.Detail.Op] = append(e.Numerics[l.Detail.Op], l.Case)
		}
	case strings.HasPrefix(l.Case, "fidelity/") && (len(l.Detail.Diagnosis) > 0 || l.Detail.Clean):
		e.Classes, e.Clean = nil, l.Detail.Clean
		for _, d := range l.Detail.Diagnosis {
			e.Classes = append(e.Classes, Class{d.Class, d.Confidence})
		}
	}
}
