package needle_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/internal/needle"
)

func TestTomSawyerIsWholeSentences(t *testing.T) {
	h, err := needle.TomSawyer()
	require.NoError(t, err)
	packed, err := fixtures.FS.ReadFile("haystack/tom-sawyer.txt.gz")
	require.NoError(t, err)
	z, err := gzip.NewReader(bytes.NewReader(packed))
	require.NoError(t, err)
	raw, err := io.ReadAll(z)
	require.NoError(t, err)
	sum := sha256.Sum256(raw)
	if got := hex.EncodeToString(sum[:]); got != needle.TomSawyerSHA256 || h.SHA256 != got || h.Name != "tom-sawyer" {
		t.Errorf("text has sha256 %s, haystack %q says %s", got, h.Name, h.SHA256)
	}
	// The licence asks for this: without their name the text is free.
	for _, out := range []string{"Gutenberg", "GUTENBERG", "EBook", "Produced by"} {
		if bytes.Contains(raw, []byte(out)) {
			t.Errorf("the text still says %q", out)
		}
	}
	book := strings.Join(strings.Fields(string(raw)), " ")
	seen := map[string]bool{}
	words := 0
	for i, s := range h.Sentences {
		if seen[s] || !strings.Contains(book, s) {
			t.Errorf("sentence %d comes again or stands not in the book: %q", i, s)
		}
		seen[s] = true
		words += len(strings.Fields(s))
		if strings.ContainsAny(s, "_[]|{}\n\\*") || strings.Count(s, `"`)%2 != 0 || strings.Contains(s, "CHAPTER") {
			t.Errorf("sentence %d keeps markup or half a speech: %q", i, s)
		}
		if first := strings.TrimLeft(s, `"'(`)[0]; first < 'A' || first > 'Z' {
			t.Errorf("sentence %d begins in the middle: %q", i, s)
		}
	}
	// The book has some 70,000 fields; half-sentences of speech and asides are left out.
	if words < 45_000 || words > 70_000 {
		t.Errorf("%d words are left of 70,000", words)
	}
	if n := len(needle.Names()); n-countIn(h, needle.Names()) < 40 {
		t.Errorf("of %d names %d occur in the book", n, countIn(h, needle.Names()))
	}
	p, err := needle.Builder{Haystack: h, Count: wordCount}.Build(t.Context(), needle.Spec{
		Case:   "fidelity/sawyer",
		Length: 32_768,
		Depth:  0.5,
	})
	require.NoError(t, err)
	checkPrompt(t, h, p, 1)
}

func countIn(h *needle.Haystack, names []string) int {
	return len(slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !h.HasWord(n) }))
}
