package suite

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
)

// runner is the part of *testing.M that Main needs.
type runner interface{ Run() int }

// options are the flags that Main adds to a test binary.
type options struct {
	list, job   bool
	yes         bool
	atLeast     int
	verdictFile string
	merge       string
	filter      string
	out         io.Writer // where the verdict line goes; a job may have muted os.Stdout
}

func (o *options) register(set *flag.FlagSet) {
	set.BoolVar(&o.list, "assay.list", false, "print every registered case and exit")
	set.BoolVar(&o.job, "assay.job", false, "run as the job that a user watches, see suite.Job")
	set.BoolVar(&o.yes, "assay.yes", false, "do not ask before sending requests to a live server")
	set.IntVar(&o.atLeast, "assay.min", 0, "treat a green run that recorded fewer results as a tool error")
	set.StringVar(&o.filter, "assay.filter", "", "list only cases that contain this `text` in any of their lines")
	set.StringVar(&o.merge, "assay.merge", "", "run folders of shards that are merged: a comma `list` of globs")
	set.StringVar(&o.verdictFile, "assay.verdict", "", "also write the exit code and the verdict line to this `file`")
}

// flags are the options of this process, known once Main has parsed them.
var flags = options{out: os.Stdout}

// Main runs the tests of a binary and ends the process. Call it from TestMain, last.
//
// It refuses unknown ASSAY_* variables, then runs the tests, then prints a line that begins with "verdict" as the last
// one, and exits with a Code: the heaviest of what Record and Verdict were given; where neither was called, 0 if the
// tests passed and 1 if not. A crash ends the process without a verdict line, and is to be read as a tool error.
//
// It adds the flags -assay.filter, -assay.job, -assay.list, -assay.merge, -assay.min, -assay.verdict and -assay.yes.
func Main(m runner) {
	flags.register(flag.CommandLine)
	flag.Parse()
	if flags.list {
		os.Exit(list(os.Stdout, os.Stderr))
	}
	if err := CheckEnv(os.Environ()); err != nil {
		Usage(err)
	}
	if err := registered.Err(); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		finish(ToolError, "tool error: the case registry is not valid")
	}
	stop := onSignal()
	out := os.Stdout
	code := m.Run()
	os.Stdout = out
	stop()
	if listing() {
		os.Exit(code)
	}
	finish(process.conclude(code, flags.atLeast))
}

// list prints the registry of this binary.
func list(stdout, stderr io.Writer) int {
	cases := Matching(registered.Cases(), flags.filter)
	if err := errors.Join(registered.Err(), PrintCases(stdout, cases)); err != nil {
		fmt.Fprintln(stderr, "Error:", err)
		return int(ToolError)
	}
	return 0
}

// listing reports whether the binary was asked for names only, where a verdict line would be taken for one.
func listing() bool {
	f := flag.Lookup("test.list")
	return f != nil && f.Value.String() != ""
}

var finishing sync.Mutex

// finish prints the verdict line and ends the process. Only the first caller gets anywhere.
func finish(code Code, text string) {
	finishing.Lock() // never unlocked: the process ends here
	label := "verdict "
	if process.isJob() && code != UsageError {
		label = fmt.Sprintf("%-13s", "verdict") // in the column of the job's other lines
	}
	fmt.Fprintln(flags.out, label+text)
	if flags.verdictFile != "" {
		line := strconv.Itoa(int(code)) + " " + text + "\n"
		if err := os.WriteFile(flags.verdictFile, []byte(line), 0o600); err != nil {
			fmt.Fprintln(os.Stderr, "Error:", err)
			os.Exit(int(ToolError))
		}
	}
	os.Exit(int(code))
}

// Usage ends the process at once with one sentence on standard error, "verdict usage" and code 2. Call it before any
// work has been started: nothing is cleaned up.
func Usage(err error) {
	fmt.Fprintln(os.Stderr, "Error:", err)
	finish(UsageError, "usage")
}

// Job reports whether the calling test was started as a job, with -assay.job: alone, by a mage target or a scheduler,
// on a terminal that a user watches, so that its output is the program's output. If so the test must give a Verdict or
// record results, otherwise the run is a tool error; and the closing PASS of the testing package, which would stand
// above the verdict and might contradict it, is not printed. In an ordinary `go test` Job returns false and does
// nothing.
func Job(t interface{ Cleanup(f func()) }) bool {
	if !flags.job {
		return false
	}
	process.startJob()
	t.Cleanup(func() {
		process.endJob()
		if null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil {
			os.Stdout = null // Main puts it back; failures are printed to the one that testing kept
		}
	})
	return true
}

// Yes reports whether the user agreed beforehand, with -assay.yes, to what a job would ask about.
func Yes() bool { return flags.yes }

// Merging is what to merge, -assay.merge; empty for an ordinary run.
func Merging() string { return flags.merge }

func (u *Run) startJob() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.job = true
}

func (u *Run) endJob() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.verdict == Pass && u.text == "" && len(u.results) == 0 {
		u.raise(ToolError, "tool error: the job ended without a verdict")
	}
}

func (u *Run) isJob() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.job
}
