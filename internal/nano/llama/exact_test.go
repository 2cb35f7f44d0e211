package llama_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/internal/needle"
)

// exactShare is the bar: codes answered exactly, of 200 prompts of 128 to 4,096 tokens in Opticks, which the model was
// not trained on.
const exactShare = 0.95

// Exact codes of prompts that the project's own builder makes: whole sentences, ten depths, both wordings. Six prompts
// of up to 512 tokens; 200 under ASSAY_BUDGET=full.
func TestExactInProseItWasNotTrainedOn(t *testing.T) {
	haystack, err := needle.Opticks()
	require.NoError(t, err)
	frame := func(text string) []int {
		ids, err := nano.EncodeChat([]nano.Message{{Role: "user", Content: text}})
		require.NoError(t, err)
		return ids
	}
	b := needle.Builder{
		Haystack: haystack, Bucket: nano.Bucket, TokensPerUnit: 1,
		Count: func(_ context.Context, text string) (int, error) { return len(frame(text)), nil },
	}
	lengths := []int{128, 192, 256, 384, 512, 768, 1024, 2048, 3072, 4096}
	depths := []float64{0, .1, .2, .3, .4, .5, .6, .7, .8, .9, 1}
	count := 200
	if !full() {
		lengths, count = lengths[:5], 6
	}
	exact := 0
	byLength := map[int][2]int{}
	for i := range count {
		spec := needle.Spec{
			Case: fmt.Sprintf("llama/exact/%d", i), Seed: 14, Length: lengths[i%len(lengths)],
			Depth: depths[(i+i/len(lengths))%len(depths)],
		}
		if i%2 == 1 {
			spec.Form = needle.FormPlain
		}
		p, err := b.Build(t.Context(), spec)
		require.NoError(t, err)
		tally := byLength[spec.Length]
		tally[1]++
		if got := answer(t, frame(p.Text)); got == p.Truth.Code {
			exact++
			tally[0]++
		} else {
			t.Logf("%d tokens, depth %v: %q, want %q", p.Tokens, spec.Depth, got, p.Truth.Code)
		}
		byLength[spec.Length] = tally
	}
	for _, l := range lengths {
		t.Logf("%d tokens: %d of %d", l, byLength[l][0], byLength[l][1])
	}
	t.Logf("exact: %d of %d prompts", exact, count)
	if float64(exact) < exactShare*float64(count) {
		t.Errorf("%d of %d codes are exact, want %v", exact, count, exactShare)
	}
}

// answer is what the model says greedily, to its end mark.
func answer(t *testing.T, ids []int) string {
	t.Helper()
	m := load(t)
	s := m.NewState()
	var said []int
	for range 8 {
		logits, err := m.Extend(t.Context(), s, ids, 1)
		require.NoError(t, err)
		best, _ := argmax(logits[0])
		if best == nano.EOS {
			return nano.Decode(said)
		}
		said, ids = append(said, best), []int{best}
	}
	return nano.Decode(said) + "..."
}
