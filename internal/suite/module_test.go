package suite

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The version is assay's, whether a binary is its own or has it as a dependency.
func TestVersionIn(t *testing.T) {
	other := debug.Module{Path: "example.com/x", Version: "v9.0.0"}
	assay := debug.Module{Path: modulePath, Version: "v0.3.0"}
	replaced := debug.Module{Path: modulePath, Version: "v0.0.0", Replace: &debug.Module{Path: "../.."}}
	for name, row := range map[string]struct {
		info debug.BuildInfo
		want string
	}{
		"assay's own":  {debug.BuildInfo{Main: assay}, "v0.3.0"},
		"a dependency": {debug.BuildInfo{Main: other, Deps: []*debug.Module{&assay}}, "v0.3.0"},
		"a replace":    {debug.BuildInfo{Main: other, Deps: []*debug.Module{&replaced}}, "(devel)"},
		"neither":      {debug.BuildInfo{Main: other}, ""},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, row.want, versionIn(&row.info)) })
	}
}

// The nearest go.mod that is meant wins, and outside of all of them the folder stays what it is.
func TestNearestModule(t *testing.T) {
	assert.False(t, Foreign(), "this binary is assay's own")
	root := t.TempDir()
	inner := filepath.Join(root, "a", "b")
	require.NoError(t, os.MkdirAll(inner, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "go.mod"), []byte("module "+modulePath+"\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(root, "a", "go.mod"), []byte("module example.com/x\n"), 0o600))
	at, inside := FindModule(inner)
	assert.Equal(t, root, at)
	assert.True(t, inside)
	at, inside = nearestModule(inner, func(string) bool { return true })
	assert.Equal(t, filepath.Join(root, "a"), at)
	assert.True(t, inside)
	at, inside = FindModule("/")
	assert.Equal(t, "/", at)
	assert.False(t, inside)
}
