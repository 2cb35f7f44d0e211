//go:build weights

package precision

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

	"github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/safetensors"
)

// families are the goldens of the shipped folders; that of another checkpoint is named by its fingerprint.
var families = map[string]string{
	"nano-v4": "precision/nano-v4", "nano-v4-mxfp4": "precision/nano-v4-mxfp4", "nano-v4-nvfp4": "precision/nano-v4-nvfp4",
}

// The precision of ASSAY_WEIGHTS on drawn states, or on those of the files that ASSAY_TRACES has; or of the shipped
// folders on the committed passes, the quantised ones against the fp32 original.
func TestWeightsPrecision(t *testing.T) {
	dir, set := os.LookupEnv("ASSAY_WEIGHTS")
	if set && dir != "" {
		states := statesBeside(t)
		fmt.Printf("precision: %s, %s\n", dir, states.Source)
		config, err := os.ReadFile(filepath.Join(dir, "config.json"))
		if errors.Is(err, fs.ErrNotExist) {
			config, err = nil, nil
		}
		require.NoError(t, err)
		ckpt, err := safetensors.OpenCheckpoint(os.DirFS(dir), ".")
		require.NoError(t, err, "ASSAY_WEIGHTS must name a folder with model.safetensors or an index")
		t.Cleanup(func() { _ = ckpt.Close() }) // only read from
		compareGolden(t, weigh(t, filepath.Base(dir), "", ckpt, states, Options{Config: config}))
		return
	}
	fmt.Println("precision: ASSAY_WEIGHTS is not set, so the shipped nano folders are examined on the committed hidden " +
		"states, the quantised ones against the fp32 original")
	for _, name := range []string{"nano-v4", "nano-v4-mxfp4", "nano-v4-nvfp4"} {
		o := Options{Config: nanoConfig(t)}
		if name != "nano-v4" {
			o.Base = shipped(t, "nano-v4")
		}
		compareGolden(t, weigh(t, name, families[name], shipped(t, name), captured(t, traces...), o))
	}
}

// statesBeside takes every trace in ASSAY_TRACES, and drawn states without one.
func statesBeside(t *testing.T) *States {
	t.Helper()
	dir, set := os.LookupEnv("ASSAY_TRACES")
	if !set || dir == "" {
		return Seeded("precision/weights")
	}
	names, err := fs.Glob(os.DirFS(dir), "*.safetensors")
	require.NoError(t, err)
	require.NotEmpty(t, names, "ASSAY_TRACES is %q and holds no *.safetensors; adapters/python/capture.py writes them",
		dir)
	s, err := Captured(os.DirFS(dir), names...)
	require.NoError(t, err)
	return s
}

// weighed is a result with the golden family that it is compared with.
type weighed struct {
	Result
	family string
}

// weigh measures one checkpoint, prints the worst rows and writes ledger and page into the run's folder.
func weigh(t *testing.T, name, family string, ckpt *safetensors.Checkpoint, states *States, o Options) weighed {
	t.Helper()
	dir, err := suite.RunDir()
	require.NoError(t, err)
	o.Emit, o.Progress, o.Style = Emitter(name), os.Stderr, report.StyleFor(os.Stderr)
	if old, set := os.LookupEnv("ASSAY_RESUME"); set && old != "" {
		results, err := suite.ReadLedgerFile(filepath.Join(old, "results.jsonl"))
		require.NoError(t, err, "ASSAY_RESUME must name the folder of an earlier run")
		o.Done, err = FromLedger(results, name)
		require.NoError(t, err)
		require.NoError(t, o.Emit(o.Done), "the new ledger holds what the old one does")
		fmt.Printf("precision: %s: %d rows of %s are taken over where they are of this checkpoint and these states\n", name,
			len(o.Done), old)
	}
	started := time.Now()
	r, err := Measure(context.Background(), ckpt, states, o)
	require.NoError(t, err)
	page := filepath.Join(dir, name)
	run := r.Report(name, started)
	run.Report = filepath.Join(page, report.HTMLFile)
	require.NoError(t, report.WriteAll(page, run, nil))
	require.NoError(t, report.WriteBody(os.Stdout, run, report.StyleFor(os.Stdout)))
	var usage syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	fmt.Printf("precision: %s (%s): %d rows, %d broken, %.3g GB/s, at most %d MiB resident, %s\n",
		name, r.Fingerprint, len(r.Rows), r.Broken(), r.GBps(), usage.Maxrss/1024, run.Report)
	if r.Broken() > 0 {
		t.Errorf("%s: %d rows leave the contract that their path declares, the first: %s %s", name, r.Broken(),
			r.Rows[0].Tensor, r.Rows[0].Verdict)
	}
	if family == "" {
		family = "precision/" + strings.TrimPrefix(r.Fingerprint, "sha256:")
		if len(states.passes) > 0 {
			family += ".captured"
		}
	}
	return weighed{r, family}
}

// compareGolden holds every number within x1.5 of what was recorded of this checkpoint. One that was never recorded is
// not a failure: -update records it.
func compareGolden(t *testing.T, r weighed) {
	t.Helper()
	_, err := golden.Read(r.family)
	if errors.Is(err, fs.ErrNotExist) && !golden.Updating() {
		fmt.Printf("precision: nothing was recorded of this checkpoint; -update writes goldens/%s.json\n", r.family)
		for _, shipped := range families {
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
