package report

import (
	"fmt"
	"testing"
)

// TestHiddenCharacters: the bidirectional controls of Unicode TR 36 and 9, the byte
// order mark and the C0 and C1 controls never reach a terminal and are named in the
// page.
func TestHiddenCharacters(t *testing.T) {
	runes := []rune{
		0x00, 0x07, 0x08, 0x0b, 0x0d, 0x1b, 0x7f, 0x80, 0x85, 0x9b, 0x9f, 0x061c, 0x200e, 0x200f,
		0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069, 0xfeff,
	}
	for _, r := range runes {
		if got := printable("a" + string(r) + "b"); got != "ab" {
			t.Errorf("printable keeps %U: %q", r, got)
		}
		if got, want := visible("a"+string(r)+"b"), fmt.Sprintf("a‹U+%04X›b", r); got != want {
			t.Errorf("visible(%U) = %q, want %q", r, got, want)
		}
	}
	for _, s := range []string{"Übung ≥ 3 · 漢字 🙂 e\u0301", "two\nlines"} {
		if printable(s) != s || visible(s) != s {
			t.Errorf("ordinary text %q is changed", s)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, row := range []struct {
		name, in string
		n        int
		want     []string
	}{
		{"no limit", "a b c", 0, []string{"a b c"}},
		{"fits exactly", "ab cd", 5, []string{"ab cd"}},
		{"breaks at the last space that fits", "ab cd ef", 5, []string{"ab cd", "ef"}},
		{"long word whole", "a toolongword b", 4, []string{"a", "toolongword", "b"}},
		{"nothing to break at", "toolongword", 4, []string{"toolongword"}},
		{"indent stays", "  ab cd", 4, []string{"  ab", "cd"}},
		{"lines kept", "a\n\nb", 4, []string{"a", "", "b"}},
		{"counts characters", "üü öö", 5, []string{"üü öö"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := wrap(row.in, row.n); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", row.want) {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}
