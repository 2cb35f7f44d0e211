//go:build weights

package weights_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/internal/checkpoint"
	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/internal/suite"
)

// part is how one part of the examination of one folder ended.
type part struct {
	code suite.Code
	text string
}

// order is the severity of codes among the parts of one examination, heaviest first: what could not be begun, what
// could not be reached, what broke, what is wrong, what was not measured.
var order = []suite.Code{
	suite.UsageError, suite.NotReachable, suite.ToolError, suite.Regression, suite.Inconclusive, suite.Pass,
}

func worst(parts []part) part {
	return slices.MinFunc(parts, func(a, b part) int { return slices.Index(order, a.code) - slices.Index(order, b.code) })
}

// TestWeights is what `go tool mage weights` runs: the doctor and the precision of ASSAY_WEIGHTS, or of the shipped
// folders, with one verdict.
func TestWeights(t *testing.T) {
	suite.Job(t)
	suite.Unsharded("weights", "give each machine a checkpoint of its own")
	dir, set := os.LookupEnv("ASSAY_WEIGHTS")
	var parts []part
	if set = set && dir != ""; set {
		fmt.Printf("weights      examining %s\n", dir)
		fsys, err := checkpoint.Open(dir)
		if err != nil {
			suite.Usage(err)
		}
		o := checkpoint.Options{}
		if reference, set := os.LookupEnv("ASSAY_REFERENCE"); set && reference != "" {
			if o.Base, err = checkpoint.Open(reference); err != nil {
				suite.Usage(fmt.Errorf("ASSAY_REFERENCE: %w", err))
			}
			o.Reference = true
			fmt.Printf("weights      against %s\n", reference)
		}
		parts = append(parts, doctor(t, filepath.Base(dir), fsys, o), precise(t, dir, fsys))
	} else {
		fmt.Println("weights      ASSAY_WEIGHTS is not set, so the shipped nano folders are examined, the quantised ones " +
			"against the fp32 original")
		config, err := fixtures.FS.ReadFile("nano-v4/config.json")
		require.NoError(t, err)
		for _, folder := range []string{"nano-v4", "nano-v4-mxfp4", "nano-v4-nvfp4"} {
			o := checkpoint.Options{Config: config, Base: shipped(t, "nano-v4")}
			parts = append(parts, doctor(t, folder, shipped(t, folder), o), preciseShipped(t, folder, config))
		}
	}
	end := worst(parts)
	if end.code == suite.Pass && !set {
		end.text = fmt.Sprintf("no fault found in %d folders", len(parts)/2)
	}
	suite.Verdict(end.code, end.text)
}

func shipped(t *testing.T, folder string) fs.FS {
	t.Helper()
	fsys, err := fs.Sub(fixtures.FS, folder)
	require.NoError(t, err)
	return fsys
}

// doctor examines one folder, prints what it found and writes page and ledger.
func doctor(t *testing.T, name string, fsys fs.FS, o checkpoint.Options) part {
	t.Helper()
	last := time.Now()
	o.Progress = func(p checkpoint.Progress) {
		if time.Since(last) > 2*time.Second && p.Total > 0 {
			last = time.Now()
			fmt.Println("doctor      ", p)
		}
	}
	started := time.Now()
	identity, err := checkpoint.Identity(fsys)
	require.NoError(t, err)
	r, taken := earlier(t, name, identity)
	if !taken {
		r, err = checkpoint.Examine(context.Background(), fsys, o)
	}
	if unfit := new(checkpoint.UnfitError); errors.As(err, &unfit) {
		suite.Usage(unfit)
	}
	if err != nil {
		return part{suite.ToolError, "tool error: " + err.Error()}
	}
	dir, err := suite.RunDir()
	require.NoError(t, err)
	page := filepath.Join(dir, "doctor-"+name)
	require.NoError(t, report.WriteAll(page, r.Page(name, started), nil))
	require.NoError(t, r.Ledger(name, identity))
	show(name, r, filepath.Join(page, report.HTMLFile))
	code, text := r.Verdict()
	return part{code, name + ": " + text}
}

func show(name string, r checkpoint.Report, page string) {
	fmt.Printf("doctor       %s: family %q, stored as %s, %d tensors in %d shards, %.3g GB in %.2f s (%.2f GB/s)\n", name,
		r.Family, r.Plan, r.Tensors, r.Shards, float64(r.Bytes)/1e9, r.Seconds, r.GBps())
	for _, f := range r.Formats {
		examined := "examined"
		if f.Why != "" {
			examined = "not examined: " + f.Why
		}
		fmt.Printf("   %-12s %6d tensors %8.4g GB  %s (%s)\n", f.Layout, f.Tensors, float64(f.Bytes)/1e9, f.Detail, examined)
	}
	for _, s := range r.Skipped {
		fmt.Println("   not examined:", s)
	}
	for _, f := range r.Findings {
		fmt.Println("  ", f)
	}
	for _, d := range r.Base[:min(3, len(r.Base))] {
		fmt.Printf("   against the base: %s relative L2 %.3g, at most %.3g half steps, %d outside\n", d.Tensor, d.RelL2,
			d.HalfSteps, d.Outside)
	}
	fmt.Println("report      ", page)
}

// earlier is the report that the run in ASSAY_RESUME finished of this very folder.
func earlier(t *testing.T, name, identity string) (checkpoint.Report, bool) {
	t.Helper()
	old, set := os.LookupEnv("ASSAY_RESUME")
	if !set || old == "" {
		return checkpoint.Report{}, false
	}
	results, err := suite.ReadLedgerFile(filepath.Join(old, "results.jsonl"))
	require.NoError(t, err, "ASSAY_RESUME must name the folder of an earlier run")
	r, taken, err := checkpoint.FromLedger(results, name, identity)
	require.NoError(t, err)
	if taken {
		fmt.Printf("doctor       %s: taken over from %s\n", name, old)
	}
	return r, taken
}
