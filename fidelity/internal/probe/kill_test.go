package probe_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// victim names the ledger of the process that is killed.
const victim = "PROBE_TEST_VICTIM"

// A process that is killed with SIGKILL in the middle of a run MUST leave a ledger from which the next one goes on:
// whole answers, each case counted once, the evidence of a run in one piece.
func TestKilled(t *testing.T) {
	if path, ok := os.LookupEnv(victim); ok {
		ledgerRun(t, path)
		return
	}
	want, all := ledgerRun(t, filepath.Join(t.TempDir(), "whole.jsonl"))
	path := filepath.Join(t.TempDir(), "answers.jsonl")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilled$")
	cmd.Env = append(os.Environ(), victim+"="+path)
	require.NoError(t, cmd.Start())
	written := func() bool {
		b, err := os.ReadFile(path)
		return err == nil && bytes.Count(b, []byte("\n")) > all/4
	}
	assert.Eventually(t, written, time.Minute, time.Millisecond)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait() // its error is the kill

	left, err := os.ReadFile(path)
	require.NoError(t, err)
	got, asked := ledgerRun(t, path)
	assert.Equal(t, want, got)
	assert.LessOrEqual(t, asked, all-bytes.Count(left, []byte("\n"))+3*6,
		"at most three cases, of six answers each, were in flight")
	now, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.True(t, bytes.HasPrefix(now, left[:bytes.LastIndexByte(left, '\n')+1]), "nothing that was written is lost")
}
