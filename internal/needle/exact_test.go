package needle_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/needle"
)

// firstWordCount is pairCount with a habit of byte-pair tokenizers: the first word of a text has no
// blank before it and takes more tokens, by its length.
func firstWordCount(ctx context.Context, text string) (int, error) {
	n, err := pairCount(ctx, text)
	first, _, _ := strings.Cut(text, " ")
	return n + len(first)%4, err
}

func TestExactLengths(t *testing.T) {
	h := opticks(t)
	for _, c := range []struct {
		name  string
		count needle.Counter
		base  int
		worst int // counts per length, averaged
	}{
		{"words", wordCount, 512, 1},
		{"byte pairs", pairCount, 2048, 5},
		{"byte pairs, dear first word", firstWordCount, 1024, 5},
		{"bytes", byteCount, 4096, 12},
	} {
		for _, pad := range []needle.Pad{needle.PadFront, needle.PadBack} {
			var lengths []int
			for r := range 65 { // all residues mod 4 and mod 64, some of 128 and 256
				lengths = append(lengths, c.base+r)
			}
			lengths = append(lengths, c.base+127, c.base+128, c.base+255, c.base+256)
			calls := 0
			b := needle.Builder{Haystack: h, Count: func(ctx context.Context, text string) (int, error) {
				calls++
				return c.count(ctx, text)
			}}
			ps, err := b.BuildExact(t.Context(), needle.Spec{Case: "fidelity/residue/x", Depth: 0.4, Pad: pad}, lengths...)
			require.NoError(t, err, "%s, %q", c.name, pad)
			told := 0
			for i, p := range ps {
				if n, _ := c.count(t.Context(), p.Text); n != lengths[i] || p.Tokens != lengths[i] {
					t.Errorf("%s, pad %q: %d tokens, told %d, want exactly %d", c.name, pad, n, p.Tokens, lengths[i])
				}
				// Without its filler words every prompt is the same.
				if got, want := strings.Replace(p.Text, p.Pad+" ", "", 1),
					strings.Replace(ps[0].Text, ps[0].Pad+" ", "", 1); got != want {
					t.Errorf("%s, pad %q, length %d: more than the filler words differs", c.name, pad, lengths[i])
				}
				at := strings.Index(p.Text, p.Pad)
				if front := at < p.Copies[0].Byte; front != (pad == needle.PadFront) {
					t.Errorf("%s, pad %q: filler words at byte %d, needle at %d", c.name, pad, at, p.Copies[0].Byte)
				}
				if !strings.HasPrefix(p.Text[p.Copies[0].Byte:], needle.Sentence(p.Truth.Name, p.Truth.Code)) {
					t.Errorf("%s, pad %q: no needle at byte %d", c.name, pad, p.Copies[0].Byte)
				}
				told += p.Counts
			}
			if told != calls || calls > c.worst*len(lengths)+10 {
				t.Errorf("%s, pad %q: %d counts, told %d, want at most %d", c.name, pad, calls, told, c.worst*len(lengths)+10)
			}
			again, err := b.BuildExact(t.Context(), needle.Spec{Case: "fidelity/residue/x", Depth: 0.4, Pad: pad}, lengths...)
			require.NoError(t, err)
			for i := range ps {
				if again[i].Text != ps[i].Text {
					t.Errorf("%s, pad %q: another prompt on the second build", c.name, pad)
				}
			}
		}
	}
}

func TestExactRefuses(t *testing.T) {
	h := opticks(t)
	good := needle.Spec{Case: "fidelity/residue/x"}
	down := errors.New("connection refused")
	even := func(ctx context.Context, text string) (int, error) { // no word of one token
		n, err := wordCount(ctx, text)
		return 2 * n, err
	}
	for _, c := range []struct {
		name    string
		count   needle.Counter
		spec    needle.Spec
		lengths []int
		say     string
	}{
		{"no length", wordCount, good, nil, "no length is given"},
		{"too far apart", wordCount, good, []int{500, 5000}, "more than 4096 tokens apart"},
		{"odd length, even tokenizer", even, good, []int{2001}, "no filler words make it exactly 2001"},
		{"pad", wordCount, needle.Spec{Case: "x", Pad: "middle"}, []int{500}, `pad "middle" is unknown`},
		{"no room", wordCount, good, []int{50}, "leave no room"},
		{
			"counter down", func(context.Context, string) (int, error) { return 0, down }, good,
			[]int{500},
			"connection refused",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := needle.Builder{Haystack: h, Count: c.count}.BuildExact(t.Context(), c.spec, c.lengths...)
			if err == nil || !strings.Contains(err.Error(), c.say) || !strings.Contains(err.Error(), c.spec.Case) {
				t.Errorf("error is %v, want one with %q", err, c.say)
			}
		})
	}
}
