package nano_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/oracle"
	"github.com/assay-suite/assay/oracle/faults"
)

// chunkBound is the largest logit difference between two ways to cut one prompt. Both are float64
// sums of at most a few thousand terms in another order (1e-16 each), amplified by four layers.
const chunkBound = 1e-9

func TestEverySplitInTwoChunksEqualsOneShot(t *testing.T) {
	m := load(t, "nano-v4", oracle.Reference())
	prompt := shortPrompt(t)
	require.Len(t, prompt, 67)
	want := inChunks(t, m, prompt, len(prompt))
	worst := 0.0
	for cut := 1; cut < len(prompt); cut++ {
		s := m.NewState()
		first, err := m.Extend(context.Background(), s, prompt[:cut], cut)
		require.NoError(t, err)
		second, err := m.Extend(context.Background(), s, prompt[cut:], len(prompt)-cut)
		require.NoError(t, err)
		off := largestDifference(append(first, second...), want)
		worst = math.Max(worst, off)
		if !(off <= chunkBound) {
			t.Errorf("split after %d tokens: logits differ by %.1e, bound %.0e", cut, off, chunkBound)
		}
	}
	t.Logf("66 splits, logits within %.1e", worst)
}

func TestAnyChunkSizeEqualsOneShot(t *testing.T) {
	m := load(t, "nano-v4", oracle.Reference())
	prompt := longPrompt(t)
	require.Len(t, prompt, 391)
	want := inChunks(t, m, prompt, len(prompt))
	for _, size := range []int{1, 3, 4, 5, 31, 32, 33, 97} {
		t.Run(fmt.Sprintf("size-%d", size), func(t *testing.T) {
			off := largestDifference(inChunks(t, m, prompt, size), want)
			t.Logf("logits within %.1e", off)
			if !(off <= chunkBound) {
				t.Errorf("chunks of %d: logits differ by %.1e, bound %.0e", size, off, chunkBound)
			}
		})
	}
}

// A state that forgets the unfinished block at a chunk's end must be seen: the compressor's
// remainder is exactly what chunking adds to the model.
func TestChunkingSeesALostRemainder(t *testing.T) {
	f, err := faults.Lookup("compressor-overlap-dropped")
	require.NoError(t, err)
	exact := oracle.Reference()
	dropped := f.Apply(exact)
	prompt := longPrompt(t)
	want := inChunks(t, load(t, "nano-v4", exact), prompt, len(prompt))

	// The overlap is lost for the first block of each chunk only.
	ops := exact
	ops.Compress = func(a, g, prevA, prevG oracle.Mat, p oracle.Pooling) oracle.Mat {
		out := exact.Compress(a, g, prevA, prevG, p)
		if first := dropped.Compress(a, g, prevA, prevG, p); first.Rows > 0 {
			copy(out.Row(0), first.Row(0))
		}
		return out
	}
	if off := largestDifference(inChunks(t, load(t, "nano-v4", ops), prompt, 97), want); off <= chunkBound {
		t.Errorf("an overlap lost at each chunk's start passes: logits differ by %.1e", off)
	}
}

// A fault that shows only where a sequence goes on MUST pass in one shot, to the bit, and be seen in chunks.
func TestResumingFaultsShow(t *testing.T) {
	m := load(t, "nano-v4", oracle.Reference())
	prompt := longPrompt(t)[:330] // beyond the 64 keys that the indexer keeps
	want := inChunks(t, m, prompt, len(prompt))
	seen := 0
	for _, f := range faults.All() {
		if !f.Resumes {
			continue
		}
		seen++
		faulty := load(t, "nano-v4", f.Apply(oracle.Reference()))
		if off := largestDifference(inChunks(t, faulty, prompt, len(prompt)), want); off != 0 {
			t.Errorf("%s: in one shot logits differ by %.1e", f.Name, off)
		}
		if off := largestDifference(inChunks(t, faulty, prompt, 131), want); off <= chunkBound { // 131 mod 4 is 3
			t.Errorf("%s: in chunks of 131 logits differ by %.1e only", f.Name, off)
		}
	}
	require.Positive(t, seen)
}

