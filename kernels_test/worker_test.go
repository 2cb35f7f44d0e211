package kernels_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	process "github.com/assay-suite/assay/internal/candidate"
	"github.com/assay-suite/assay/internal/suite"
	kernels "github.com/assay-suite/assay/kernels_test"
)

// workerOf starts the user's worker, ASSAY_CANDIDATE, for one test; nil without one.
func workerOf(t *testing.T) kernels.Candidate {
	t.Helper()
	line, set := os.LookupEnv("ASSAY_CANDIDATE")
	if !set || line == "" {
		return nil
	}
	return startWorker(t, line)
}

func startWorker(t *testing.T, line string) kernels.Candidate {
	t.Helper()
	w, err := process.Start(t.Context(), line, process.Options{})
	require.NoError(t, err, "the worker of ASSAY_CANDIDATE does not start")
	t.Cleanup(func() {
		if said := w.Stderr(); said != "" {
			t.Logf("the worker's stderr:\n%s", said)
		}
		_ = w.Close() // it ends at the end of its input in any case
	})
	return kernels.FromWorker(w)
}

// The numpy reference was written from the math and not from the Go code: it is the second implementation of the
// oracles, and must pass every case through the worker protocol.
func TestNumpyReference(t *testing.T) {
	python, set := os.LookupEnv("ASSAY_PYTHON")
	if !set || python == "" {
		t.Skip("set ASSAY_PYTHON to an interpreter with numpy to judge the numpy reference")
	}
	script, err := filepath.Abs("../adapters/python/reference_mhc.py")
	require.NoError(t, err)
	worker := startWorker(t, python+" "+script)
	judged := 0
	for _, c := range kernels.Cases() {
		b, err := kernels.NewBench(c)
		require.NoError(t, err)
		r, err := b.Judge(t.Context(), worker)
		require.NoError(t, err, c.ID)
		if !r.Accepted() {
			t.Error(b.Failure(t.Context(), worker, r))
		}
		judged++
	}
	t.Logf("%d cases through the worker protocol (%s)", judged, suite.RandDescription)
}
