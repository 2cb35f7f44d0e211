package suite

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Shard is one of Count parts that split the cases of a run. The zero value is the whole run.
type Shard struct{ Index, Count int }

// byScheduler is the index of "auto/n": what the scheduler's own variables say.
const byScheduler = "auto"

// ParseShard reads "i/n" with i from 0 to n-1; an empty string is the whole run. Anything else is an error: a shard
// that silently ran everything, or nothing, would make the union of the shards wrong.
func ParseShard(s string) (Shard, error) {
	if s == "" {
		return Shard{}, nil
	}
	i, n, ok := strings.Cut(s, "/")
	index, err := strconv.Atoi(i)
	count, err2 := strconv.Atoi(n)
	if !ok || err != nil || err2 != nil || count < 1 || index < 0 || index >= count {
		return Shard{}, fmt.Errorf("shard %q is not i/n with 0 <= i < n, such as 0/4, nor auto/n", s)
	}
	return Shard{index, count}, nil
}

// Has reports whether the shard runs a case. Assignment is by a hash of the ID, so that adding a case moves no other.
func (s Shard) Has(caseID string) bool {
	return s.Count <= 1 || Seed(caseID)%uint64(s.Count) == uint64(s.Index)
}

// Sharded reports whether this is one part of several.
func (s Shard) Sharded() bool { return s.Count > 1 }

// String is "i/n".
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Count) }

// ShardOf is the part of a job that its environment asks for: ASSAY_SHARD, or what Bazel, Kubernetes, Slurm, Buildkite
// or GitLab say of the process; look is os.LookupEnv. ASSAY_SHARD=0/1 is the whole run whatever a scheduler says; any
// other disagreement is an error.
func ShardOf(look func(string) (string, bool)) (Shard, error) {
	told, _ := look("ASSAY_SHARD")
	if told == "0/1" {
		return Shard{}, nil
	}
	native, by, err := scheduled(look)
	if err != nil {
		return Shard{}, err
	}
	if n, auto := strings.CutPrefix(told, byScheduler+"/"); auto {
		return indexed(n, native, by, look)
	}
	own, err := ParseShard(told)
	if err != nil {
		return Shard{}, fmt.Errorf("ASSAY_SHARD: %w", err)
	}
	index, numbered := look(kubernetesIndex)
	switch {
	case told == "" && by == "" && numbered && index != "":
		return Shard{}, fmt.Errorf("%s=%q says that this is one pod of several and not of how many: set ASSAY_SHARD=auto/n "+
			"with the Job's completions, or ASSAY_SHARD=0/1 for a whole run in each", kubernetesIndex, index)
	case told == "":
		return native, nil
	case by != "" && native != own:
		return Shard{}, fmt.Errorf("ASSAY_SHARD=%s and %s, which says %s, contradict each other: unset ASSAY_SHARD, or set "+
			"ASSAY_SHARD=0/1 for a whole run", told, by, native)
	}
	return own, nil
}

// indexed is "auto/n": n is written down, and the index comes from the scheduler.
func indexed(n string, native Shard, by string, look func(string) (string, bool)) (Shard, error) {
	if index, set := look(kubernetesIndex); set && index != "" && by == "" {
		s, err := ParseShard(index + "/" + n)
		if err != nil {
			return Shard{}, fmt.Errorf("%s=%q of ASSAY_SHARD=auto/%s: %w", kubernetesIndex, index, n, err)
		}
		return s, nil
	}
	switch {
	case by == "":
		return Shard{}, fmt.Errorf("ASSAY_SHARD=auto/%s, and no scheduler says which part this is: set ASSAY_SHARD=i/%s", n,
			n)
	case strconv.Itoa(native.Count) != n:
		return Shard{}, fmt.Errorf("ASSAY_SHARD=auto/%s and %s, which says %s, contradict each other: set "+
			"ASSAY_SHARD=auto/%d", n, by, native, native.Count)
	}
	return native, nil
}

// JobShard is the part that the job of this process runs. What makes no sense ends the process with a usage error.
func JobShard() Shard {
	s, err := ShardOf(os.LookupEnv)
	if err == nil {
		err = advertise()
	}
	if err != nil {
		Usage(err)
	}
	return s
}

// Unsharded ends a job that cannot be split where its environment asks for a part of it: n whole runs that look like
// parts would be believed.
func Unsharded(job, instead string) {
	if s := JobShard(); s.Sharded() {
		Usage(fmt.Errorf("%s cannot be split, and this is shard %s: set ASSAY_SHARD=0/1 and %s", job, s, instead))
	}
}

// advertise touches Bazel's status file, which says that this test knows of shards.
func advertise() error {
	name, set := os.LookupEnv("TEST_SHARD_STATUS_FILE")
	if !set || name == "" {
		return nil
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("TEST_SHARD_STATUS_FILE cannot be touched, so that Bazel would fail this test: %w", err)
	}
	return f.Close()
}

// ShardCode is how a shard ends in which nothing failed: not judged, 3, or 0 where ASSAY_SHARD_VERDICT=merge says that
// a merge, which cannot be skipped, gives the verdict.
func ShardCode() Code {
	if v, _ := Value("ASSAY_SHARD_VERDICT"); v == "merge" {
		return Pass
	}
	return Inconclusive
}

// ErrShards says that parts do not make a whole run.
var ErrShards = errors.New("these shards are not one run")
