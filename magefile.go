//go:build mage

// Targets of `go tool mage`. They build test binaries, run them with the terminal attached and pass the exit code on;
// what a code means is decided in the binary, by suite.Main.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Default is the main job on the embedded server.
var Default = Assay

// pillars are the packages whose test binaries users run; each ends in suite.Main.
var pillars = []string{"./fidelity", "./fidelity/internal/diagnose", "./kernels_test", "./numerics", "./weights"}

// allTags are the build tags of the module, as vet and the linters need them.
const allTags = "live,gpu,weights,mage,exhaustive"

// toolError is the exit code for a run that broke, suite.ToolError.
const toolError = 5

// Assay runs the main job on the embedded nano-v4 server: heat map, verdict, artifacts/<run>/.
func Assay(ctx context.Context) error {
	return job(ctx, "./fidelity", "", "^TestMainJob$")
}

// Live asks your server, OPENAI_BASE_URL, whether it still recalls; -y does not ask first. It shows the plan with its
// requests and minutes before anything of it is sent, has at most four in flight, and leaves
// artifacts/<run>/report.html. OPENAI_API_KEY is the key, ASSAY_MODEL the model where several are listed or none,
// ASSAY_BUDGET=smoke|standard|full how much is asked, ASSAY_HAYSTACK the text, ASSAY_GOLDENS the folder of goldens that
// `bless` records, and ASSAY_RESUME=<run folder> goes on with a run that was ended. Exit codes: 0 no fault found, 1
// regressed or a fault, 2 usage, 3 inconclusive or not measured, 4 not reachable or still loading, 5 the engine failed.
// docs/live.md says what is judged and how.
func Live(ctx context.Context, y *bool) error {
	return job(ctx, "./fidelity", "live", "^TestLive$", agreed(y)...)
}

// Bless records your server's answers as goldens, in ASSAY_GOLDENS or goldens/; -reason="..." is required, -y does not
// ask first.
func Bless(ctx context.Context, y *bool, reason *string) error {
	flags := append(agreed(y), "-update")
	if reason != nil {
		flags = append(flags, "-assay.reason="+*reason)
	}
	return job(ctx, "./fidelity", "live", "^TestLive$", flags...)
}

// Compare says whether the second of two URLs, or of two run folders, regressed against the first; -y does not ask
// first.
func Compare(ctx context.Context, before, now string, y *bool) error {
	return job(ctx, "./fidelity", "live", "^TestCompare$",
		append(agreed(y), "-assay.before="+before, "-assay.now="+now)...)
}

// Diagnose probes your server, OPENAI_BASE_URL, and says which part of the engine lost a text; -y does not ask first.
func Diagnose(ctx context.Context, y *bool) error {
	return job(ctx, "./fidelity/internal/diagnose", "live", "^TestDiagnose$", agreed(y)...)
}

// Kernels judges your kernels, a worker process started by ASSAY_CANDIDATE, by every case; without one the built-in
// candidates.
func Kernels(ctx context.Context) error {
	return job(ctx, "./kernels_test", "", "^TestCases$")
}

// Gpu judges the kernels of a device, a worker process started by ASSAY_CANDIDATE, and says what changed since the
// worker's golden; -update records it. Without a worker it fails.
func Gpu(ctx context.Context, update *bool) error {
	var flags []string
	if update != nil && *update {
		flags = append(flags, "-update")
	}
	return job(ctx, "./kernels_test", "gpu", "^TestGpu", flags...)
}

// Test runs the offline proof: no network, no GPU, no Python.
func Test(ctx context.Context) error {
	return run(ctx, "go", "test", "./...")
}

// Weights examines a checkpoint, ASSAY_WEIGHTS, or the shipped nano folders: the doctor, and the precision of what is
// sensitive to it.
func Weights(ctx context.Context) error {
	return job(ctx, "./weights", "weights", "^TestWeights$", "-test.timeout=0")
}

// Update rewrites the offline goldens that are out of tolerance; read `git diff goldens/` afterwards.
func Update(ctx context.Context) error {
	return run(ctx, "go", "test", "./...", "-update", "-count=1")
}

