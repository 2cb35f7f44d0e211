package suite

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What schedulers say of a process, as their documentation has it: Bazel's test encyclopedia, Kubernetes' Indexed Jobs,
// Slurm's job arrays, Buildkite's and GitLab's parallel jobs.
func TestShardOf(t *testing.T) {
	for _, row := range []struct{ env, want string }{
		{"", "0/0"},
		{"ASSAY_SHARD=2/5", "2/5"},
		{"TEST_TOTAL_SHARDS=4 TEST_SHARD_INDEX=3", "3/4"},
		{"TEST_TOTAL_SHARDS=1 TEST_SHARD_INDEX=0", "0/0"},
		{"BUILDKITE_PARALLEL_JOB=0 BUILDKITE_PARALLEL_JOB_COUNT=3", "0/3"},
		{"CI_NODE_INDEX=1 CI_NODE_TOTAL=7", "0/7"},
		{"CI_NODE_INDEX=7 CI_NODE_TOTAL=7", "6/7"},
		{"CI_NODE_TOTAL=1", "0/0"},
		{"JOB_COMPLETION_INDEX=5 ASSAY_SHARD=auto/8", "5/8"},
		{"SLURM_ARRAY_TASK_ID=12 SLURM_ARRAY_TASK_MIN=10 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MAX=13", "2/4"},
		{
			"SLURM_ARRAY_TASK_ID=6 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MAX=6 " +
				"SLURM_ARRAY_TASK_STEP=2", "3/4",
		},
		{"SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_COUNT=4 ASSAY_SHARD=auto/4", "3/4"},
		{"ASSAY_SHARD=3/7 CI_NODE_INDEX=4 CI_NODE_TOTAL=7", "3/7"},
		{"ASSAY_SHARD=0/1 CI_NODE_INDEX=4 CI_NODE_TOTAL=7", "0/0"},
		{"ASSAY_SHARD=0/1 JOB_COMPLETION_INDEX=4", "0/0"},

		{"ASSAY_SHARD=5/5", "is not i/n with 0 <= i < n"},
		{"ASSAY_SHARD=auto/8", "no scheduler says which part this is"},
		{"JOB_COMPLETION_INDEX=4", "set ASSAY_SHARD=auto/n with the Job's completions"},
		{"JOB_COMPLETION_INDEX=8 ASSAY_SHARD=auto/8", "JOB_COMPLETION_INDEX=\"8\""},
		{"TEST_TOTAL_SHARDS=4", "must be set to numbers"},
		{"TEST_SHARD_INDEX=1", "must be set to numbers"},
		{"TEST_TOTAL_SHARDS=4 TEST_SHARD_INDEX=4", "from 0 to the number of parts less one"},
		{"CI_NODE_INDEX=0 CI_NODE_TOTAL=7", "from 1 to the number of parts"},
		{"CI_NODE_INDEX=x CI_NODE_TOTAL=7", "must be set to numbers"},
		{"ASSAY_SHARD=2/7 CI_NODE_INDEX=4 CI_NODE_TOTAL=7", "contradict each other"},
		{"ASSAY_SHARD=auto/8 CI_NODE_INDEX=4 CI_NODE_TOTAL=7", "set ASSAY_SHARD=auto/7"},
		{"TEST_TOTAL_SHARDS=7 TEST_SHARD_INDEX=2 CI_NODE_INDEX=4 CI_NODE_TOTAL=7", "contradict each other"},
		{"SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MAX=7", "without holes"},
		{"SLURM_ARRAY_TASK_ID=3", "SLURM_ARRAY_TASK_MIN=\"\" is no number"},
	} {
		vars := map[string]string{}
		for kv := range strings.FieldsSeq(row.env) {
			name, v, _ := strings.Cut(kv, "=")
			vars[name] = v
		}
		s, err := ShardOf(func(name string) (string, bool) { v, ok := vars[name]; return v, ok })
		got := s.String()
		if err != nil {
			got = err.Error()
			if strings.ContainsRune(got, '\n') {
				t.Errorf("%s: not one sentence: %q", row.env, got)
			}
		}
		if got != row.want && (err == nil || !strings.Contains(got, row.want)) {
			t.Errorf("%s: %q, want %q", row.env, got, row.want)
		}
	}
}

// A job that cannot be split says so before it does anything, and a bad setting is a usage error.
func TestShardsOfAJob(t *testing.T) {
	for env, want := range map[string]string{
		"ASSAY_SHARD=9/3":                             "ASSAY_SHARD=\"9/3\" cannot be used",
		"ASSAY_SHARD=auto/x":                          "ASSAY_SHARD=\"auto/x\" cannot be used",
		"ASSAY_SHARD=1/3":                             "this is shard 1/3: set ASSAY_SHARD=0/1 and run it once",
		"TEST_SHARD_INDEX=99":                         "must be set to numbers",
		"TEST_SHARD_STATUS_FILE=/no/such/folder/file": "TEST_SHARD_STATUS_FILE cannot be touched",
	} {
		e := helper(t, "unsharded", []string{env})
		require.Equal(t, int(UsageError), e.code, "%s: %s", env, e.stderr)
		require.Contains(t, e.stderr, want)
		require.Equal(t, "verdict usage", e.lastLine())
	}
}

// A ledger has one writer.
func TestOneWriter(t *testing.T) {
	name := t.TempDir() + "/" + LedgerFile
	l, err := OpenLedger(name)
	require.NoError(t, err)
	_, err = OpenLedger(name)
	require.ErrorContains(t, err, "is being written by another process")
	e := helper(t, "writer", []string{"SUITE_LEDGER=" + name})
	require.Equal(t, 0, e.code)
	require.Contains(t, e.stdout, "is being written by another process")
	require.NoError(t, l.Append(passing("a/b")))
	require.NoError(t, l.Close())
	results, err := ReadLedgerFile(name)
	require.NoError(t, err)
	require.Len(t, results, 1)
	l, err = OpenLedger(name)
	require.NoError(t, err, "a ledger that was closed is free")
	require.NoError(t, l.Close())
}
