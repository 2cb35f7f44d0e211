package suite

import (
	"fmt"
	"strconv"
	"strings"
)

// kubernetesIndex is all that an Indexed Job tells a pod: the number of completions is not in its environment.
const kubernetesIndex = "JOB_COMPLETION_INDEX"

// schedulers are the native protocols: names of the variables for the index and the number of parts, and what the first
// index is.
var schedulers = []struct {
	name, index, count string
	first              int
}{
	{"Bazel", "TEST_SHARD_INDEX", "TEST_TOTAL_SHARDS", 0},
	{"Buildkite", "BUILDKITE_PARALLEL_JOB", "BUILDKITE_PARALLEL_JOB_COUNT", 0},
	{"GitLab", "CI_NODE_INDEX", "CI_NODE_TOTAL", 1},
}

// scheduled is the part that the schedulers' variables name, and by which of them; by is empty where none does. Two
// that disagree are an error.
func scheduled(look func(string) (string, bool)) (s Shard, by string, err error) {
	get := func(name string) string { v, _ := look(name); return v }
	take := func(found Shard, how string) error {
		if by != "" && s != found {
			return fmt.Errorf("%s, which says %s, and %s, which says %s, contradict each other: set ASSAY_SHARD=i/n, or "+
				"ASSAY_SHARD=0/1 for a whole run", by, s, how, found)
		}
		s, by = found, how
		return nil
	}
	for _, p := range schedulers {
		index, count := get(p.index), get(p.count)
		if count == "" && index == "" || index == "" && (count == "1" || count == "0") { // GitLab always says how many
			continue
		}
		i, err := strconv.Atoi(index)
		if err != nil || count == "" {
			return s, "", fmt.Errorf("%s=%q and %s=%q of %s name no part: both must be set to numbers", p.index, index, p.count,
				count, p.name)
		}
		found, err := ParseShard(fmt.Sprintf("%d/%s", i-p.first, count))
		if err != nil {
			return s, "", fmt.Errorf("%s=%q and %s=%q of %s name no part: the index goes from %d to the number of parts%s",
				p.index, index, p.count, count, p.name, p.first, map[int]string{0: " less one"}[p.first])
		}
		if found.Sharded() {
			if err := take(found, fmt.Sprintf("%s of %s", p.index, p.name)); err != nil {
				return s, "", err
			}
		}
	}
	if get("SLURM_ARRAY_TASK_ID") != "" {
		found, err := slurm(get)
		if err != nil {
			return s, "", err
		}
		if found.Sharded() {
			if err := take(found, "SLURM_ARRAY_TASK_ID of Slurm"); err != nil {
				return s, "", err
			}
		}
	}
	return s, by, nil
}

// slurm maps the task of an array to 0...count-1. An array with holes, such as 0,3,7, has no such map that every task
// could know.
func slurm(get func(string) string) (Shard, error) {
	names := []string{
		"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MAX",
		"SLURM_ARRAY_TASK_STEP",
	}
	var v [5]int
	for i, name := range names {
		var err error
		if v[i], err = strconv.Atoi(get(name)); err != nil && (i < 3 || get(name) != "") {
			return Shard{}, fmt.Errorf("%s=%q is no number: an array of Slurm sets %s", name, get(name),
				strings.Join(names[:3], ", "))
		}
	}
	id, first, count, last, step := v[0], v[1], v[2], v[3], max(v[4], 1)
	if get(names[3]) == "" {
		last = first + (count-1)*step
	}
	if count < 1 || id < first || (id-first)%step != 0 || (id-first)/step >= count || first+(count-1)*step != last {
		return Shard{}, fmt.Errorf("task %d of a Slurm array from %d to %d with %d tasks is no part: use an array without "+
			"holes, such as --array=0-7, or set ASSAY_SHARD=i/n", id, first, last, count)
	}
	return Shard{(id - first) / step, count}, nil
}
