package nano_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/nano/fast"
	"github.com/assay-suite/assay/oracle"
	"github.com/assay-suite/assay/oracle/faults"
)

// A prompt in chunks MUST give the bits of one in one shot: a fast row does not depend on the rows beside it. With one
// core and two, with assembly and without.
func TestFastChunksEqualOneShotToTheBit(t *testing.T) {
	for _, r := range records {
		m := load(t, r.model, oracle.Reference()).Fast()
		prompt := r.open(t, r.traces)[len(r.traces)-1].Prompt
		want := inChunks(t, m, prompt, len(prompt))
		for _, size := range []int{1, 2, 3, 5, 6, 7, 31, 64, 97, 390} {
			t.Run(fmt.Sprintf("%s/size-%d", r.model, size), func(t *testing.T) {
				if off := largestDifference(inChunks(t, m, prompt, size), want); off != 0 {
					t.Errorf("logits differ by %.1e", off)
				}
			})
		}
		short := prompt[:97]
		defer fast.Assembly(false)()
		if off := largestDifference(inChunks(t, m, short, 13), inChunks(t, m, short, len(short))); off != 0 {
			t.Errorf("%s without assembly: logits differ by %.1e", r.model, off)
		}
		fast.Assembly(true)
	}
}

// A call that is cut into pieces inside MUST give every logit that was asked for, those of one piece and more.
func TestFastPiecesGiveTheLogitsAskedFor(t *testing.T) {
	m := load(t, "nano-v4", oracle.Reference()).Fast()
	prompt := benchPrompt(1100)
	want := inChunks(t, m, prompt, 100)
	for _, last := range []int{0, 1, 76, 77, 700, 1100} {
		got, err := m.Extend(context.Background(), m.NewState(), prompt, last)
		require.NoError(t, err)
		require.Len(t, got, last)
		if off := largestDifference(got, want[len(want)-last:]); off != 0 {
			t.Errorf("the last %d logits differ by %.1e", last, off)
		}
	}
}

// The whole model under fast operators MUST stay as near to the oracles as fp32 elsewhere does, and answer the same.
func TestFastLogitsAreTheOracles(t *testing.T) {
	for _, r := range records {
		t.Run(r.model, func(t *testing.T) {
			m := load(t, r.model, oracle.Reference())
			for _, tr := range r.open(t, r.traces) {
				want := inChunks(t, m, tr.Prompt, len(tr.Prompt))
				got := inChunks(t, m.Fast(), tr.Prompt, len(tr.Prompt))
				off := largestDifference(got, want)
				t.Logf("%s: logits within %.1e (bound %.0e)", tr.Name, off, logitsBound)
				if !(off <= logitsBound) {
					t.Errorf("%s: logits differ by %.1e, bound %.0e", tr.Name, off, logitsBound)
				}
				for i := range want {
					if a, _ := argmax(got[i]); want[i][a] < slices.Max(want[i])-2*logitsBound {
						t.Errorf("%s: token %d prefers %d", tr.Name, i, a)
					}
				}
			}
		})
	}
}

// An operator that was exchanged MUST stay what it is in a fast model: each fault moves the logits to where it moves
// those of the oracles, or fails as it does there.
func TestFastKeepsExchangedOperators(t *testing.T) {
	m := load(t, "nano-v4", oracle.Reference())
	quick := m.Fast()
	prompt := longPrompt(t)[:300] // beyond the 64 keys that the indexer keeps
	plain := inChunks(t, quick, prompt, 131)
	few := prompt[:24] // where every product is emulated, which does not depend on length
	plainFew := inChunks(t, quick, few, 131)
	for _, f := range faults.All() {
		if f.Name == "select-random" {
			continue // draws its keys from the bits of a score, which are others here
		}
		t.Run(f.Name, func(t *testing.T) {
			prompt, plain := prompt, plain
			if f.Name == "hc-mix-bf16" {
				prompt, plain = few, plainFew
			}
			want, failure := chunked(m.With(f.Apply(m.Ops())), prompt, 131, len(prompt))
			got, err := chunked(quick.With(f.Apply(quick.Ops())), prompt, 131, len(prompt))
			if failure != nil || err != nil {
				require.Equal(t, fmt.Sprint(failure), fmt.Sprint(err))
				return
			}
			off, effect := largestDifference(got, want), largestDifference(plain, want)
			if !(off <= max(logitsBound, 0.02*effect)) {
				t.Errorf("logits differ by %.1e from the fault's on the oracles, whose effect is %.1e", off, effect)
			}
		})
	}
}

// One model MUST serve many sequences at once, each with the bits it has alone.
func TestFastModelIsShared(t *testing.T) {
	m := load(t, "nano-v4", oracle.Reference()).Fast()
	prompts := [][]int{shortPrompt(t), longPrompt(t), benchPrompt(300), longPrompt(t)[:200]}
	want := make([][][]float64, len(prompts))
	for i, p := range prompts {
		want[i] = inChunks(t, m, p, len(p))
	}
	var wg sync.WaitGroup
	for range 3 {
		for i, p := range prompts {
			wg.Go(func() {
				got, err := m.Extend(context.Background(), m.NewState(), p, len(p))
				if off := largestDifference(got, want[i]); err != nil || off != 0 {
					t.Errorf("prompt %d beside others: logits differ by %.1e (%v)", i, off, err)
				}
			})
		}
	}
	wg.Wait()
}
