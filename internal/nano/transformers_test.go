package nano_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/oracle"
)

// alternations is how often each side reads the prompt for a figure; the best counts.
const alternations = 5

// BenchmarkAgainstTransformers reads one recorded prompt of 1,024 tokens by turns here and with Hugging Face
// transformers, in the interpreter that ASSAY_PYTHON names, on one thread and on two. Both must give the same token.
func BenchmarkAgainstTransformers(b *testing.B) {
	python, set := os.LookupEnv("ASSAY_PYTHON")
	if !set {
		b.Skip("ASSAY_PYTHON names no interpreter with torch and transformers (5.x, for DeepSeek-V4)")
	}
	for _, r := range records {
		b.Run(r.model, func(b *testing.B) {
			theirs := startTransformers(b, python, r.model)
			m := load(b, r.model, oracle.Reference()).Fast()
			all := r.all(b)
			prompt := all[slices.IndexFunc(all, func(c greedyCase) bool { return c.Length == 1024 })].Prompt
			for b.Loop() {
				for _, threads := range []int{1, 2} {
					ours, other := race(b, m, theirs, prompt, threads)
					fmt.Printf("%s, %d tokens, %d thread(s): here %.1f ms, transformers %.1f ms, %.2f times as fast (best of %d "+
						"by turns)\n", r.model, len(prompt), threads, 1e3*ours, 1e3*other, other/ours, alternations)
					b.ReportMetric(other/ours, fmt.Sprintf("times-transformers-%d", threads))
				}
			}
		})
	}
}

// race is the best time of each side, in seconds, after one reading that does not count.
func race(b *testing.B, m *nano.Model, theirs *transformers, prompt []int, threads int) (ours, other float64) {
	b.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
	ours, other = math.Inf(1), math.Inf(1)
	for i := range alternations + 1 {
		start := time.Now()
		logits, err := m.Extend(context.Background(), m.NewState(), prompt, 1)
		require.NoError(b, err)
		mine := time.Since(start).Seconds()
		token, logprob := argmax(logits[0])
		answer := theirs.prefill(b, prompt, threads)
		if token != answer.Token || !(math.Abs(logprob-answer.Logprob) <= greedyBound) {
			b.Fatalf("token %d at %v here, %d at %v there", token, logprob, answer.Token, answer.Logprob)
		}
		if i > 0 {
			ours, other = min(ours, mine), min(other, answer.Seconds)
		}
	}
	return ours, other
}

// transformers is a Python process that reads prompts.
type transformers struct {
	in  io.Writer
	out *bufio.Scanner
}

type prefilled struct {
	Seconds float64 `json:"seconds"`
	Token   int     `json:"token"`
	Logprob float64 `json:"logprob"`
}

// startTransformers loads an embedded model in Python and prints the versions.
func startTransformers(b *testing.B, python, model string) *transformers {
	b.Helper()
	folder := b.TempDir()
	for _, name := range []string{"config.json", "model.safetensors"} {
		raw, err := fixtures.FS.ReadFile(model + "/" + name)
		require.NoError(b, err)
		require.NoError(b, os.WriteFile(filepath.Join(folder, name), raw, 0o600))
	}
	cmd := exec.CommandContext(b.Context(), python, filepath.Join("testdata", "transformers_prefill.py"), folder)
	var said bytes.Buffer
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	require.NoError(b, err)
	out, err := cmd.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start(), "ASSAY_PYTHON=%q cannot be started", python)
	b.Cleanup(func() { _, _ = in.Close(), cmd.Wait() })
	t := &transformers{in, bufio.NewScanner(out)}
	if !t.out.Scan() {
		b.Fatalf("ASSAY_PYTHON=%q does not load the model; it needs torch and transformers 5.x: %s", python, said.String())
	}
	fmt.Printf("%s with %s, %s\n", model, t.out.Text(), runtime.Version())
	return t
}

func (t *transformers) prefill(b *testing.B, ids []int, threads int) prefilled {
	b.Helper()
	require.NoError(b, json.NewEncoder(t.in).Encode(map[string]any{"threads": threads, "ids": ids}))
	require.True(b, t.out.Scan(), "the interpreter ended: %v", t.out.Err())
	var p prefilled
	require.NoError(b, json.Unmarshal(t.out.Bytes(), &p))
	return p
}
