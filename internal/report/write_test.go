package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestWriteAllReplacesAndLeavesNothingBehind(t *testing.T) {
	t.Setenv(summaryVariable, "")
	dir := filepath.Join(t.TempDir(), "artifacts", "run")
	require.NoError(t, WriteAll(dir, failingRun(), nil))
	require.NoError(t, WriteAll(dir, Run{Verdict: Verdict{Code: 3}}, nil))
	if diff := cmp.Diff([]string{IncidentFile, JUnitFile, HTMLFile}, names(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	data, err := os.ReadFile(filepath.Join(dir, HTMLFile))
	require.NoError(t, err)
	if strings.Contains(string(data), "REGRESSED") || !strings.HasSuffix(string(data), "</html>\n") {
		t.Error("the second report did not replace the first as a whole")
	}
}

// TestWriteAllOneBlocked: a folder stands where report.html should be; the error names
// it, junit.xml is written all the same, and no temporary file stays.
func TestWriteAllOneBlocked(t *testing.T) {
	t.Setenv(summaryVariable, "")
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, HTMLFile, "x"), 0o755))
	err := WriteAll(dir, healthyRun(), nil)
	if err == nil || !strings.Contains(err.Error(), HTMLFile) {
		t.Errorf("error %v does not name %s", err, HTMLFile)
	}
	if diff := cmp.Diff([]string{IncidentFile, JUnitFile, HTMLFile}, names(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestWriteAllNoFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	if err := WriteAll(filepath.Join(file, "run"), Run{}, nil); err == nil ||
		!strings.Contains(err.Error(), "making the report folder") {
		t.Errorf("error %v", err)
	}
}
