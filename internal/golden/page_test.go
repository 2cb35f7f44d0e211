package golden

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A page MUST be what the test makes, be told where it is not or is missing, and be rewritten only where that was asked
// for and may be.
func TestPage(t *testing.T) {
	name := filepath.Join(t.TempDir(), "docs", "page.md")
	on := func(update bool, ci, want string) *fake {
		t.Setenv("CI", ci)
		updating(t, update)
		f := &fake{TB: t}
		Page(f, name, want)
		return f
	}
	assert.Contains(t, on(false, "", "one\n").text(), "accept")
	assert.Contains(t, on(true, "true", "one\n").text(), "CI")
	assert.NoFileExists(t, name)
	assert.Empty(t, on(true, "", "one\n").errors)
	assert.Empty(t, on(false, "", "one\n").errors)
	said := on(false, "", "two\n").text()
	assert.Contains(t, said, "page.md")
	assert.Contains(t, said, "two")
	got, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.Equal(t, "one\n", string(got))
	assert.Empty(t, on(true, "", "two\n").errors)
	assert.Empty(t, on(false, "", "two\n").errors)
}
