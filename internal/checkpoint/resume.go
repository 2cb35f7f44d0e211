package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/assay-suite/assay/internal/suite"
)

// record is what a ledger keeps of one examination, so that a continued run need not read the
// checkpoint again.
type record struct {
	Identity string `json:"identity"`
	Report   Report `json:"report"`
}

// Identity tells whether a folder is the one that was examined: a hash of the names, sizes and times of
// its weights, indexes and configs. It reads no weights.
func Identity(fsys fs.FS) (string, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return "", fmt.Errorf("the checkpoint's folder cannot be listed: %w", err)
	}
	h := sha256.New()
	for _, e := range entries {
		if e.IsDir() || !strings.HasSuffix(e.Name(), ".safetensors") && !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return "", fmt.Errorf("%s cannot be looked at: %w", e.Name(), err)
		}
		fmt.Fprintf(h, "%s %d %d\n", e.Name(), info.Size(), info.ModTime().UnixNano())
	}
	return "files:" + hex.EncodeToString(h.Sum(nil)[:8]), nil
}

// Ledger appends the page's cases to the run's results.jsonl, and last the report itself: a run that was
// ended before has none and examines again.
func (r Report) Ledger(name, identity string) error {
	var errs []error
	for _, res := range r.results(name, identity) {
		errs = append(errs, suite.Record(res))
	}
	return errors.Join(errs...)
}

func (r Report) results(name, identity string) []suite.Result {
	var out []suite.Result
	for _, c := range r.cases(name) {
		out = append(out, suite.Result{
			Case: c.ID, Outcome: suite.Outcome(c.Outcome), Seconds: c.Seconds, Message: c.Message,
			Numbers: suite.Numbers{"tensors": float64(r.Tensors), "gb-per-s": r.GBps()},
		})
	}
	detail, err := json.Marshal(record{identity, r})
	if err != nil { // JSON has no NaN, which a deviation from the base may be: such a checkpoint is examined again
		return out
	}
	return append(out, suite.Result{Case: reportCase(name), Outcome: suite.Passed, Detail: detail})
}

// FromLedger takes the report of a checkpoint over from an earlier run's ledger; false when that run did not
// finish it, or when the folder is not the one that was examined.
func FromLedger(results []suite.Result, name, identity string) (Report, bool, error) {
	for _, res := range results {
		if res.Case != reportCase(name) {
			continue
		}
		var kept record
		if err := json.Unmarshal(res.Detail, &kept); err != nil {
			return Report{}, false, fmt.Errorf("the ledger's line of %s cannot be read: %w; run without ASSAY_RESUME", res.Case,
				err)
		}
		if kept.Identity == identity {
			return kept.Report, true, nil
		}
	}
	return Report{}, false, nil
}

func reportCase(name string) string { return "weights/doctor/" + slug(name) + "/report" }
