package weights

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/assay-suite/assay/internal/checkpoint"
)

// Severity says how sure a finding is.
type Severity string

// The severities. Certain and likely findings are faults.
const (
	Certain Severity = "certain"      // contradicts the format, the config or the checkpoint itself
	Likely  Severity = "likely"       // far from its peers, or from every sound checkpoint that is known
	Look    Severity = "worth a look" // unusual; sound checkpoints may have it
	Note    Severity = "note"         // informs
)

// Finding is one thing that was found.
type Finding struct {
	Severity Severity
	Kind     string   // a slug, e.g. "scale-missing"
	Tensors  []string // as stored in the files, at most 16; empty when no tensor is at fault
	Count    int      // tensors concerned, at least len(Tensors)
	Text     string   // a sentence with the value and the fix
}

// Format is one way in which tensors are stored.
type Format struct {
	Layout, Detail string
	Tensors        int
	Bytes          int64  // with scales and what else belongs to them
	NotExamined    string // why values were not looked at; "" when they were
}

// Report is what Examine found.
type Report struct {
	// Code is what an examination ends with: 0 sound, 1 a certain or likely finding, 3 nothing or not enough was examined.
	Code        int
	Verdict     string    // one line that says why
	Family      string    // as config.json calls it; "" without one
	Declared    string    // what the checkpoint says of its quantisation
	Shards      int       //
	Tensors     int       //
	Bytes       int64     // of tensor data
	Findings    []Finding // worst first
	Formats     []Format  // most bytes first
	NotExamined []string  // sentences: what was not looked at, and why
	Elapsed     time.Duration
}

// ErrNoCheckpoint says that a path is no checkpoint that can be examined: a GGUF file, a LoRA adapter, an empty folder.
// The error that wraps it says in one sentence what it is and what to do.
var ErrNoCheckpoint = errors.New("no checkpoint")

// Examine examines the checkpoint in dir. What is wrong with it is in the report; the error is about examining: a path
// that is no checkpoint (ErrNoCheckpoint), a failing disk, a file that changes meanwhile, a cancelled context.
func Examine(ctx context.Context, dir string) (Report, error) {
	fsys, err := checkpoint.Open(dir)
	if err != nil {
		return Report{}, refused(err)
	}
	r, err := checkpoint.Examine(ctx, fsys, checkpoint.Options{})
	if err != nil {
		return Report{}, refused(err)
	}
	return published(r), nil
}

func refused(err error) error {
	if unfit := new(checkpoint.UnfitError); errors.As(err, &unfit) {
		return fmt.Errorf("%w: %w", ErrNoCheckpoint, err)
	}
	return err
}

func published(r checkpoint.Report) Report {
	code, verdict := r.Verdict()
	out := Report{
		Code: int(code), Verdict: verdict, Family: r.Family, Declared: r.Plan, Shards: r.Shards, Tensors: r.Tensors,
		Bytes: r.Bytes, NotExamined: r.Skipped, Elapsed: time.Duration(r.Seconds * float64(time.Second)),
	}
	for _, f := range r.Findings {
		out.Findings = append(out.Findings, Finding{Severity(f.Severity.String()), f.Kind, f.Tensors, f.Count, f.Text})
	}
	for _, f := range r.Formats {
		out.Formats = append(out.Formats, Format{f.Layout, f.Detail, f.Tensors, f.Bytes, f.Why})
	}
	return out
}

// Test fails t unless the checkpoint in dir is sound and was examined: for every code but 0, with the code and the
// verdict line as its message, and every fault as a line. Partial is a failure, never a skip.
func Test(t *testing.T, dir string) {
	t.Helper()
	r, err := Examine(t.Context(), dir)
	switch {
	case errors.Is(err, ErrNoCheckpoint):
		t.Fatalf("code 2: %v", err)
	case err != nil:
		t.Fatalf("code 5: %v", err)
	}
	t.Logf("%s: %s, %d tensors in %d shards, %d bytes, stored as %s", filepath.Base(dir), r.Family, r.Tensors, r.Shards,
		r.Bytes, r.Declared)
	for _, s := range r.NotExamined {
		t.Logf("not examined: %s", s)
	}
	for _, f := range r.Findings {
		if f.Severity == Certain || f.Severity == Likely {
			t.Errorf("%s %s: %s", f.Severity, f.Kind, f.Text)
		} else {
			t.Logf("%s %s: %s", f.Severity, f.Kind, f.Text)
		}
	}
	if r.Code != 0 {
		t.Errorf("code %d: %s", r.Code, r.Verdict)
	}
}
