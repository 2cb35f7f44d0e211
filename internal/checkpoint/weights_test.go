//go:build weights

package checkpoint_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/checkpoint"
	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/internal/suite"
)

// The doctor on ASSAY_WEIGHTS, or on the shipped folders: findings worst first, errors fail.
func TestWeightsDoctor(t *testing.T) {
	dir, set := os.LookupEnv("ASSAY_WEIGHTS")
	if set && dir != "" {
		fmt.Printf("doctor: examining %s\n", dir)
		doctor(t, dir, os.DirFS(dir), checkpoint.Options{})
		return
	}
	fmt.Println("doctor: ASSAY_WEIGHTS is not set, so the shipped nano folders are examined, the quantised ones against " +
		"the fp32 original")
	for _, folder := range nanoFolders {
		doctor(t, folder, shipped(t, folder), checkpoint.Options{Config: nanoConfig(t), Base: shipped(t, "nano-v4")})
	}
}

func doctor(t *testing.T, name string, fsys fs.FS, o checkpoint.Options) {
	t.Helper()
	last := time.Now()
	o.Progress = func(p checkpoint.Progress) {
		if time.Since(last) > 2*time.Second && p.Total > 0 {
			last = time.Now()
			fmt.Printf("doctor: %s %d %%, %s left\n", p.Stage, 100*p.Done/p.Total, p.ETA().Round(time.Second))
		}
	}
	started := time.Now()
	identity, err := checkpoint.Identity(fsys)
	require.NoError(t, err)
	r, taken := earlier(t, filepath.Base(name), identity)
	if !taken {
		r, err = checkpoint.Examine(context.Background(), fsys, o)
		require.NoError(t, err, "ASSAY_WEIGHTS must name a folder with model.safetensors or an index")
	}
	fmt.Printf("doctor: %s: family %q, %d shards, %d tensors (config calls for %d), %.3g GB in %.2f s (%.2f GB/s), %d "+
		"findings, %d of them errors\n",
		name, r.Family, r.Shards, r.Tensors, r.Expected, float64(r.Bytes)/1e9, r.Seconds, r.GBps(), len(r.Findings),
		r.Count(checkpoint.Certain))
	dir, err := suite.RunDir()
	require.NoError(t, err)
	page := filepath.Join(dir, "doctor-"+filepath.Base(name))
	require.NoError(t, report.WriteAll(page, r.Page(name, started), nil))
	require.NoError(t, r.Ledger(filepath.Base(name), identity))
	fmt.Printf("doctor: %s\n", filepath.Join(page, report.HTMLFile))
	for _, f := range r.Findings {
		fmt.Println("  ", f)
		if f.Severity == checkpoint.Certain {
			t.Errorf("%s: %s", name, f)
		}
	}
	for _, s := range r.Skipped {
		fmt.Println("   not examined:", s)
	}
	for _, d := range r.Base[:min(3, len(r.Base))] {
		fmt.Printf("   against the base: %s relative L2 %.3g, at most %.3g half steps, %d outside\n", d.Tensor, d.RelL2,
			d.HalfSteps, d.Outside)
	}
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
		fmt.Printf("doctor: %s: taken over from %s\n", name, old)
	}
	return r, taken
}