// Serve starts nano-v4 behind an OpenAI-compatible endpoint on 127.0.0.1:8088; -fault=NAME puts a fault into it.
func Serve(ctx context.Context, fault, addr *string) error {
	bin, err := compile(ctx, "nanoserve", "./cmd/nanoserve", "build")
	if err != nil {
		return err
	}
	var args []string
	if fault != nil {
		args = append(args, "-fault="+*fault)
	}
	if addr != nil {
		args = append(args, "-addr="+*addr)
	}
	code, err := exitCode(command(ctx, bin, args...))
	if err != nil || code == 0 {
		return err
	}
	os.Exit(code)
	return nil
}

// Inflate writes a nano model into the tensor shapes of a large one, into -out=DIR, for real engines to serve; also
// -shape, -format, -layers, -experts, -mix, -from, as inflate -h tells (go run ./cmd/inflate -h).
func Inflate(ctx context.Context, out, shape, format, layers, experts, mix, from *string) error {
	bin, err := compile(ctx, "inflate", "./cmd/inflate", "build")
	if err != nil {
		return err
	}
	var args []string
	for name, v := range map[string]*string{
		"out": out, "shape": shape, "format": format, "layers": layers, "experts": experts, "mix": mix, "from": from,
	} {
		if v != nil {
			args = append(args, "-"+name+"="+*v)
		}
	}
	code, err := exitCode(command(ctx, bin, args...))
	if err != nil || code == 0 {
		return err
	}
	os.Exit(code)
	return nil
}

// Gguf writes nano-llama as a GGUF file for llama.cpp, into -out=FILE; also -kind=f32|f16|bf16 and -from=DIR.
func Gguf(ctx context.Context, out, kind, from *string) error {
	bin, err := compile(ctx, "gguf", "./cmd/gguf", "build")
	if err != nil {
		return err
	}
	var args []string
	for name, v := range map[string]*string{"out": out, "type": kind, "from": from} {
		if v != nil {
			args = append(args, "-"+name+"="+*v)
		}
	}
	code, err := exitCode(command(ctx, bin, args...))
	if err != nil || code == 0 {
		return err
	}
	os.Exit(code)
	return nil
}

// Bench runs every benchmark once over, or those that -only=REGEXP names; with ASSAY_PYTHON, prefill against Hugging
// Face transformers too (-only=AgainstTransformers).
func Bench(ctx context.Context, only *string) error {
	which := "."
	if only != nil {
		which = *only
	}
	return run(ctx, "go", "test", "./...", "-run=^$", "-bench="+which)
}

// Lint checks format, vet with every tag, golangci-lint and staticcheck.
func Lint(ctx context.Context) error {
	unformatted, err := output(ctx, "go", "tool", "-modfile=tools.mod", "gofumpt", "-l", ".")
	if err == nil && len(unformatted) > 0 {
		err = fmt.Errorf("not formatted, run `go tool -modfile=tools.mod gofumpt -w .`: %s", strings.Join(unformatted, " "))
	}
	return errors.Join(
		err,
		run(ctx, "go", "vet", "-tags", allTags, "./..."),
		run(ctx, "go", "tool", "-modfile=tools.mod", "golangci-lint", "run"),
		run(ctx, "go", "tool", "-modfile=tools.mod", "staticcheck", "-tags", allTags, "-checks", "inherit,-SA1019", "./..."),
	)
}

// Cases prints every registered case: ID, claim, what it catches and needs, cost; -filter=TEXT those that contain it.
func Cases(ctx context.Context, filter *string) error {
	args := []string{"-assay.list"}
	if filter != nil {
		args = append(args, "-assay.filter="+*filter)
	}
	for _, pkg := range pillars {
		bin, err := build(ctx, pkg, "live,gpu,weights")
		if err != nil {
			return err
		}
		if err := run(ctx, bin, args...); err != nil {
			return err
		}
	}
	return nil
}

// Dist builds the test binaries and nanoserve for machines without Go, into dist/<os>-<arch>/.
func Dist(ctx context.Context) error {
	for _, arch := range []string{"amd64", "arm64"} {
		dir := filepath.Join("dist", "linux-"+arch) + string(filepath.Separator)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("the folder for binaries cannot be made: %w", err)
		}
		for _, args := range [][]string{
			append([]string{"test", "-c", "-trimpath", "-tags", "live,gpu,weights", "-o", dir},
				pillars...),
			{"build", "-trimpath", "-o", dir, "./cmd/nanoserve", "./cmd/inflate"},
		} {
			cmd := command(ctx, "go", args...)
			cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+arch, "CGO_ENABLED=0")
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("go %s for %s: %w", strings.Join(args, " "), arch, err)
			}
		}
		fmt.Println(dir)
	}
	return nil
}

