package golden

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fake collects what a test would have reported. Only the methods that the wrapper and goldie call are replaced.
type fake struct {
	testing.TB
	errors, logs []string
}

func (f *fake) Helper()                   {}
func (f *fake) Name() string              { return "TestX/it's one/len-65" }
func (f *fake) Error(args ...any)         { f.errors = append(f.errors, fmt.Sprint(args...)) }
func (f *fake) Errorf(s string, a ...any) { f.errors = append(f.errors, fmt.Sprintf(s, a...)) }
func (f *fake) Logf(s string, a ...any)   { f.logs = append(f.logs, fmt.Sprintf(s, a...)) }
func (f *fake) FailNow()                  { panic("FailNow called: the wrapper must report and return") }
func (f *fake) text() string              { return strings.Join(f.errors, "\n") }
func prov() Provenance {
	return Provenance{Generator: "golden_test", Seed: "none", Source: "made up"}
}
func folder(dir string) []root               { return []root{{dir, dir, os.DirFS(dir)}} }
func doc(t *testing.T, c map[string]any) Doc { t.Helper(); return Doc{prov(), canon(t, c)} }

func canon(t *testing.T, c map[string]any) map[string]any {
	t.Helper()
	out, err := canonical(c)
	require.NoError(t, err)
	return out
}

// assertOn runs one assertion against dir, as outside of CI.
func assertOn(t *testing.T, dir string, on bool, d Doc, rules Rules) *fake {
	t.Helper()
	t.Setenv("CI", "")
	updating(t, on)
	f := &fake{TB: t}
	assertIn(f, folder(dir), "numerics/demo", d, rules)
	return f
}

func goldenBytes(t *testing.T, dir string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "numerics", "demo.json"))
	require.NoError(t, err)
	return string(raw)
}

// updating sets -update to on, until the test ends.
func updating(t *testing.T, on bool) {
	t.Helper()
	before := strconv.FormatBool(Updating())
	require.NoError(t, flag.Set("update", strconv.FormatBool(on)))
	t.Cleanup(func() { require.NoError(t, flag.Set("update", before)) })
}
