//go:build weights

package weights_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/internal/precision"
	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/safetensors"
)

// recorded are the goldens of the shipped folders; that of another checkpoint is named by its fingerprint.
var recorded = map[string]string{
	"nano-v4": "precision/nano-v4", "nano-v4-mxfp4": "precision/nano-v4-mxfp4", "nano-v4-nvfp4": "precision/nano-v4-nvfp4",
}

// precise measures a user's folder on drawn states, or on those of the files that ASSAY_TRACES has. A folder that
// cannot be opened or read was not measured, which is no pass.
func precise(t *testing.T, dir string, fsys fs.FS) part {
	t.Helper()
	states := statesBeside(t)
	config, err := fs.ReadFile(fsys, "config.json")
	if err != nil {
		config = nil
	}
	ckpt, err := safetensors.OpenCheckpoint(fsys, ".")
	if err != nil {
		return unmeasured(dir, err)
	}
	t.Cleanup(func() { _ = ckpt.Close() }) // only read from
	w, err := weigh(t, filepath.Base(dir), "", ckpt, states, precision.Options{Config: config})
	if errors.Is(err, precision.ErrNothing) {
		return broken(filepath.Base(dir), precision.Result{})
	}
	if err != nil {
		return unmeasured(dir, err)
	}
	compareGolden(t, w)
	return broken(filepath.Base(dir), w.Result)
}

// preciseShipped measures a shipped folder on the committed passes, a quantised one against the fp32 original.
func preciseShipped(t *testing.T, name string, config []byte) part {
	t.Helper()
	open := func(folder string) *safetensors.Checkpoint {
		ckpt, err := safetensors.OpenCheckpoint(fixtures.FS, folder)
		require.NoError(t, err)
		t.Cleanup(func() { _ = ckpt.Close() }) // only read from
		return ckpt
	}
	o := precision.Options{Config: config}
	if name != "nano-v4" {
		o.Base = open("nano-v4")
	}
	states, err := precision.Captured(fixtures.FS,
		"nano-v4/hf_trace_067.safetensors", "nano-v4/hf_trace_391.safetensors.gz")
	require.NoError(t, err)
	w, err := weigh(t, name, recorded[name], open(name), states, o)
	require.NoError(t, err)
	compareGolden(t, w)
	return broken(name, w.Result)
}

func unmeasured(dir string, err error) part {
	fmt.Println("precision    not measured:", err)
	return part{suite.Inconclusive, fmt.Sprintf("partial: %s: precision was not measured: %v", filepath.Base(dir), err)}
}

func broken(name string, r precision.Result) part {
	if n := r.Broken(); n > 0 {
		return part{suite.Regression, fmt.Sprintf("fault: %s: %d rows leave the contract that their path declares, the "+
			"first: %s %s", name, n, r.Rows[0].Tensor, r.Rows[0].Verdict)}
	}
	if len(r.Rows) == 0 {
		fmt.Printf("precision    not applicable: %s has no router, indexer, hyper-connections, output head or norms by a "+
			"name "+
			"that is known here\n", name)
	}
	return part{suite.Pass, ""}
}

// statesBeside takes every trace in ASSAY_TRACES, and drawn states without one.
func statesBeside(t *testing.T) *precision.States {
	t.Helper()
	dir, set := os.LookupEnv("ASSAY_TRACES")
	if !set || dir == "" {
		return precision.Seeded("precision/weights")
	}
	names, err := fs.Glob(os.DirFS(dir), "*.safetensors")
	require.NoError(t, err)
	require.NotEmpty(t, names, "ASSAY_TRACES is %q and holds no *.safetensors; adapters/python/capture.py writes them",
		dir)
	s, err := precision.Captured(os.DirFS(dir), names...)
	require.NoError(t, err)
	return s
}

// weighed is a result with the golden family that it is compared with.
type weighed struct {
	precision.Result
	family string
}

// weigh measures one checkpoint, prints the worst rows and writes ledger and page into the run's folder.
func weigh(t *testing.T, name, family string, ckpt *safetensors.Checkpoint, states *precision.States,
	o precision.Options,
) (weighed, error) {
	t.Helper()
	dir, err := suite.RunDir()
	require.NoError(t, err)
	o.Emit, o.Progress, o.Style = precision.Emitter(name), os.Stderr, report.StyleFor(os.Stderr)
	if old, set := os.LookupEnv("ASSAY_RESUME"); set && old != "" {
		results, err := suite.ReadLedgerFile(filepath.Join(old, "results.jsonl"))
		require.NoError(t, err, "ASSAY_RESUME must name the folder of an earlier run")
		o.Done, err = precision.FromLedger(results, name)
		require.NoError(t, err)
		require.NoError(t, o.Emit(o.Done), "the new ledger holds what the old one does")
		fmt.Printf("precision    %s: %d rows of %s are taken over where they are of this checkpoint and these states\n",
			name, len(o.Done), old)
	}
	started := time.Now()
	r, err := precision.Measure(context.Background(), ckpt, states, o)
	if err != nil {
		return weighed{}, err
	}
	page := filepath.Join(dir, name)
	run := r.Report(name, started)
	run.Report = filepath.Join(page, report.HTMLFile)
	require.NoError(t, report.WriteAll(page, run, nil))
	require.NoError(t, report.WriteBody(os.Stdout, run, report.StyleFor(os.Stdout)))
	var usage syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	fmt.Printf("precision    %s (%s): %s, %d rows, %d broken, %.3g GB/s, at most %d MiB resident, %s\n", name,
		r.Fingerprint,
		states.Source, len(r.Rows), r.Broken(), r.GBps(), usage.Maxrss/1024, run.Report)
	if family == "" {
		family = "precision/" + strings.TrimPrefix(r.Fingerprint, "sha256:")
		if states.Recorded() {
			family += ".captured"
		}
	}
	return weighed{r, family}, nil
}

// compareGolden holds every number within x1.5 of what was recorded of this checkpoint. One that was never recorded is
// not a failure: -update records it.
func compareGolden(t *testing.T, r weighed) {
	t.Helper()
	_, err := golden.Read(r.family)
	if errors.Is(err, fs.ErrNotExist) && !golden.Updating() {
		fmt.Printf("precision    nothing was recorded of this checkpoint; -update writes goldens/%s.json\n", r.family)
		for _, shipped := range recorded {
			require.NotEqual(t, shipped, r.family, "the golden of a shipped folder is missing")
		}
		return
	}
	cases := map[string]any{}
	for _, row := range r.Rows {
		numbers := map[string]golden.Float{}
		for name, v := range row.Numbers {
			numbers[name] = golden.Float(digits(v))
		}
		cases[row.Case("")] = numbers
	}
	golden.Assert(t, r.family, golden.Doc{Cases: cases, Provenance: golden.Provenance{
		Generator: "internal/precision TestWeightsPrecision", Seed: suite.RandDescription,
		Source: "this program on " + r.States + "; the exact side is held against the recorded passes", Model: r.Fingerprint,
	}}, golden.All(golden.Factor(1.5, "three digits of a deviation compare within x1.5, as rho tables")))
}

// digits keeps three significant digits.
func digits(v float64) float64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return v
	}
	out, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	if err != nil {
		return v
	}
	return out
}