func TestAFailedExtendLeavesTheStateAlone(t *testing.T) {
	m := load(t, "nano-v4", oracle.Reference())
	prompt := shortPrompt(t)
	s := m.NewState()
	_, err := m.Extend(context.Background(), s, prompt[:30], 1)
	require.NoError(t, err)
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for name, try := range map[string]func() error{
		"unknown id":   func() error { _, err := m.Extend(context.Background(), s, []int{5, 1024}, 1); return err },
		"negative id":  func() error { _, err := m.Extend(context.Background(), s, []int{-1}, 1); return err },
		"last too far": func() error { _, err := m.Extend(context.Background(), s, []int{5}, 2); return err },
		"cancelled":    func() error { _, err := m.Extend(cancelled, s, prompt[30:], 1); return err },
		"past the end": func() error { _, err := m.Extend(context.Background(), s, make([]int, 65536), 1); return err },
		"fails in layer 3": func() error {
			calls := 0
			ops := oracle.Reference()
			ops.Route = func(logits oracle.Mat, bias []float64, k int, scaling float64) (oracle.Routing, error) {
				if calls++; calls == 3 {
					logits.Data[0] = math.NaN()
				}
				return oracle.Route(logits, bias, k, scaling)
			}
			_, err := m.With(ops).Extend(context.Background(), s, prompt[30:], 1)
			return err
		},
	} {
		if try() == nil {
			t.Errorf("%s: no error", name)
		}
		require.Equal(t, 30, s.Len(), name)
	}
	got, err := m.Extend(context.Background(), s, prompt[30:], 1)
	require.NoError(t, err)
	want := inChunks(t, m, prompt, 30)
	if off := largestDifference(got, want[66:]); off > chunkBound {
		t.Errorf("after failed calls the logits differ by %.1e", off)
	}
}

func TestClonesGoTheirOwnWays(t *testing.T) {
	m := load(t, "nano-v4", oracle.Reference())
	prompt := longPrompt(t)
	base := m.NewState()
	_, err := m.Extend(context.Background(), base, prompt[:200], 1)
	require.NoError(t, err)
	left, right := base.Clone(), base.Clone()
	other := append([]int(nil), prompt[200:]...)
	for i := range other {
		other[i] = nano.FirstBucket + (other[i]+i)%nano.Buckets
	}
	_, err = m.Extend(context.Background(), left, other, 1)
	require.NoError(t, err)
	_, err = m.Extend(context.Background(), base, other[:50], 1)
	require.NoError(t, err)
	got, err := m.Extend(context.Background(), right, prompt[200:], 1)
	require.NoError(t, err)
	fresh := m.NewState()
	_, err = m.Extend(context.Background(), fresh, prompt[:200], 1)
	require.NoError(t, err)
	want, err := m.Extend(context.Background(), fresh, prompt[200:], 1)
	require.NoError(t, err)
	require.Equal(t, want, got, "a clone is disturbed by what its siblings read")
}

// inChunks reads a prompt in chunks and gives the logits of every position.
func inChunks(t *testing.T, m *nano.Model, prompt []int, size int) [][]float64 {
	t.Helper()
	all, err := chunked(m, prompt, size, len(prompt))
	require.NoError(t, err)
	return all
}

// chunked reads a prompt in chunks and gives the logits of the last positions.
func chunked(m *nano.Model, prompt []int, size, last int) ([][]float64, error) {
	s := m.NewState()
	var all [][]float64
	for from := 0; from < len(prompt); from += size {
		part := prompt[from:min(from+size, len(prompt))]
		logits, err := m.Extend(context.Background(), s, part, min(len(part), max(0, from+len(part)-len(prompt)+last)))
		if err != nil {
			return nil, err
		}
		all = append(all, logits...)
	}
	return all, nil
}

func largestDifference(a, b [][]float64) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	worst := 0.0
	for t := range a {
		for i := range a[t] {
			if d := math.Abs(a[t][i] - b[t][i]); !(d <= worst) {
				worst = d
			}
		}
	}
	return worst
}
