package needle_test

import (
	"encoding/json"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/needle"
)

// pieces splits as byte-pair tokenizers do before they merge: runs of letters, up to three digits,
// runs of other marks; blanks go with what follows. No token is longer than a piece, so 50 tokens in
// a row hold at most 50 pieces, and at 1.35 tokens a piece or fewer at least 37.
func pieces(text string) []uint64 {
	var out []uint64
	kind := func(r rune) int {
		switch {
		case unicode.IsLetter(r):
			return 1
		case unicode.IsDigit(r):
			return 2
		case unicode.IsSpace(r):
			return 3
		}
		return 4
	}
	h := fnv.New64a()
	last, n := 0, 0
	flush := func() {
		if n > 0 {
			out = append(out, h.Sum64())
			h.Reset()
			n = 0
		}
	}
	for i, r := range text {
		k := kind(r)
		if k != last || k == 2 && n == 3 {
			flush()
		}
		if last = k; k != 3 {
			_, _ = h.Write([]byte(text[i : i+len(string(r))]))
			n++
		}
	}
	flush()
	return out
}

// repeats counts spans of n pieces that occur before, by a rolling hash mod 2^64.
func repeats(p []uint64, n int) int {
	const base = 0x9e3779b97f4a7c15
	high := uint64(1)
	for range n {
		high *= base
	}
	var sum uint64
	var all []uint64
	for i, x := range p {
		sum = sum*base + x
		if i >= n {
			sum -= high * p[i-n]
		}
		if i >= n-1 {
			all = append(all, sum)
		}
	}
	slices.Sort(all)
	return len(all) - len(slices.Compact(all))
}

const million = 1_000_000

func TestNoSpanRepeats(t *testing.T) {
	for _, c := range []struct {
		name  string
		make  func(seed uint64, units int) (*needle.Haystack, error)
		units int // that come to a million pieces
	}{{"generated", needle.Generated, 1_100_000}, {"agent", needle.Agent, 1_250_000}} {
		h, err := c.make(1, c.units)
		require.NoError(t, err)
		p := pieces(strings.Join(h.Sentences, "\n"))
		if len(p) < million {
			t.Errorf("%s: %d pieces, want a million", c.name, len(p))
		}
		if n := repeats(p, 37); n != 0 {
			t.Errorf("%s: %d spans of 37 pieces come again over %d", c.name, n, len(p))
		}
		// Planted: a stretch of the text with its first ten lines once more at the end.
		loop := slices.Concat(h.Sentences[:2000], h.Sentences[:10])
		if repeats(pieces(strings.Join(loop, "\n")), 37) < 50 {
			t.Errorf("%s: a loop goes unseen", c.name)
		}
	}
}

func TestGeneratedIsAPureFunction(t *testing.T) {
	for _, text := range []func(seed uint64, units int) (*needle.Haystack, error){needle.Generated, needle.Agent} {
		short, err := text(7, 4000)
		require.NoError(t, err)
		again, err := text(7, 4000)
		require.NoError(t, err)
		long, err := text(7, 9000)
		require.NoError(t, err)
		other, err := text(8, 4000)
		require.NoError(t, err)
		if short.SHA256 != again.SHA256 || !slices.Equal(short.Sentences, again.Sentences) {
			t.Errorf("%s: another text on the second call", short.Name)
		}
		if !slices.Equal(short.Sentences, long.Sentences[:len(short.Sentences)]) || long.SHA256 == short.SHA256 ||
			long.Name == short.Name {
			t.Errorf("%s: the longer text does not begin with it", short.Name)
		}
		if other.SHA256 == short.SHA256 || slices.Contains(other.Sentences, short.Sentences[0]) {
			t.Errorf("%s: seed 8 writes the same", short.Name)
		}
		if short.Units() < 4000 || short.Units() > 4200 {
			t.Errorf("%s: %d units, want 4000", short.Name, short.Units())
		}
	}
}

