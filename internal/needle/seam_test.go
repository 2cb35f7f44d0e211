package needle_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/needle"
)

// seamRoom is the longest sentence of Opticks in tokens of pairCount, made up in filler words or left
// away: how much shorter than asked a prompt may be.
const seamRoom = 640

func TestOffsetsAreExact(t *testing.T) {
	h := opticks(t)
	for name, count := range map[string]needle.Counter{
		"words": wordCount, "byte pairs": pairCount, "dear first word": firstWordCount,
	} {
		for _, kind := range []needle.Kind{needle.Digits, needle.UUID} {
			for _, seam := range []int{256, 1024, 3800} {
				var offsets []int
				for o := seam - 17; o <= seam+17; o++ {
					offsets = append(offsets, o)
				}
				calls := 0
				b := needle.Builder{Haystack: h, Count: func(ctx context.Context, text string) (int, error) {
					calls++
					return count(ctx, text)
				}}
				ps, err := b.BuildAt(t.Context(), needle.Spec{Case: "fidelity/seam/x", Kind: kind, Length: 4096}, offsets...)
				require.NoError(t, err, "%s, %q, seam %d", name, kind, seam)
				told := 0
				for i, p := range ps {
					n, _ := count(t.Context(), p.Text)
					cut := p.Copies[0].Byte
					at, _ := count(t.Context(), strings.TrimSpace(p.Text[:cut]))
					if at != offsets[i] || p.Copies[0].Before != at || p.Tokens != n || p.Copies[0].FromEnd != n-at {
						t.Errorf("%s, %q: offset %d of %d tokens, told %+v of %d, want %d", name, kind, at, n, p.Copies[0], p.Tokens,
							offsets[i])
					}
					if sentence, _, _ := strings.Cut(p.Text[cut:], ". "); !strings.Contains(sentence, p.Truth.Code) ||
						strings.Count(p.Text, p.Truth.Code) != 1 {
						t.Errorf("%s, %q: no needle at %q", name, kind, sentence)
					}
					if n < 4096-81-34-seamRoom || n > 4096+81 {
						t.Errorf("%s, %q, seam %d: %d tokens, want 4096 or less", name, kind, seam, n)
					}
					if got, want := strings.Replace(p.Text, p.Pad+" ", "", 1),
						strings.Replace(ps[0].Text, ps[0].Pad+" ", "", 1); got != want {
						t.Errorf("%s, %q: more than the filler words differs", name, kind)
					}
					told += p.Counts
				}
				if told != calls || calls > 6*len(offsets)+20 {
					t.Errorf("%s, %q, seam %d: %d counts, told %d", name, kind, seam, calls, told)
				}
			}
		}
	}
}

func TestOffsetsRefuse(t *testing.T) {
	b := needle.Builder{Haystack: opticks(t), Count: wordCount}
	for say, c := range map[string]struct {
		s  needle.Spec
		at []int
	}{
		"no offset is given":          {needle.Spec{Length: 900}, nil},
		"more than 4096 tokens apart": {needle.Spec{Length: 9000}, []int{100, 5000}},
		"in a prompt of 900 tokens":   {needle.Spec{Length: 900}, []int{901}},
		"only a single needle":        {needle.Spec{Length: 900, Kind: needle.Nth}, []int{400}},
		`placement "tail"`:            {needle.Spec{Length: 900, Placement: needle.Tail}, []int{400}},
		"no sentence ends within":     {needle.Spec{Length: 900}, []int{3}},
	} {
		c.s.Case = "fidelity/seam/x"
		if _, err := b.BuildAt(t.Context(), c.s, c.at...); err == nil || !strings.Contains(err.Error(), say) ||
			!strings.Contains(err.Error(), c.s.Case) {
			t.Errorf("error is %v, want one with %q", err, say)
		}
	}
}
