// Command mage is what `go tool mage` runs: mage, with the magefile compiled in a folder of its own, so that starts in
// one checkout do not share a file; with SIGTERM passed on; and with an exit code that is never 0 for a run that was
// killed. Command line, targets and output are mage's.
//
// It claims nothing about the targets: their exit codes are passed on as they are.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/magefile/mage/mage"
)

// toolError is the exit code for a run that broke, suite.ToolError; mage's own 1 would mean a fault of what was tested.
const toolError = 5

// child is the compiled magefile, once it runs.
var child atomic.Pointer[os.Process]

func main() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		for s := range signals {
			pass(s)
		}
	}()
	os.Exit(start(helped(os.Args[1:])))
}

// helped lets `mage TARGET -h` be what people mean by it, mage's own `mage -h TARGET`.
func helped(args []string) []string {
	if len(args) < 2 || strings.HasPrefix(args[0], "-") {
		return args
	}
	for _, a := range args[1:] {
		if a == "-h" || a == "-help" || a == "--help" {
			return []string{"-h", args[0]}
		}
	}
	return args
}

// pass gives SIGTERM to the targets, which end with a verdict. Of an interrupt a terminal tells them itself. A process
// that dies of either would make `go tool` end with code 0.
func pass(s os.Signal) {
	p := child.Load()
	if p == nil {
		fmt.Fprintf(os.Stderr, "Error: ended (%s) before a target was started\n", s)
		os.Exit(toolError)
	}
	if s == syscall.SIGTERM {
		_ = p.Signal(s) // fails only when it has ended
	}
}

func start(args []string) int {
	inv, command, err := mage.Parse(os.Stderr, os.Stdout, args)
	runs := command == mage.None && !inv.List && !inv.Help && !inv.Autocomplete
	if err != nil || !runs && command != mage.CompileStatic {
		return mage.ParseAndRun(os.Stdout, os.Stderr, os.Stdin, args) // compiles nothing
	}
	inv.Stderr = os.Stderr
	if inv.Dir == "" {
		inv.Dir = "."
	}
	binary, err := compiled(inv)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "Error:", err)
		return toolError
	case runs:
		return run(binary, inv)
	}
	return 0
}

// run starts the compiled magefile and returns its exit code.
func run(binary string, inv mage.Invocation) int {
	cmd := exec.Command(binary, inv.Args...) //nolint:noctx // ended by signals, like the targets
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Dir, cmd.Env = inv.WorkDir, environment(inv)
	if cmd.Dir == "" {
		cmd.Dir = inv.Dir
	}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "Error: the compiled magefile does not start:", err)
		return toolError
	}
	child.Store(cmd.Process)
	err := cmd.Wait()
	exit := new(exec.ExitError)
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit) && exit.Exited():
		return exit.ExitCode()
	}
	fmt.Fprintf(os.Stderr, "Error: the run ended without an exit code of its own: %v\n", err)
	return toolError
}

// environment is how mage tells a compiled magefile about its options.
func environment(inv mage.Invocation) []string {
	env := os.Environ()
	for name, on := range map[string]bool{"MAGEFILE_VERBOSE": inv.Verbose, "MAGEFILE_DEBUG": inv.Debug} {
		if on {
			env = append(env, name+"=1")
		}
	}
	env = append(env, "MAGEFILE_GOCMD="+inv.GoCmd)
	if inv.Timeout > 0 {
		env = append(env, "MAGEFILE_TIMEOUT="+inv.Timeout.String())
	}
	return env
}
