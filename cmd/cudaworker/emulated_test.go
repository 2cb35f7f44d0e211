package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/cuda/manifest"
	kernels "github.com/assay-suite/assay/kernels_test"
)

// examples are the manifests of examples/cuda.
func examples(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob("../../examples/cuda/*.manifest")
	require.NoError(t, err)
	require.NotEmpty(t, found)
	for i := range found {
		found[i], err = filepath.Abs(found[i])
		require.NoError(t, err)
	}
	return found
}

// Every example kernel MUST compute its operator: its source, compiled for the CPU, is judged by the suite as any
// worker is. It needs a C++ compiler, and a few minutes.
func TestExamplesOnTheCPU(t *testing.T) {
	if os.Getenv("CUDAWORKER_EXAMPLES") == "" {
		t.Skip("CUDAWORKER_EXAMPLES is not set: the example kernels were not judged on the CPU (bash .ci/cuda cpu)")
	}
	compiler, err := exec.LookPath("g++")
	if err != nil {
		t.Skip("there is no g++ on the PATH: the example kernels were not judged on the CPU")
	}
	operators := map[string][]string{}
	for _, path := range examples(t) {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		m, err := manifest.Parse(path, string(text))
		require.NoError(t, err)
		operators[m.Operator] = append(operators[m.Operator], path)
	}
	for operator, paths := range operators {
		t.Run(operator, func(t *testing.T) {
			args := append([]string{"-emulate", compiler}, paths...)
			r, err := kernels.Run(t.Context(), kernels.Worker(t.Context(), line("command", args...)))
			require.NoError(t, err)
			require.NotEmpty(t, r.Facets)
			for _, f := range r.Facets {
				t.Logf("%s: %s under %s in %d cases, worst rho %.2g", f.Name, f.State, f.Contract, f.Cases, f.Rho)
				if f.State != kernels.Equivalent && !notOffered(f) {
					t.Errorf("%s: %s: %q, %q", f.Name, f.State, f.NotJudged, f.Failures)
				}
			}
		})
	}
}

// notOffered are the byte layouts of sparse attention: a list of facets cannot leave them out, and the kernel answers
// every call of theirs as unsupported.
func notOffered(f kernels.Facet) bool {
	return f.State == kernels.Partial && f.Cases == 0 &&
		(strings.Contains(f.Name, "v4-kv") || strings.Contains(f.Name, "v32-kv"))
}
