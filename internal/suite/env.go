package suite

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Variable is one row of the table of environment variables.
type Variable struct {
	Name, Default, Meaning string
	// check returns an error for a value that cannot be used; nil accepts everything.
	check func(string) error
}

// Env returns the table of every environment variable that assay reads, in the order of the README.
func Env() []Variable {
	return []Variable{
		{"OPENAI_BASE_URL", "", "base URL of the endpoint under test, with or without /v1", nil},
		{"OPENAI_API_KEY", "", "sent as a bearer token, never stored", nil},
		{"OPENAI_API_BASE", "", "legacy name of OPENAI_BASE_URL, used with a notice", nil},
		{"ASSAY_MODEL", "first of /v1/models", "model name sent to the endpoint", nil},
		{
			"ASSAY_MODEL_EMBEDDED", "nano-v4", "the model of the main job: nano-v4, or nano-flash with V4-Flash's window and " +
				"top-k", oneOf("nano-v4", "nano-flash"),
		},
		{
			"ASSAY_FORMAT", "", "number format of a nano model that live is served: fp32, bf16, mixed, fp8, mxfp4, nvfp4",
			oneOf("fp32", "bf16", "mixed", "fp8", "mxfp4", "nvfp4"),
		},
		{"ASSAY_WEIGHTS", "the shipped nano folders", "a checkpoint folder for the weights tag", nil},
		{"ASSAY_REFERENCE", "", "the checkpoint that ASSAY_WEIGHTS was quantised from, to compare every value with", nil},
		{"ASSAY_CANDIDATE", "", "command line of a kernel worker process (adapters/README.md)", nil},
		{
			"ASSAY_GOLDENS", "goldens", "folder with goldens of your own, read before the shipped ones and written by update " +
				"and bless", nil,
		},
		{"ASSAY_SUSPECTS", "", "patches.json with the patches that diagnose clears or implicates", nil},
		{"ASSAY_BUDGET", "standard", "how much to run: smoke, standard or full", oneOf("smoke", "standard", "full")},
		{"ASSAY_DISRUPT", "0", "1 allows diagnose aborts, floods, soaks and more than four clients at once", oneOf("0", "1")},
		{
			"ASSAY_SHARD", "", "i/n runs part i (from 0) of n of a job (docs/fleet.md); auto/n takes i from the scheduler",
			shard,
		},
		{
			"ASSAY_SHARD_VERDICT", "", "merge ends a shard in which nothing failed with code 0, not 3, for mage merge to judge",
			oneOf("merge"),
		},
		{"ASSAY_RESUME", "", "folder of a live, diagnose, weights or kernels run to continue", nil},
		{"ASSAY_RECORD", "", "folder to record requests and answers in", notYet},
		{"ASSAY_CONTRACT", "", "the arithmetic that kernels must meet (fp32, bf16, ...); unset: the sharpest they meet", nil},
		{
			"ASSAY_TIMES", "0", "1 takes the times of a device's kernels after judging them, only takes nothing but times",
			oneOf("0", "1", "only"),
		},
		{"ASSAY_TAPES", "", "folder to write a tape of a device's answers to, for replaying without the device", nil},
		{"ASSAY_SHRINK", "0", "1 shrinks failing kernel cases to a smallest one", oneOf("0", "1")},
		{
			"ASSAY_HAYSTACK", "the shipped Opticks", "what to hide needles in: a text file, or opticks, tom-sawyer, " +
				"generated, agent", nil,
		},
		{"ASSAY_TRACES", "", "folder with more traces in the form of hf_trace_*.safetensors", nil},
		{"ASSAY_ORACLES", "", "folder with more recorded hardware results", nil},
		{
			"ASSAY_PYTHON", "", "interpreter with numpy: runs the tests of the Python workers too; with transformers, bench " +
				"measures against it", nil,
		},
		{"ASSAY_ARTIFACTS", "artifacts", "folder that run folders are made in", nil},
	}
}

// notYet refuses a name that is reserved and read by nothing: a setting that does nothing would be believed.
func notYet(string) error {
	return errors.New("this version does not use it; unset it")
}

// shard accepts what ParseShard does, and auto/n.
func shard(v string) error {
	if n, auto := strings.CutPrefix(v, byScheduler+"/"); auto {
		v = "0/" + n
	}
	_, err := ParseShard(v)
	return err
}

func oneOf(values ...string) func(string) error {
	return func(v string) error {
		if slices.Contains(values, v) {
			return nil
		}
		return fmt.Errorf("use one of %s", strings.Join(values, ", "))
	}
}

// Value returns what a variable of the table is set to, or its default where it is unset or empty. Set reports which;
// where the default only describes what happens, look at set first.
func Value(name string) (value string, set bool) {
	if v, ok := os.LookupEnv(name); ok && v != "" {
		return v, true
	}
	for _, v := range Env() {
		if v.Name == name {
			return v.Default, false
		}
	}
	return "", false
}

// CheckEnv returns a usage error for every ASSAY_* name in environ ("NAME=value") that the table lacks, naming the
// nearest one, and for every value that cannot be used.
func CheckEnv(environ []string) error {
	table := Env()
	var errs []error
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		at := slices.IndexFunc(table, func(v Variable) bool { return v.Name == name })
		switch {
		case at >= 0 && value != "" && table[at].check != nil:
			if err := table[at].check(value); err != nil {
				errs = append(errs, fmt.Errorf("%s=%q cannot be used: %w", name, value, err))
			}
		case at < 0 && strings.HasPrefix(name, "ASSAY_"):
			errs = append(errs, fmt.Errorf("%s is set, but there is no such variable: did you mean %s?", name,
				nearest(strings.ToUpper(name), table)))
		}
	}
	return errors.Join(errs...)
}

// nearest returns the ASSAY_* name of the table with the smallest edit distance, the first of equals.
func nearest(name string, table []Variable) string {
	best, distance := "", -1
	for _, v := range table {
		if !strings.HasPrefix(v.Name, "ASSAY_") {
			continue
		}
		if d := editDistance(name, v.Name); distance < 0 || d < distance {
			best, distance = v.Name, d
		}
	}
	return best
}

// editDistance counts the insertions, deletions and substitutions of bytes between a and b (Levenshtein 1966).
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substitute := diagonal
			if a[i] != b[j] {
				substitute++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitute, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
