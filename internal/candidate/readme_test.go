package candidate

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What adapters/README.md says about the protocol MUST be what this package speaks: its examples are lines of it, its
// patterns are the patterns, its limits the limits.
func TestREADME(t *testing.T) {
	raw, err := os.ReadFile("../../adapters/README.md")
	require.NoError(t, err)
	page := string(raw)
	_, example, found := strings.Cut(page, "## The protocol")
	require.True(t, found)
	example = strings.Split(example, "```")[1]
	example = strings.ReplaceAll(example, "\n   ", " ")
	read := func(text string, into any) {
		dec := json.NewDecoder(strings.NewReader(text))
		dec.DisallowUnknownFields()
		require.NoError(t, dec.Decode(into), text)
	}
	lines := strings.Split(strings.TrimSpace(example), "\n")
	require.Len(t, lines, 5)
	var hello greeting
	read(strings.TrimPrefix(lines[0], "> "), &hello)
	assert.Equal(t, greeting{"hello", Protocol}, hello)
	var said helloLine
	read(strings.TrimPrefix(lines[1], "< "), &said)
	assert.Equal(t, Protocol, said.Protocol)
	var call callLine
	read(strings.TrimPrefix(lines[2], "> "), &call)
	assert.Contains(t, said.Ops, call.Op)
	for _, line := range lines[3:] {
		_, err := accept([]byte(strings.TrimPrefix(line, "< ")), call)
		if err != nil {
			require.ErrorIs(t, err, ErrUnsupported)
		}
	}
	for _, dtype := range []string{"F64", "F32", "BF16", "F16", "F8_E4M3", "F8_E5M2"} {
		bits, ok := NaN(dtype)
		require.True(t, ok)
		assert.Contains(t, page, fmt.Sprintf("0x%x", bits), dtype)
	}
	limits := Options{}.withDefaults()
	assert.Contains(t, page, fmt.Sprintf("Limits: %.0f s for hello", limits.First.Seconds()))
	assert.Contains(t, page, fmt.Sprintf("%.0f s for every other", limits.Timeout.Seconds()))
	assert.Contains(t, page, fmt.Sprintf("after %d starts in a row", limits.Attempts))
	assert.Equal(t, 1<<20, maxLine, "the page says 1 MiB a line")
}
