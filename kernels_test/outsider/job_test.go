package outsider_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// outcome is what a job said of a worker: exit code, last line, and the cause that its first faulty facet names.
type outcome struct {
	Name    string `json:"name"`
	Code    int    `json:"code"`
	Verdict string `json:"verdict"`
	Cause   string `json:"cause"`
}

// first is the class of the cause, the word before its remedy.
func (o outcome) first() string {
	word, _, _ := strings.Cut(o.Cause, " ")
	return word
}

var (
	faulty = regexp.MustCompile(`^   \S.*  fault +(\S.*)$`)
	gap    = regexp.MustCompile(`  +`)
)

// read makes an outcome of what the job printed: the cause is the last column of the first facet whose verdict is
// fault.
func read(name string, code int, printed string) outcome {
	out := outcome{Name: name, Code: code}
	for line := range strings.Lines(printed) {
		line = strings.TrimRight(line, "\n")
		if after, ok := strings.CutPrefix(line, "verdict"); ok {
			out.Verdict = strings.TrimSpace(after)
		}
		if m := faulty.FindStringSubmatch(line); m != nil && out.Cause == "" {
			columns := gap.Split(strings.TrimSpace(m[1]), -1)
			out.Cause = columns[len(columns)-1]
		}
	}
	return out
}

// recorded are the outcomes that are in the record already, so that an interrupted run goes on where it stopped.
func recorded(t *testing.T, name string) map[string]outcome {
	t.Helper()
	out := map[string]outcome{}
	f, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return out
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var o outcome
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			t.Fatalf("%s: %v; remove the line", name, err)
		}
		out[o.Name] = o
	}
	return out
}

// runner starts jobs as a user does, one after the other, and writes each outcome to a record at once.
type runner struct {
	t      *testing.T
	record string
	known  map[string]outcome
}

func (r runner) job(name, python, args string) outcome {
	r.t.Helper()
	if o, ok := r.known[name]; ok {
		return o
	}
	root := filepath.Join("..", "..")
	cmd := exec.CommandContext(r.t.Context(), "go", "tool", "mage", "kernels")
	cmd.Dir = root
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "ASSAY_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "PYTHONDONTWRITEBYTECODE=1", "ASSAY_ARTIFACTS="+r.t.TempDir(),
		fmt.Sprintf("ASSAY_CANDIDATE=%s kernels_test/outsider/worker/worker.py %s", python, args))
	printed, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		r.t.Fatal(err)
	}
	o := read(name, cmd.ProcessState.ExitCode(), string(printed))
	if o.Verdict == "" {
		r.t.Fatalf("%s: the job ended without a verdict: %s", name, printed)
	}
	r.append(o)
	return o
}

func (r runner) append(o outcome) {
	if r.record == "" {
		return
	}
	line, err := json.Marshal(o)
	if err != nil {
		r.t.Fatal(err)
	}
	f, err := os.OpenFile(r.record, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		r.t.Fatal(err)
	}
	_, err = f.Write(append(line, '\n'))
	if err := errors.Join(err, f.Close()); err != nil {
		r.t.Fatal(err)
	}
}
