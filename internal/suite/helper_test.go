package suite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// helperVar selects a scenario in a copy of this test binary, which then plays a test binary under Main.
const helperVar = "SUITE_HELPER"

type tests func() int

func (f tests) Run() int { return f() }

func TestMain(m *testing.M) {
	name := os.Getenv(helperVar)
	if name == "" {
		os.Exit(m.Run())
	}
	switch name {
	case "twins":
		Register(Case{ID: "a/b", Claim: "x MUST hold"}, Case{ID: "a/b", Claim: "x MUST hold"})
	case "cases":
		Register(
			Case{ID: "a/c", Claim: "y MUST hold"},
			Case{
				ID:      "a/b",
				Claim:   "x MUST hold",
				Catches: []string{"A1", "G6"},
				Needs:   []string{"logprobs"},
				Cost:    Cost{Requests: 2, Tokens: 300},
			},
		)
	}
	if run, ok := scenarios[name]; ok {
		Main(tests(run))
	}
	Main(m) // the job scenarios are real tests, chosen by -test.run
}

func passing(id string) Result { return Result{Case: id, Outcome: Passed} }

func record(results ...Result) {
	for _, r := range results {
		_ = Record(r) // a refused result shows in the exit code
	}
}

// scenarios are the lives of a test binary; each returns what m.Run would have.
var scenarios = map[string]func() int{
	"plain-pass": func() int { return 0 },
	"plain-fail": func() int { return 1 },
	"all-pass":   func() int { record(passing("a/b"), passing("a/c")); return 0 },
	"one-failed": func() int {
		record(passing("a/b"), Result{Case: "a/c", Outcome: Failed, Message: "lost"})
		return 1
	},
	"observed": func() int {
		record(passing("a/b"), Result{Case: "a/c", Outcome: Failed, Observation: true, Message: "lost"})
		return 0
	},
	"failed-but-green": func() int { record(Result{Case: "a/c", Outcome: Failed, Message: "lost"}); return 0 },
	"praised-then-unmeasured": func() int {
		Verdict(Pass, "no fault found")
		record(passing("a/b"), Result{Case: "a/c", Outcome: Unmeasured, Message: "no logprobs"})
		return 0
	},
	"optional-unmeasured": func() int {
		Verdict(Pass, "no fault found")
		record(passing("a/b"), Result{Case: "a/c", Outcome: Unmeasured, Optional: true, Message: "gentle"})
		return 0
	},
	"praised-then-test-failed": func() int { Verdict(Pass, "no fault found"); return 1 },
	"inconclusive-and-red":     func() int { Verdict(Inconclusive, "inconclusive: 3 of 5"); return 1 },
	"fault-then-unreachable": func() int {
		Verdict(Regression, "REGRESSED  far recall\n40 of 40 lost")
		Verdict(NotReachable, "unreachable: refused")
		return 1
	},
	"unreachable":  func() int { Verdict(NotReachable, "unreachable: connection refused"); return 1 },
	"engine-broke": func() int { record(Result{Case: "a/b", Outcome: Errored, Message: "worker died"}); return 0 },
	"bad-result":   func() int { record(Result{Case: "UPPER", Outcome: Passed}); return 0 },
	"usage":        func() int { Usage(errors.New("OPENAI_BASE_URL is not set")); return 0 },
	"unsharded":    func() int { Unsharded("weights", "run it once"); return 0 },
	"writer": func() int {
		_, err := OpenLedger(os.Getenv("SUITE_LEDGER"))
		fmt.Println(err)
		return 0
	},
	"crash":  func() int { panic("worker state lost") },
	"killed": func() int { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL); select {} },
	"interrupted job": func() int {
		ctx := Interruptible(context.Background())
		_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
		<-ctx.Done()
		Verdict(Inconclusive, fmt.Sprint("the job said so: ", context.Cause(ctx)))
		return 0
	},
	"interrupted twice": func() int {
		ctx := Interruptible(context.Background())
		_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
		<-ctx.Done()
		_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
		time.Sleep(time.Minute)
		return 0
	},
	"interrupted": func() int { _ = syscall.Kill(os.Getpid(), syscall.SIGINT); time.Sleep(time.Minute); return 0 },
}

// ended is what a helper process left behind.
type ended struct {
	code           int
	stdout, stderr string
	verdictFile    string
}

func (e ended) lastLine() string {
	lines := strings.Split(strings.TrimRight(e.stdout, "\n"), "\n")
	return lines[len(lines)-1]
}

// helper runs a copy of this binary in a scenario.
func helper(t *testing.T, scenario string, env []string, args ...string) ended {
	t.Helper()
	if _, known := scenarios[scenario]; !known && len(args) == 0 && scenario != "twins" {
		t.Fatalf("no scenario %q: the copy would run these tests, which start copies", scenario)
	}
	exe, err := os.Executable()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "verdict")
	cmd := exec.CommandContext(t.Context(), exe, append([]string{"-assay.verdict=" + file}, args...)...)
	cmd.Env = append(cleanEnv(), append([]string{helperVar + "=" + scenario}, env...)...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	raw, _ := os.ReadFile(file) // absent after a crash
	return ended{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String(), string(raw)}
}

// cleanEnv is the environment without assay's own variables.
func cleanEnv() []string {
	out := []string{"GORACE=atexit_sleep_ms=0"} // otherwise every helper sleeps a second under -race
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "ASSAY_") {
			out = append(out, kv)
		}
	}
	return out
}
