package suite

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The server MUST be the one named, by the present name before the legacy one; without one the error MUST name the
// variable and the command of the job that was run.
func TestBaseURL(t *testing.T) {
	t.Setenv("OPENAI_API_BASE", "http://old")
	t.Setenv("OPENAI_BASE_URL", "http://new")
	got, err := BaseURL("live", "tests")
	require.NoError(t, err)
	assert.Equal(t, "http://new", got)
	t.Setenv("OPENAI_BASE_URL", "")
	got, err = BaseURL("live", "tests")
	require.NoError(t, err)
	assert.Equal(t, "http://old", got)
	t.Setenv("OPENAI_API_BASE", "")
	_, err = BaseURL("diagnose", "asks")
	assert.EqualError(t, err, "OPENAI_BASE_URL is not set: `diagnose` asks your server and has no default. Try "+
		"OPENAI_BASE_URL=http://127.0.0.1:30000 go tool mage diagnose")
}

// A path inside the module MUST be shown from its root, another one whole.
func TestShown(t *testing.T) {
	inside, err := filepath.Abs("user.go")
	require.NoError(t, err)
	assert.Equal(t, "internal/suite/user.go", Shown(inside))
	outside := t.TempDir()
	assert.Equal(t, outside, Shown(outside))
}
