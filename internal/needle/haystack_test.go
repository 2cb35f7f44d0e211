package needle_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/internal/needle"
)

func opticks(t testing.TB) *needle.Haystack {
	t.Helper()
	h, err := needle.Opticks()
	require.NoError(t, err)
	return h
}

func TestOpticksIsWholeSentences(t *testing.T) {
	h := opticks(t)
	raw, err := fixtures.ReadFile(fixtures.FS, "haystack/opticks.txt.gz")
	require.NoError(t, err)
	// The book without any of its marks: every sentence must be found in it as it stands.
	flat := strings.NewReplacer("_", "", "[", "", "]", "", "(", "", ")", "", "Greek: ", "")
	book := strings.Join(strings.Fields(flat.Replace(string(raw))), " ")
	missing := 0
	seen := map[string]int{}
	for i, s := range h.Sentences {
		if j, ok := seen[s]; ok {
			t.Errorf("sentence %d comes again as %d: %q", j, i, s)
		}
		seen[s] = i
		if strings.ContainsAny(s, "_[]|{}\n\\") || strings.Contains(s, "  ") {
			t.Errorf("sentence %d keeps markup: %q", i, s)
		}
		if first := s[0]; first >= 'a' && first <= 'z' {
			t.Errorf("sentence %d begins in the middle: %q", i, s)
		}
		if !strings.ContainsRune(".?!", rune(strings.TrimRight(s, `"')`)[len(strings.TrimRight(s, `"')`))-1])) {
			t.Errorf("sentence %d has no end: %q", i, s)
		}
		for _, out := range []string{
			"Transcriber", "pgdp", "Proofreading", "Illustration", "Sidenote", "FOOTNOTE", "WILLIAM INNYS",
		} {
			if strings.Contains(s, out) {
				t.Errorf("sentence %d holds %q: %q", i, out, s)
			}
		}
		if !strings.Contains(book, strings.Join(strings.Fields(flat.Replace(s)), " ")) {
			missing++ // a footnote letter in the middle: the text keeps it, the sentence does not
		}
	}
	if missing > 5 {
		t.Errorf("%d of %d sentences do not stand in the book as they are, want at most the 5 with a footnote letter in "+
			"the middle", missing, len(h.Sentences))
	}
	// The book has 100,801 fields by wc; headings, tables, notes and front matter are some 5 %.
	words := 0
	for _, s := range h.Sentences {
		words += len(strings.Fields(s))
	}
	if words < 93_000 || words > 99_000 {
		t.Errorf("%d words are left of 100,801", words)
	}
	if h.SHA256 != needle.OpticksSHA256 || h.Name != "opticks" {
		t.Errorf("haystack is %q %s", h.Name, h.SHA256)
	}
}

func TestNamesDoNotOccur(t *testing.T) {
	h := opticks(t)
	raw, err := fixtures.ReadFile(fixtures.FS, "haystack/opticks.txt.gz")
	require.NoError(t, err)
	book := strings.ToLower(string(raw))
	names := needle.Names()
	if len(names) < 40 {
		t.Errorf("%d names, want at least 40", len(names))
	}
	seen := map[string]bool{}
	for _, n := range names {
		low := strings.ToLower(n)
		if seen[low] {
			t.Errorf("%s is listed twice", n)
		}
		seen[low] = true
		if strings.Trim(low, "abcdefghijklmnopqrstuvwxyz") != "" {
			t.Errorf("%q is not one word of plain letters", n)
		}
		if h.HasWord(n) || strings.Contains(book, " "+low+" ") {
			t.Errorf("%s occurs in Opticks", n)
		}
	}
	if !h.HasWord("Prism") || h.HasWord("Transcriber") || !h.HasNumber("34386") || h.HasNumber("48213") {
		t.Error("word or number look-up of the haystack is wrong")
	}
}

func TestFromFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		p := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(p, []byte(text), 0o600))
		return p
	}
	var prose strings.Builder
	numbers := []string{"First", "Second", "Third", "Fourth", "Fifth", "Sixth", "Seventh", "Eighth", "Ninth", "Tenth"}
	for _, a := range numbers {
		for _, b := range numbers {
			prose.WriteString(a + " of all the " + strings.ToLower(b) + " boat left the quiet harbour.\r\n")
		}
		prose.WriteString("\r\nA HEADING IN CAPITALS\r\n\r\n")
	}
	h, err := needle.FromFile(write("boats.txt", "\ufeff"+prose.String()))
	require.NoError(t, err)
	if len(h.Sentences) != 100 || h.Sentences[0] != "First of all the first boat left the quiet harbour." ||
		h.Units() != 1100 || h.Name != "boats.txt" {
		t.Errorf("%q has %d sentences of %d units, the first %q", h.Name, len(h.Sentences), h.Units(), h.Sentences[0])
	}
	for _, c := range []struct{ name, path, say string }{
		{"missing", filepath.Join(dir, "none.txt"), "ASSAY_HAYSTACK names"},
		{"not text", write("binary", "\xff\xfe\x00"), "not UTF-8"},
		{"too short", write("short.txt", "Only one sentence is here now."), "want at least 400"},
		{"looped", write("loop.txt", strings.Repeat("The same sentence comes back again. ", 500)), "1 sentences"},
		{"empty", write("empty.txt", ""), "ASSAY_HAYSTACK"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := needle.FromFile(c.path)
			if err == nil || !strings.Contains(err.Error(), c.say) {
				t.Errorf("error is %v, want one with %q", err, c.say)
			}
		})
	}
}
