package golden

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const helperVar = "GOLDEN_HELPER"

// TestHelperAssert does something only in a copy of this binary that TestFlags starts: it asserts the value in
// helperVar.
func TestHelperAssert(t *testing.T) {
	if value, ok := os.LookupEnv(helperVar); ok {
		Assert(t, "numerics/flags", Doc{Provenance: prov(), Cases: map[string]any{"a/b": value}}, Rules{})
	}
}

// The public way in: real flags and variables, on a process of its own.
func TestFlags(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "numerics", "flags.json")
	run := func(value string, args ...string) (ok bool, out string) {
		t.Helper()
		exe, err := os.Executable()
		require.NoError(t, err)
		var env, flags []string
		for _, a := range args {
			if strings.HasPrefix(a, "-") {
				flags = append(flags, a)
			} else {
				env = append(env, a)
			}
		}
		cmd := exec.CommandContext(t.Context(), exe, append([]string{"-test.run=^TestHelperAssert$"}, flags...)...)
		cmd.Env = append(os.Environ(), append([]string{
			"CI=", "GOLDIE_UPDATE=", "ASSAY_GOLDENS=" + dir, "GORACE=atexit_sleep_ms=0", helperVar + "=" + value,
		}, env...)...)
		raw, err := cmd.CombinedOutput()
		return err == nil, string(raw)
	}

	ok, out := run("one")
	assert.False(t, ok, "no golden yet")
	assert.Contains(t, out, "accept go test ./internal/golden -count=1 -run '^TestHelperAssert$' -update")

	ok, out = run("one", "-update", "CI=true")
	assert.False(t, ok, "refused in CI")
	assert.Contains(t, out, "-update-in-ci")
	assert.NoFileExists(t, file)

	ok, out = run("one", "-update")
	assert.True(t, ok, out)
	ok, out = run("one")
	assert.True(t, ok, out)

	ok, out = run("two")
	assert.False(t, ok, "violated")
	assert.Contains(t, out, "1 of 1 cases violated")
	assert.Contains(t, out, `want   "one"`)

	ok, out = run("two", "GOLDIE_UPDATE=1")
	assert.True(t, ok, out)
	ok, out = run("three", "-update", "-update-in-ci", "CI=true")
	assert.True(t, ok, out)
	ok, out = run("three")
	assert.True(t, ok, out)
}
