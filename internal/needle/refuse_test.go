package needle_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/assay-suite/assay/internal/needle"
)

func TestCodes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	seen := map[string]bool{}
	for range 2000 {
		c := needle.NewCode(r, nil)
		seen[c] = true
		digits := map[rune]bool{}
		for _, d := range c {
			digits[d] = true
		}
		if len(c) != 5 || c[0] == '0' || len(digits) < 4 {
			t.Errorf("code %q", c)
		}
		for _, habit := range []string{
			"012", "123", "234", "345", "456", "567", "678", "789", "987", "876", "765", "654", "543", "432", "321", "210",
		} {
			if strings.Contains(c, habit) {
				t.Errorf("code %q holds %q", c, habit)
			}
		}
	}
	if len(seen) < 1900 {
		t.Errorf("2000 draws gave only %d codes", len(seen))
	}
	if c := needle.NewCode(r, func(string) bool { return false }); c != "" {
		t.Errorf("nothing is allowed, yet %q", c)
	}
}

func TestQuestionForms(t *testing.T) {
	for f, want := range map[needle.Form]string{
		"":               "Question: what is the access code for Lisbon? Answer with only the code.",
		needle.FormOnly:  "Question: what is the access code for Lisbon? Answer with only the code.",
		needle.FormPlain: "What is the access code for the Lisbon archive?",
	} {
		if got, err := f.Question("Lisbon"); err != nil || got != want {
			t.Errorf("form %q asks %q (%v)", f, got, err)
		}
	}
	if got := needle.Sentence("Lisbon", "48213"); got != "The access code for the Lisbon archive is 48213." {
		t.Errorf("needle %q", got)
	}
}

func TestBuildRefuses(t *testing.T) {
	h := opticks(t)
	ok := needle.Builder{Haystack: h, Count: wordCount}
	good := needle.Spec{Case: "fidelity/x", Length: 300}
	change := func(f func(*needle.Spec)) needle.Spec { s := good; f(&s); return s }
	down := errors.New("connection refused")
	for _, c := range []struct {
		name string
		b    needle.Builder
		s    needle.Spec
		say  string
	}{
		{
			"more than there is", ok, change(func(s *needle.Spec) { s.Length = 130_000 }),
			"never looped: name a longer one in ASSAY_HAYSTACK",
		},
		{"no room", ok, change(func(s *needle.Spec) { s.Length = 20 }), "leave no room"},
		{
			"no room for eight copies", ok, change(func(s *needle.Spec) { s.Placement, s.Length = needle.Spread, 100 }),
			"leave no room",
		},
		{"depth", ok, change(func(s *needle.Spec) { s.Depth = 1.5 }), "depth is 1.5"},
		{"depth NaN", ok, change(func(s *needle.Spec) { s.Depth = math.NaN() }), "depth is NaN"},
		{"window", ok, change(func(s *needle.Spec) { s.Placement = needle.JustInside }), "window is 0"},
		{"repeat", ok, change(func(s *needle.Spec) { s.Placement, s.Repeat = needle.Spread, 65 }), "repeat is 65"},
		{"placement", ok, change(func(s *needle.Spec) { s.Placement = "middle" }), `placement "middle" is unknown`},
		{"form", ok, change(func(s *needle.Spec) { s.Form = "haiku" }), `form "haiku" is unknown`},
		{"code", ok, change(func(s *needle.Spec) { s.Code = "12a45" }), `code "12a45"`},
		{"others", ok, change(func(s *needle.Spec) { s.Others = 17 }), "17 further needles"},
		{"length", ok, change(func(s *needle.Spec) { s.Length = 0 }), "length is 0"},
		{"nothing to build from", needle.Builder{}, good, "no haystack"},
		{
			"counter down",
			needle.Builder{Haystack: h, Count: func(context.Context, string) (int, error) { return 0, down }},
			good, "connection refused",
		},
		{
			"counter says zero", needle.Builder{
				Haystack: h,
				Count:    func(context.Context, string) (int, error) { return 0, nil },
			}, good, "says 0 tokens",
		},
		{
			"counter deaf to its text", needle.Builder{
				Haystack: h,
				Count:    func(context.Context, string) (int, error) { return 77, nil },
			}, good, "says 77 tokens for texts of",
		},
		{"ratio", needle.Builder{Haystack: h, Count: wordCount, TokensPerUnit: -1}, good, "tokens per word"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := c.b.Build(t.Context(), c.s)
			if err == nil || !strings.Contains(err.Error(), c.say) {
				t.Errorf("error is %v, want one with %q", err, c.say)
			}
		})
	}
	_, err := needle.Builder{
		Haystack: h,
		Count:    func(context.Context, string) (int, error) { return 0, down },
	}.Build(t.Context(), good)
	if !errors.Is(err, down) {
		t.Errorf("the counter's error is lost: %v", err)
	}
}