func TestGeneratedText(t *testing.T) {
	prose, err := needle.Generated(3, 200_000)
	require.NoError(t, err)
	whole := regexp.MustCompile(`^"?[A-Z].*[.?]$`)
	for _, s := range prose.Sentences {
		if n := needle.Units(s); n > 25 || strings.ContainsAny(s, "{}_") || strings.Contains(s, "  ") {
			t.Errorf("sentence of %d units: %q", n, s)
		}
		if !whole.MatchString(s) {
			t.Errorf("no sentence: %q", s)
		}
	}
	lines, err := needle.Agent(3, 200_000)
	require.NoError(t, err)
	registers := map[string]int{}
	for _, s := range lines.Sentences {
		if strings.ContainsAny(s, "\n") || needle.Units(s) > 120 {
			t.Errorf("line: %q", s)
		}
		body := s
		for _, head := range []string{"tool_call ", "tool_result "} {
			body = strings.TrimPrefix(body, head)
		}
		switch {
		case strings.HasPrefix(body, `{"`):
			registers["json"]++
			if strings.Contains(body, `"parameters"`) || strings.Contains(body, `"input_schema"`) {
				registers["schema"]++
			}
			if !json.Valid([]byte(body)) {
				t.Errorf("no JSON: %q", body)
			}
		case regexp.MustCompile(`^2026-\d\d-\d\d[T ]\d\d:\d\d:\d\d`).MatchString(s):
			registers["log"]++
		case strings.HasPrefix(s, "$ "):
			registers["shell"]++
		}
		if regexp.MustCompile(`\w+/\w+/`).MatchString(s) {
			registers["path"]++
		}
	}
	for _, r := range []string{"json", "schema", "log", "shell", "path"} {
		if registers[r]*20 < len(lines.Sentences) {
			t.Errorf("%d of %d lines are of the register %s", registers[r], len(lines.Sentences), r)
		}
	}
	for _, h := range []*needle.Haystack{prose, lines} {
		if n := countIn(h, needle.Names()); n != 0 || h.HasWord("code") || h.HasWord("archive") {
			t.Errorf("%s: %d names of needles occur, code %v, archive %v", h.Name, n, h.HasWord("code"), h.HasWord("archive"))
		}
	}
}

func TestPromptsOfGeneratedText(t *testing.T) {
	for _, name := range []string{"opticks", "tom-sawyer", "generated", "agent"} {
		h, err := needle.Open(name, 5, 40_000)
		require.NoError(t, err)
		b := needle.Builder{Haystack: h, Count: pairCount}
		for _, kind := range needle.Kinds() {
			for _, length := range []int{512, 8192} {
				p, err := b.Build(t.Context(), needle.Spec{Case: "fidelity/" + name, Kind: kind, Length: length})
				require.NoError(t, err)
				if n := strings.Count(p.Text, p.Truth.Code); n != 1 || strings.Contains(p.Text, "\n") != (name == "agent") {
					t.Errorf("%s, %q, %d: %d needles", name, kind, length, n)
				}
				if kind == needle.Digits && !strings.HasPrefix(p.Text[p.Copies[0].Byte:],
					needle.Sentence(p.Truth.Name, p.Truth.Code)) {
					t.Errorf("%s, %d: no needle at byte %d", name, length, p.Copies[0].Byte)
				}
			}
		}
		ps, err := b.BuildExact(t.Context(), needle.Spec{Case: "fidelity/" + name, Depth: 0.5}, 2048, 2049, 2051)
		require.NoError(t, err)
		for i, want := range []int{2048, 2049, 2051} {
			if n, _ := pairCount(t.Context(), ps[i].Text); n != want {
				t.Errorf("%s: %d tokens, want exactly %d", name, n, want)
			}
		}
	}
	for name, say := range map[string]string{"none.txt": "ASSAY_HAYSTACK", "generated": "want 400 to 8000000"} {
		if _, err := needle.Open(name, 1, 100); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}