// job runs the test of pkg that run selects as the program that the user watches, and ends this process with its code.
//
// It does not return mage an error for a child's code: mage would print it below the verdict, which is the last line.
func job(ctx context.Context, pkg, tags, run string, flags ...string) error {
	bin, err := build(ctx, pkg, tags)
	if err != nil {
		return noVerdict("%s does not build", pkg)
	}
	dir, err := os.MkdirTemp("", "assay-verdict-")
	if err != nil {
		return noVerdict("no temporary folder: %v", err)
	}
	file := filepath.Join(dir, "verdict")
	args := append([]string{"-test.run=" + run, "-test.count=1", "-assay.job", "-assay.min=1", "-assay.verdict=" + file},
		flags...)
	code, err := exitCode(command(ctx, bin, args...))
	verdict, readErr := os.ReadFile(file)
	if rmErr := os.RemoveAll(dir); rmErr != nil {
		fmt.Fprintln(os.Stderr, rmErr)
	}
	said, _, _ := strings.Cut(string(verdict), " ")
	switch {
	case err != nil:
		return noVerdict("%s does not start: %v", bin, err)
	case readErr != nil:
		return noVerdict("%s ended without a verdict, with code %d (-1 means that a signal killed it)", bin, code)
	case said != strconv.Itoa(code):
		return noVerdict("%s gave the verdict %q and then ended with code %d", bin, strings.TrimSpace(string(verdict)), code)
	}
	os.Exit(code)
	return nil
}

// noVerdict prints the verdict line that the binary owed, and ends this process.
func noVerdict(format string, args ...any) error {
	fmt.Printf("verdict tool error: "+format+"\n", args...)
	os.Exit(toolError)
	return nil
}

// build compiles the test binary of pkg and returns its path.
func build(ctx context.Context, pkg, tags string) (string, error) {
	name := filepath.Base(pkg)
	if tags != "" {
		name += "-" + strings.ReplaceAll(tags, ",", "-")
	}
	return compile(ctx, name+".test", pkg, "test", "-c", "-tags", tags)
}

// compile runs go with args to make bin/name of pkg, and returns its path. Another start in this checkout may be making
// or running the same file: it is made under a name of its own and renamed. A link to what is there lets go see that
// nothing has changed.
func compile(ctx context.Context, name, pkg string, args ...string) (bin string, err error) {
	if bin, err = filepath.Abs(filepath.Join("bin", name)); err != nil {
		return "", err
	}
	if err := os.MkdirAll("bin", 0o755); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("bin", ".build-*")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	made := filepath.Join(dir, name)
	_ = os.Link(bin, made) // without it go only does more
	if err := run(ctx, "go", append(args, "-o", made, pkg)...); err != nil {
		return "", err
	}
	return bin, os.Rename(made, bin)
}

// command is a child on this terminal. It is not bound to ctx: signals reach the child, which then says its verdict.
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), name, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd
}

// exitCode runs a child to its end, -1 where a signal killed it; the error says that it could not be started.
func exitCode(cmd *exec.Cmd) (int, error) {
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	// From here on a signal is the child's business. Interrupts, of which a terminal tells it itself, are ignored only
	// after the start, or the child would inherit that.
	signal.Ignore(os.Interrupt)
	defer signal.Reset(os.Interrupt)
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	defer signal.Stop(ended)
	waited := make(chan struct{})
	defer close(waited)
	go func() {
		select {
		case s := <-ended:
			_ = cmd.Process.Signal(s) // fails only when it has ended
		case <-waited:
		}
	}()
	err := cmd.Wait()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	return cmd.ProcessState.ExitCode(), nil
}

func run(ctx context.Context, name string, args ...string) error {
	code, err := exitCode(command(ctx, name, args...))
	if err == nil && code != 0 {
		err = fmt.Errorf("exit status %d", code)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return nil
}

// output returns the lines that a command prints.
func output(ctx context.Context, name string, args ...string) ([]string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stderr = os.Stderr
	raw, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.Fields(string(raw)), nil
}

// agreed is the flag for a question that was answered on the command line.
func agreed(y *bool) []string {
	if y != nil && *y {
		return []string{"-assay.yes"}
	}
	return nil
}
