package fidelity_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/suite"
)

// The shell of examples/fleet, with Slurm's variables faked, on a served nano-v4 and the binary that a cluster runs: a
// task that is killed with kill -9 is requeued and goes on; the merge names it first, and then gives the verdict.
func TestSlurmRecipe(t *testing.T) {
	if budget, _ := suite.Value("ASSAY_BUDGET"); budget != "full" {
		return // it builds the binary of `go tool mage dist`; shards and merge themselves are tested beside it
	}
	dist, runs := t.TempDir(), filepath.Join(t.TempDir(), "runs")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-tags", "live", "-o", dist+"/fidelity.test", ".")
	said, err := build.CombinedOutput()
	require.NoError(t, err, string(said))
	url := serve(t, load(t, "nano-v4"), "nano-v4")
	script := func(name string, task int) (*exec.Cmd, *bytes.Buffer) {
		cmd := exec.CommandContext(t.Context(), "bash", filepath.Join("..", "examples", "fleet", name))
		for _, kv := range os.Environ() {
			if !strings.HasPrefix(kv, "ASSAY_") {
				cmd.Env = append(cmd.Env, kv)
			}
		}
		cmd.Env = append(cmd.Env, "DIST="+dist, "ASSAY_ARTIFACTS="+runs, "ASSAY_BUDGET=smoke", "OPENAI_BASE_URL="+url)
		if task >= 0 {
			cmd.Env = append(cmd.Env, "SLURM_ARRAY_TASK_ID="+strconv.Itoa(task), "SLURM_ARRAY_TASK_MIN=0",
				"SLURM_ARRAY_TASK_MAX=2", "SLURM_ARRAY_TASK_COUNT=3", "SLURM_ARRAY_TASK_STEP=1")
		}
		out := &bytes.Buffer{}
		cmd.Stdout, cmd.Stderr = out, out
		return cmd, out
	}
	run := func(code int, says, name string, task int) {
		t.Helper()
		cmd, out := script(name, task)
		_ = cmd.Run() // the code tells
		if got := cmd.ProcessState.ExitCode(); got != code || !strings.Contains(out.String(), says) {
			t.Errorf("%s, task %d: code %d, want %d and %q:\n%s", name, task, got, code, says, out)
		}
	}
	run(0, "not judged: shard 0/3", "shard.sbatch", 0)
	run(0, "not judged: shard 1/3", "shard.sbatch", 1)
	run(3, "shard 2/3 is missing", "merge.sbatch", -1)
	cmd, out := script("shard.sbatch", 2)
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool { return answersOf(t, runs, 2) >= 3 }, time.Minute, 10*time.Millisecond, out)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait() // killed
	run(3, "shard 2/3 is half-written", "merge.sbatch", -1)
	run(0, "answers are taken over", "shard.sbatch", 2)
	run(0, "no fault found", "merge.sbatch", -1)
}

// answersOf counts the answers of a shard that are on the disk.
func answersOf(t *testing.T, runs string, index int) int {
	t.Helper()
	folders, err := suite.RunFolders(runs)
	require.NoError(t, err)
	for _, f := range folders {
		if p, is, err := suite.ReadPart("fidelity", f); err == nil && is && p.Index == index {
			return len(p.Results) - 1 // without the settings
		}
	}
	return 0
}
