package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	// Registers -update, so that `go test ./... -update` works here too.
	_ "github.com/assay-suite/assay/internal/golden"
)

// asMage tells the test binary to be the command itself.
const asMage = "MAGE_CHILD"

func TestMain(m *testing.M) {
	if _, ok := os.LookupEnv(asMage); ok {
		main()
	}
	os.Exit(m.Run())
}

// stub stands for ./fidelity in a module with the real magefile: it ends as STUB says, after it has said a verdict.
const stub = `package fidelity

import ("flag"; "fmt"; "os"; "os/signal"; "strconv"; "syscall"; "testing")

func TestMain(*testing.M) {
	flag.Bool("assay.job", false, "")
	flag.Int("assay.min", 0, "")
	verdict := flag.String("assay.verdict", "", "")
	flag.Parse()
	code, _ := strconv.Atoi(os.Getenv("STUB"))
	switch os.Getenv("STUB") {
	case "killed":
		p, _ := os.FindProcess(os.Getpid())
		p.Kill()
		select {}
	case "orphaned":
		p, _ := os.FindProcess(os.Getppid())
		p.Kill()
	case "waits":
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGTERM)
		fmt.Println("ready")
		<-c
		code = 3
	}
	fmt.Println("verdict stub", code)
	os.WriteFile(*verdict, []byte(fmt.Sprint(code, " verdict")), 0o600)
	os.Exit(code)
}
`

// checkout is a module with magefile.go, the real one where the text is empty.
func checkout(t *testing.T, magefile string) string {
	t.Helper()
	if magefile == "" {
		raw, err := os.ReadFile("../../magefile.go")
		require.NoError(t, err)
		magefile = string(raw)
	}
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "fidelity"), 0o750))
	for name, text := range map[string]string{
		"magefile.go": magefile, "go.mod": "module stub\n\ngo 1.26\n", "fidelity/stub_test.go": stub,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

// started is the command in dir, with the compiled magefiles below cache.
func started(t *testing.T, dir, cache, stub string, args ...string) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd = exec.CommandContext(t.Context(), self, args...)
	cmd.Dir, stdout, stderr = dir, new(bytes.Buffer), new(bytes.Buffer)
	cmd.Env = append(os.Environ(), asMage+"=1", "MAGEFILE_CACHE="+cache, "STUB="+stub)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	return cmd, stdout, stderr
}

func codeOf(t *testing.T, err error) int {
	t.Helper()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		return exit.ExitCode()
	}
	assert.NoError(t, err)
	return 0
}

func lastLine(b *bytes.Buffer) string {
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	return lines[len(lines)-1]
}

// Nothing may be left of a compilation: git would see it, or a later start would take it for its own.
func leavesNothing(t *testing.T, dir string) {
	t.Helper()
	for _, pattern := range []string{"mage_output_file.go", "bin/.mage-*", "bin/.build-*"} {
		left, err := filepath.Glob(filepath.Join(dir, pattern))
		require.NoError(t, err)
		assert.Empty(t, left)
	}
}

// Ten starts at once with nothing compiled, of two targets, beside a list and an unknown target: each MUST end with its
// own verdict and exit code.
func TestStartsAtOnce(t *testing.T) {
	dir, cache := checkout(t, ""), t.TempDir()
	var all sync.WaitGroup
	for i := range 10 {
		target := []string{"assay", "live"}[i%2]
		all.Go(func() {
			cmd, stdout, stderr := started(t, dir, cache, strconv.Itoa(i%6), target)
			assert.Equal(t, i%6, codeOf(t, cmd.Run()), stderr.String())
			assert.Equal(t, fmt.Sprint("verdict stub ", i%6), lastLine(stdout), stderr.String())
		})
	}
	for arg, code := range map[string]int{"-l": 0, "no-such-target": 2} {
		all.Go(func() {
			cmd, _, stderr := started(t, dir, cache, "0", arg)
			assert.Equal(t, code, codeOf(t, cmd.Run()), stderr.String())
		})
	}
	all.Wait()
	leavesNothing(t, dir)
}

// A run that is ended MUST NOT end with code 0, whoever of the three processes was told to end.
func TestEnded(t *testing.T) {
	dir, cache := checkout(t, ""), t.TempDir()
	t.Run("sigterm is passed on", func(t *testing.T) {
		cmd, _, stderr := started(t, dir, cache, "waits")
		cmd.Stdout = nil
		pipe, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		out := bufio.NewReader(pipe)
		line, err := out.ReadString('\n')
		require.NoError(t, err, stderr)
		require.Equal(t, "ready\n", line)
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		line, err = out.ReadString('\n')
		require.NoError(t, err)
		assert.Equal(t, "verdict stub 3\n", line)
		assert.Equal(t, 3, codeOf(t, cmd.Wait()))
	})
	t.Run("test binary killed", func(t *testing.T) {
		cmd, stdout, _ := started(t, dir, cache, "killed")
		assert.Equal(t, toolError, codeOf(t, cmd.Run()))
		assert.Contains(t, lastLine(stdout), "verdict tool error")
	})
	t.Run("magefile killed", func(t *testing.T) {
		cmd, _, stderr := started(t, dir, cache, "orphaned")
		assert.Equal(t, toolError, codeOf(t, cmd.Run()))
		assert.Contains(t, stderr.String(), "killed")
	})
}

// mage's own failures MUST NOT be code 1, which says that what was tested has a fault.
func TestMagefileDoesNotCompile(t *testing.T) {
	dir := checkout(t, "//go:build mage\n\npackage main\n\nimport \"fmt\"\n\nfunc Assay() { fmt.Nothing() }\n")
	cmd, _, stderr := started(t, dir, t.TempDir(), "0", "assay")
	assert.Equal(t, toolError, codeOf(t, cmd.Run()))
	assert.Contains(t, stderr.String(), "does not compile")
	leavesNothing(t, dir)
}

func TestNoMagefile(t *testing.T) {
	cmd, _, stderr := started(t, t.TempDir(), t.TempDir(), "0")
	assert.Equal(t, toolError, codeOf(t, cmd.Run()))
	assert.Contains(t, stderr.String(), "root of the repository")
}

// -compile MUST write what it is asked for, which runs by itself.
func TestCompileOut(t *testing.T) {
	dir := checkout(t, "")
	cmd, _, stderr := started(t, dir, t.TempDir(), "0", "-compile", "targets")
	assert.Equal(t, 0, codeOf(t, cmd.Run()), stderr)
	leavesNothing(t, dir)
	out, err := exec.CommandContext(t.Context(), filepath.Join(dir, "targets"), "-l").Output()
	require.NoError(t, err)
	assert.Contains(t, string(out), "diagnose")
}

// A compiled magefile is taken from the cache by the content of the magefile alone, so that is all it may be made of.
func TestMagefileImports(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "../../magefile.go", nil, parser.ImportsOnly)
	require.NoError(t, err)
	require.NotEmpty(t, f.Imports)
	for _, i := range f.Imports {
		assert.NotContains(t, i.Path.Value, ".", "no package of the standard library")
	}
}
