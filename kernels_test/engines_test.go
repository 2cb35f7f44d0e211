package kernels_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/internal/job"
)

// engine adds to a job what concerns kernels on a device: their times (ASSAY_TIMES), a tape of their answers
// (ASSAY_TAPES), and the comparison with the golden of this worker, goldens/engines/<name>.json, where there is one.
// With -update the golden is written.
func engine(t *testing.T, o *job.Options, h bench.Hello) error {
	t.Helper()
	if h.Name == "" {
		return nil
	}
	o.Timing = job.ParseTiming(value("ASSAY_TIMES"))
	if folder := value("ASSAY_TAPES"); folder != "" {
		by, err := secondReference(t)
		if err != nil {
			return fmt.Errorf("ASSAY_TAPES=%s needs the numpy reference, which vouches for every row: %w", folder, err)
		}
		o.Tapes = &job.Taper{Folder: folder, By: by}
	}
	family := "engines/" + strings.ReplaceAll(h.Name, "/", "-")
	was, wasTimed, err := engineGolden(family)
	if err != nil && !golden.Updating() {
		return nil
	}
	o.Changes = func(out job.Outcome) []string {
		if golden.Updating() {
			name, err := golden.Record(t, family, engineDoc(h, out))
			if err != nil {
				return []string{"the golden was not written: " + err.Error()}
			}
			return []string{"recorded in " + name}
		}
		if out.Stopped != "" {
			return nil
		}
		var lines []string
		if o.Timing != job.TimesOnly {
			lines = job.Changed(was, out.FacetResults())
		}
		if lines = append(lines, job.Slower(wasTimed, out.Times)...); len(lines) == 0 {
			lines = []string{"nothing since goldens/" + family + ".json"}
		}
		return lines
	}
	return nil
}

// secondReference starts the numpy reference of adapters/python.
func secondReference(t *testing.T) (bench.Candidate, error) {
	t.Helper()
	python := value("ASSAY_PYTHON")
	if python == "" {
		python = "python3"
	}
	script, err := filepath.Abs(filepath.Join("..", "adapters", "python", "reference.py"))
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(script); err != nil {
		return nil, err
	}
	w, err := bench.StartWorker(t.Context(), fmt.Sprintf("'%s' '%s'", python, script))
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = w.Close() })
	return w, nil
}

// timePrefix begins the golden's cases of kernel times.
const timePrefix = "time/"

// engineDoc is a run as its golden keeps it.
func engineDoc(h bench.Hello, out job.Outcome) golden.Doc {
	doc := golden.Doc{Cases: map[string]any{}, Provenance: golden.Provenance{
		Generator: "go tool mage gpu -update", Seed: suite.RandDescription,
		Source: "verdicts of the judge on the kernels of " + h.Name + " " + h.Version, Device: h.Device,
		Profile: "adapters/engines",
	}}
	for name, f := range out.FacetResults() {
		doc.Cases[name] = f
	}
	for _, r := range out.Times {
		if r.NotTimed == "" {
			doc.Cases[timePrefix+r.Name()] = map[string]any{
				"share": golden.Float(twoDigits(r.Share)), "spread": golden.Float(twoDigits(r.Spread)),
				"us": golden.Float(twoDigits(r.Microseconds)), "of": r.Of, "rate": r.Rate,
			}
		}
	}
	return doc
}

// engineGolden reads what is recorded of an engine.
func engineGolden(family string) (map[string]job.FacetResult, map[string]job.WasTimed, error) {
	file, err := golden.Read(family)
	if err != nil {
		return nil, nil, err
	}
	facets, times := map[string]job.FacetResult{}, map[string]job.WasTimed{}
	for name, v := range file.Cases {
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, nil, err
		}
		if rest, isTime := strings.CutPrefix(name, timePrefix); isTime {
			var t job.WasTimed
			if err := json.Unmarshal(raw, &t); err != nil {
				return nil, nil, fmt.Errorf("goldens/%s.json, %q: %w", family, name, err)
			}
			times[rest] = t
			continue
		}
		var f job.FacetResult
		if err := json.Unmarshal(raw, &f); err != nil {
			return nil, nil, fmt.Errorf("goldens/%s.json, %q: %w", family, name, err)
		}
		facets[name] = f
	}
	return facets, times, nil
}
