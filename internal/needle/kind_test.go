package needle_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/needle"
)

// shapes are what a value of a kind looks like, written down here once more.
var shapes = map[needle.Kind]*regexp.Regexp{
	needle.UUID:   regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`),
	needle.Path:   regexp.MustCompile(`^/[a-z]+/[a-z]+/[a-z]+-\d\d/[a-z]+_[a-z]+\.[a-z]+$`),
	needle.Phrase: regexp.MustCompile(`^[a-z]+ [a-z]+ [a-z]+$`),
}

func isCode(s string) bool { return regexp.MustCompile(`^[1-9]\d{4}$`).MatchString(s) }

func TestKindsPlantWhatTheyAskFor(t *testing.T) {
	h := opticks(t)
	b := needle.Builder{Haystack: h, Count: wordCount}
	seen := map[string]bool{}
	for _, kind := range needle.Kinds() {
		for seed := range uint64(12) {
			s := needle.Spec{Case: "fidelity/kind/" + string(kind), Kind: kind, Seed: seed, Length: 1500}
			p, err := b.Build(t.Context(), s)
			require.NoError(t, err, kind)
			again, err := b.Build(t.Context(), s)
			require.NoError(t, err)
			if again.Text != p.Text {
				t.Errorf("%q, seed %d: another prompt on the second build", kind, seed)
			}
			if p.Truth.Kind != kind || p.Truth.Code == "" || seen[p.Truth.Code] {
				t.Errorf("%q, seed %d: truth %+v", kind, seed, p.Truth)
			}
			seen[p.Truth.Code] = true
			if n, _ := wordCount(t.Context(), p.Text); n < 1470 || n > 1530 {
				t.Errorf("%q, seed %d: %d tokens", kind, seed, n)
			}
			if shape, ok := shapes[kind]; ok != (shape != nil && shape.MatchString(p.Truth.Code)) ||
				!ok && !isCode(p.Truth.Code) {
				t.Errorf("%q, seed %d: value %q", kind, seed, p.Truth.Code)
			}
			// Every value once in the text; the question and the filler give none away.
			body, question, _ := strings.Cut(p.Text, "Question: ")
			if strings.Contains(p.Truth.Haystack+question, p.Truth.Code) {
				t.Errorf("%q, seed %d: %q stands in the filler or the question %q", kind, seed, p.Truth.Code, question)
			}
			for _, v := range append([]string{p.Truth.Code}, append(p.Truth.Others, p.Truth.Codes...)...) {
				if strings.Count(body, v) != 1 {
					t.Errorf("%q, seed %d: %q stands %d times", kind, seed, v, strings.Count(body, v))
				}
			}
			for _, c := range p.Copies {
				if sentence, _, _ := strings.Cut(p.Text[c.Byte:], ". "); !strings.Contains(sentence+".", p.Truth.Code) &&
					len(p.Copies) == 1 {
					t.Errorf("%q, seed %d: no needle at byte %d: %q", kind, seed, c.Byte, sentence)
				}
			}
		}
	}
}

func TestOrderOfTellings(t *testing.T) {
	b := needle.Builder{Haystack: opticks(t), Count: wordCount}
	for which, say := range map[int]string{0: "the last one", 1: "the first one", 3: "the third one", 5: "the fifth one"} {
		p, err := b.Build(t.Context(), needle.Spec{
			Case:   "fidelity/nth",
			Kind:   needle.Nth,
			Count:  5,
			Which:  which,
			Length: 900,
		})
		require.NoError(t, err)
		told := regexp.MustCompile(`The access code for the `+p.Truth.Name+
			` archive is (\d+)\.`).FindAllStringSubmatch(p.Text, -1)
		require.Len(t, told, 5)
		at := which - 1
		if which == 0 {
			at = 4
		}
		if told[at][1] != p.Truth.Code || !strings.Contains(p.Text, "is told five times. What is "+say+"?") ||
			len(p.Truth.Others) != 4 {
			t.Errorf("which %d: asked %q, want %s of %q", which, p.Text[len(p.Text)-120:], p.Truth.Code, told)
		}
	}
}

func TestSeveralAreAskedInAnotherOrder(t *testing.T) {
	b := needle.Builder{Haystack: opticks(t), Count: wordCount}
	shuffled := 0
	for seed := range uint64(10) {
		p, err := b.Build(t.Context(), needle.Spec{
			Case:   "fidelity/several",
			Kind:   needle.Several,
			Count:  4,
			Seed:   seed,
			Length: 900,
		})
		require.NoError(t, err)
		_, question, _ := strings.Cut(p.Text, "access codes for ")
		names := regexp.MustCompile(`[A-Z][a-z]+`).FindAllString(question[:strings.Index(question, "?")], -1)
		require.Len(t, names, 4)
		var at []int
		for i, n := range names {
			k := strings.Index(p.Text, needle.Sentence(n, p.Truth.Codes[i]))
			if k < 0 {
				t.Errorf("seed %d: no needle %s", seed, needle.Sentence(n, p.Truth.Codes[i]))
			}
			at = append(at, k)
		}
		if !slices.IsSorted(at) {
			shuffled++
		}
	}
	if shuffled < 7 { // 23 of 24 orders are
		t.Errorf("only %d of 10 questions ask in another order than that of the text", shuffled)
	}
}

func TestDistractorKeysDifferInOneWord(t *testing.T) {
	b := needle.Builder{Haystack: opticks(t), Count: wordCount}
	places := map[int]bool{}
	for seed := range uint64(12) {
		p, err := b.Build(t.Context(), needle.Spec{
			Case:   "fidelity/near",
			Kind:   needle.Distractors,
			Count:  6,
			Seed:   seed,
			Length: 900,
		})
		require.NoError(t, err)
		keys := regexp.MustCompile(`The access code for the (\w+) (\w+) archive is (\d+)\.`).FindAllStringSubmatch(p.Text, -1)
		require.Len(t, keys, 7)
		first := map[string]bool{}
		for i, k := range keys {
			first[k[1]] = true
			if k[2] != keys[0][2] {
				t.Errorf("seed %d: keys %q and %q", seed, k[1:3], keys[0][1:3])
			}
			if k[3] == p.Truth.Code {
				places[i] = true
				if k[1]+" "+k[2] != p.Truth.Name ||
					!strings.HasSuffix(p.Text, "Question: what is the access code for the "+p.Truth.Name+
						" archive? Answer with only the code.") {
					t.Errorf("seed %d: asks %q", seed, p.Text[len(p.Text)-90:])
				}
			}
		}
		if len(first) != 7 || len(p.Copies) != 1 {
			t.Errorf("seed %d: %d different keys, %d copies", seed, len(first), len(p.Copies))
		}
	}
	if len(places) < 4 {
		t.Errorf("over 12 seeds the wanted one stood in places %v of 7 only", places)
	}
}

func lettered(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) })
}

func TestGapSharesNoWord(t *testing.T) {
	for _, l := range needle.Landmarks() {
		for _, m := range needle.Landmarks() {
			asked := lettered(needle.GapQuestion(m[1]))
			for _, w := range lettered(needle.GapSentence(l[0], "48213")) {
				if slices.Contains(asked, w) {
					t.Errorf("%q and the question about %s share %q", l[0], m[1], w)
				}
			}
		}
	}
	b := needle.Builder{Haystack: opticks(t), Count: wordCount}
	for seed := range uint64(20) {
		p, err := b.Build(t.Context(), needle.Spec{
			Case:   "fidelity/gap",
			Kind:   needle.Gap,
			Others: 4,
			Seed:   seed,
			Length: 700,
		})
		require.NoError(t, err)
		if strings.Count(p.Text, "old clockmaker") != 5 || len(p.Truth.Others) != 4 {
			t.Errorf("seed %d: %d needles", seed, strings.Count(p.Text, "old clockmaker"))
		}
		city := ""
		for _, l := range needle.Landmarks() {
			if strings.HasSuffix(p.Text, needle.GapQuestion(l[1])) &&
				strings.Contains(p.Text, needle.GapSentence(l[0], p.Truth.Code)) {
				city = l[1]
			}
		}
		if city == "" {
			t.Errorf("seed %d: the question is not about the needle: %q", seed, p.Text[len(p.Text)-120:])
		}
		if h := strings.ToLower(p.Truth.Haystack); strings.Contains(h, " "+strings.ToLower(city)) {
			t.Errorf("seed %d: the filler speaks of %s", seed, city)
		}
	}
}

func TestKindsWithPlacements(t *testing.T) {
	b := needle.Builder{Haystack: opticks(t), Count: wordCount}
	for _, kind := range []needle.Kind{needle.UUID, needle.Path, needle.Phrase, needle.Gap} {
		for _, s := range []needle.Spec{
			{Placement: needle.Start},
			{Placement: needle.Tail},
			{Placement: needle.JustInside, Window: 256},
			{Placement: needle.Spread, Repeat: 3},
			{Depth: 0.7, Others: 3},
		} {
			s.Case, s.Kind, s.Length = fmt.Sprintf("fidelity/%s/%s", kind, s.Placement), kind, 1200
			p, err := b.Build(t.Context(), s)
			require.NoError(t, err)
			want := max(1, s.Repeat)
			if strings.Count(p.Text, p.Truth.Code) != want || len(p.Copies) != want || len(p.Truth.Others) != s.Others {
				t.Errorf("%q at %q: %d copies, %d places, %d others", kind, s.Placement, strings.Count(p.Text, p.Truth.Code),
					len(p.Copies), len(p.Truth.Others))
			}
			from := p.Copies[0].FromEnd
			if s.Placement == needle.Tail && from > 70 || s.Placement == needle.JustInside && (from > 256 || from < 180) ||
				s.Placement == needle.Start && p.Copies[0].Before > 5 {
				t.Errorf("%q at %q: place %+v", kind, s.Placement, p.Copies[0])
			}
		}
	}
}

func TestKindsRefuse(t *testing.T) {
	b := needle.Builder{Haystack: opticks(t), Count: wordCount}
	for say, s := range map[string]needle.Spec{
		`needle kind "riddle" is unknown`:              {Kind: "riddle"},
		"count 3 and which 0 are set":                  {Count: 3},
		"count is 2, the kind \"uuid\" has none":       {Kind: needle.UUID, Count: 2},
		"count is 13, want 1 to 12":                    {Kind: needle.Nth, Count: 13},
		"count is -1, want 1 to 8":                     {Kind: needle.Several, Count: -1},
		"which is 6":                                   {Kind: needle.Nth, Count: 5, Which: 6},
		"which is 1":                                   {Kind: needle.Gap, Which: 1},
		"spreads its needles evenly":                   {Kind: needle.Several, Depth: 0.5},
		"neither depth nor placement":                  {Kind: needle.Nth, Placement: needle.Tail},
		"generates its own distractors":                {Kind: needle.Distractors, Others: 2},
		"only the digits kind takes one":               {Kind: needle.Path, Code: "48213"},
		"only the digits kind has forms":               {Kind: needle.Path, Form: needle.FormPlain},
		"draws a landmark":                             {Kind: needle.Gap, Name: "Lisbon"},
		"prompt \"fidelity/x\": count is 16, want 1 t": {Kind: needle.Distractors, Count: 16},
	} {
		s.Case, s.Length = "fidelity/x", 900
		if _, err := b.Build(t.Context(), s); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("error is %v, want one with %q", err, say)
		}
	}
}
