package llama_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/nano/llama"
)

// greedyBound is how far a log-probability may be from the fp32 one of transformers: as for the other nano models.
const greedyBound = 2e-3

// Greedy answers MUST be those of transformers, log-probabilities within the noise of fp32. Prompts to 1,024 tokens;
// all of them under ASSAY_BUDGET=full.
func TestGreedyAnswersLikeTransformers(t *testing.T) {
	m := load(t)
	worst, n := 0.0, 0
	for i, c := range recorded(t) {
		if c.Length > 1024 && !full() {
			continue
		}
		n++
		s, next := m.NewState(), c.Prompt
		for j, want := range c.Greedy {
			logits, err := m.Extend(context.Background(), s, next, 1)
			require.NoError(t, err)
			best, logprob := argmax(logits[0])
			if off := math.Abs(logprob - c.Logprob[j]); best != want || !(off <= greedyBound) {
				t.Errorf("prompt %d (%d tokens, depth %v), token %d: %d at %v here, %d at %v in transformers", i, c.Length,
					c.Depth, j, best, logprob, want, c.Logprob[j])
			} else {
				worst = max(worst, off)
			}
			next = []int{best}
		}
	}
	t.Logf("%d of 24 prompts; log-probabilities within %.1e (bound %.0e)", n, worst, greedyBound)
}

func argmax(logits []float64) (int, float64) {
	best, total := 0, 0.0
	for id, v := range logits {
		if v > logits[best] {
			best = id
		}
	}
	for _, v := range logits {
		total += math.Exp(v - logits[best])
	}
	return best, -math.Log(total)
}

// chunkBound is float64 noise of two ways to cut one prompt.
const chunkBound = 1e-9

// A prompt in chunks MUST give the logits of one in one shot.
func TestAnyChunkSizeEqualsOneShot(t *testing.T) {
	m := load(t)
	prompt := recorded(t)[12].Prompt[:600] // beyond one piece
	want := inChunks(t, m, prompt, len(prompt))
	for _, size := range []int{1, 63, 65, 511, 513} {
		if off := farthest(inChunks(t, m, prompt, size), want); !(off <= chunkBound) {
			t.Errorf("chunks of %d: logits differ by %.1e, bound %.0e", size, off, chunkBound)
		}
	}
}

func inChunks(t *testing.T, m *llama.Model, prompt []int, size int) []float64 {
	t.Helper()
	s := m.NewState()
	var all []float64
	for from := 0; from < len(prompt); from += size {
		part := prompt[from:min(from+size, len(prompt))]
		logits, err := m.Extend(context.Background(), s, part, len(part))
		require.NoError(t, err)
		all = append(all, flat(logits)...)
	}
	return all
}

// A failed Extend MUST leave the state alone, and clones MUST go their own ways.
func TestStates(t *testing.T) {
	m := load(t)
	prompt := recorded(t)[0].Prompt
	s := m.NewState()
	_, err := m.Extend(context.Background(), s, prompt[:50], 1)
	require.NoError(t, err)
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for name, try := range map[string]func() error{
		"unknown id":   func() error { _, err := m.Extend(context.Background(), s, []int{5, 1024}, 1); return err },
		"last too far": func() error { _, err := m.Extend(context.Background(), s, []int{5}, 2); return err },
		"cancelled":    func() error { _, err := m.Extend(cancelled, s, prompt[50:], 1); return err },
		"past the end": func() error { _, err := m.Extend(context.Background(), s, make([]int, 8192), 1); return err },
	} {
		require.Error(t, try(), name)
		require.Equal(t, 50, s.Len(), name)
	}
	other := s.Clone()
	_, err = m.Extend(context.Background(), s, []int{7, 7, 7}, 1)
	require.NoError(t, err)
	got, err := m.Extend(context.Background(), other, prompt[50:], 1)
	require.NoError(t, err)
	want := inChunks(t, m, prompt, len(prompt))
	if off := farthest(got[0], want[len(want)-m.Config.Vocab:]); !(off <= chunkBound) {
		t.Errorf("a clone is disturbed by its sibling: %.1e", off)
	}
}
