package needle_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/assay-suite/assay/internal/needle"
)

var truth = needle.Truth{
	Name: "Lisbon", Code: "48213", Others: []string{"77120", "90356"},
	Haystack: "The Sun shining into my dark Chamber through a Hole in the Window-shut, I placed a Prism at the Distance " +
		"of 12 Feet. " +
		"In the Year 1675 the Numbers were 34386 and 6300, and the Light was refracted upwards.",
}

func TestClassify(t *testing.T) {
	stop, length := "stop", "length"
	for _, c := range []struct {
		name, text, finish string
		want               needle.Class
	}{
		{"code alone", "48213", stop, needle.Exact},
		{"code and stop", "48213.", stop, needle.Exact},
		{"sentence", "The access code for the Lisbon archive is 48213.", stop, needle.Exact},
		{"digits apart", "4 8 2 1 3", stop, needle.Exact},
		{"digits with hyphens", "4-8-2-1-3", stop, needle.Exact},
		{"digits with commas", "4, 8, 2, 1, 3", stop, needle.Exact},
		{"digits on lines", "4\n8\n2\n1\n3\n", stop, needle.Exact},
		{"thousands comma", "48,213", stop, needle.Exact},
		{"thousands dot", "48.213", stop, needle.Exact},
		{"grouped", "48 213", stop, needle.Exact},
		{"bold", "**48213**", stop, needle.Exact},
		{"code block", "```\n48213\n```", stop, needle.Exact},
		{"boxed", `\boxed{48213}`, stop, needle.Exact},
		{"quoted", `"48213"`, stop, needle.Exact},
		{"glued prefix", "code:48213", stop, needle.Exact},
		{"glued letters", "is48213", stop, needle.Exact},
		{"full width digits", "４８２１３", stop, needle.Exact},
		{"arabic-indic digits", "٤٨٢١٣", stop, needle.Exact},
		{"mathematical bold digits", "𝟒𝟖𝟐𝟏𝟑", stop, needle.Exact},
		{"zero-width joints", "4\u200b8\u200b2\u200b1\u200b3", stop, needle.Exact},
		{"keycaps", "4\ufe0f\u20e38\ufe0f\u20e32\ufe0f\u20e31\ufe0f\u20e33\ufe0f\u20e3", stop, needle.Exact},
		{"spelled", "four eight two one three", stop, needle.Exact},
		{"spelled with marks", "Four, eight, two, one, three.", stop, needle.Exact},
		{"list number before", "1. 48213", stop, needle.Exact},
		{"a year beside it", "According to the text of 1704, it is 48213.", stop, needle.Exact},
		{"said twice", "48213. So the code is 48213.", stop, needle.Exact},
		{"did not stop", "4821348213482134821", length, needle.Exact},
		{"did not stop, apart", "4 8 2 1 3 4 8 2 1 3", length, needle.Exact},
		{"exact although at the limit", "48213", length, needle.Exact},
		{"thoughts before", "<think>Is it 77120? No.</think>48213", stop, needle.Exact},
		{"thoughts without opening tag", "Let me see, 77120?\n</think>\n\n48213", stop, needle.Exact},
		{"thoughts in capitals", "<THINK>77120</THINK> 48213", stop, needle.Exact},
		{"two thoughts", "<think>77120</think> <think>90356</think> 48213", stop, needle.Exact},
		{
			"channels", "<|channel|>analysis<|message|>77120?<|end|><|start|>assistant<|channel|>final<|message|>48213<|" +
				"return|>", stop, needle.Exact,
		},
		{"end marker", "48213<|im_end|>", stop, needle.Exact},
		{"nano, words after", "48213 . w17 w500", stop, needle.Exact},

		{"last digit wrong", "48214", stop, needle.NearMiss},
		{"two digits wrong", "48294", stop, needle.NearMiss},
		{"swapped", "48231", stop, needle.NearMiss},
		{"digit lost", "4813", stop, needle.NearMiss},
		{"digit added", "482137", stop, needle.NearMiss},
		{"digit added, apart", "4 8 2 1 3 7", stop, needle.NearMiss},
		{"only thoughts hold it", "<think>48213</think>48214", stop, needle.NearMiss},
		{"hedged", "48213 or 61595", stop, needle.NearMiss},
		{"denied but near", "I am not sure, perhaps 48218", stop, needle.NearMiss},

		{"another needle", "77120", stop, needle.OtherCode},
		{"another needle in words", "The access code is 9 0 3 5 6.", stop, needle.OtherCode},
		{"this and another needle", "48213, 77120", stop, needle.OtherCode},

		{"number of the text", "34386", stop, needle.FillerEcho},
		{"short number of the text", "1675", stop, needle.FillerEcho},
		{"words of the text", "the Sun shining into my dark chamber", stop, needle.FillerEcho},
		{"words of the text, cut", "It says and the light was refracted upw", length, needle.FillerEcho},
		{"three words, all of the text", "Through a hole.", stop, needle.FillerEcho},

		{"not mentioned", "The text does not mention an access code for Lisbon.", stop, needle.Denial},
		{"typographic apostrophe", "I don’t see any access code in the text.", stop, needle.Denial},
		{"no code", "There is no access code for the Lisbon archive.", stop, needle.Denial},
		{"passive", "The code was not provided.", stop, needle.Denial},
		{"sorry", "Sorry, but I can't help with that.", stop, needle.Denial},
		{"none", "None.", stop, needle.Denial},
		{"unknown", "Unknown", stop, needle.Denial},
		{"with a year of its own", "Opticks of 1704 does not contain such a code.", stop, needle.Denial},

		{"foreign code", "61595", stop, needle.Invented},
		{"foreign code with doubt", "I could not find it, maybe 61595.", stop, needle.Invented},
		{"foreign word", "ALPHA", stop, needle.Invented},
		{"two foreign codes", "61595 70709", stop, needle.Invented},

		{"nothing", "", stop, needle.Empty},
		{"blanks", " \n\t", stop, needle.Empty},
		{"only thoughts, stopped", "<think>hm</think>", stop, needle.Empty},
		{"only an end marker", "<|im_end|>", stop, needle.Empty},
		{"no finish reason", "", "", needle.Empty},

		{"thoughts without end", "<think>First I look at the", length, needle.Budget},
		{"nothing at the limit", "", length, needle.Budget},

		{"part of the code", "The code is 482", length, needle.CutOff},
		{"part of the code, apart", "4 8 2", length, needle.CutOff},
		{"before the code", "The access code for the Lisbon archive is", length, needle.CutOff},

		{"replacement characters", "��� a ���", stop, needle.Junk},
		{"marks only", "!!!!!!!!", stop, needle.Junk},
		{"one word again and again", "code code code code code", length, needle.Junk},
		{"a long loop", strings.Repeat("the archive is the ", 12), length, needle.Junk},
		{"one letter", "aaaaaaaaaaaa", stop, needle.Junk},
		{"nano's buckets", "w17 w500 w3", stop, needle.Junk},
		{"endless zeros", "00000000000000000000", length, needle.Junk},
		{"control characters", "\x01\x02ok", stop, needle.Junk},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := needle.Classify(needle.Answer{Text: c.text, Finish: c.finish}, truth)
			if got != c.want {
				t.Errorf("%q (finish %q) is %q, want %q", c.text, c.finish, got, c.want)
			}
		})
	}
}

func TestClassifyWithoutText(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer needle.Answer
		truth  needle.Truth
		want   needle.Class
	}{
		{"transport error", needle.Answer{Text: "48213", Err: errors.New("connection reset")}, truth, needle.Failed},
		{"never asked", needle.Answer{Unmeasured: true}, truth, needle.Unmeasured},
		{"no truth", needle.Answer{Text: "48213"}, needle.Truth{}, needle.Unmeasured},
		{"answer filed under thoughts", needle.Answer{Reasoning: "48213", Finish: "stop"}, truth, needle.Exact},
		{"undecided thoughts", needle.Answer{Reasoning: "48213 or 77120?", Finish: "stop"}, truth, needle.Empty},
		{"thoughts at the limit", needle.Answer{Reasoning: "it is 48213", Finish: "length"}, truth, needle.Budget},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := needle.Classify(c.answer, c.truth); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestClassProperties(t *testing.T) {
	measured := map[needle.Class]bool{
		needle.Exact: true, needle.NearMiss: true, needle.OtherCode: true, needle.FillerEcho: true, needle.Denial: true,
		needle.Invented: true, needle.Empty: true, needle.CutOff: true, needle.Junk: true, needle.Partial: true,
		needle.Budget: false, needle.Failed: false, needle.Unmeasured: false,
	}
	if len(needle.Classes()) != len(measured) {
		t.Errorf("%d classes listed, want %d", len(needle.Classes()), len(measured))
	}
	for _, c := range needle.Classes() {
		if want, ok := measured[c]; !ok || c.Measured() != want {
			t.Errorf("%q measured = %v, want %v", c, c.Measured(), want)
		}
		if c.Recalled() != (c == needle.Exact) {
			t.Errorf("%q recalled = %v", c, c.Recalled())
		}
	}
}

// Every five-digit answer against one code: how often is it a near miss by luck? Counted once more
// here by building the neighbours, not by measuring distances.
func TestNearMissByLuck(t *testing.T) {
	const code = "48213"
	edits := func(from map[string]bool) map[string]bool {
		out := map[string]bool{}
		for s := range from {
			for i := range len(s) + 1 {
				for d := '0'; d <= '9'; d++ {
					out[s[:i]+string(d)+s[i:]] = true
					if i < len(s) {
						out[s[:i]+string(d)+s[i+1:]] = true
					}
				}
				if i < len(s) {
					out[s[:i]+s[i+1:]] = true
				}
				if i+1 < len(s) {
					out[s[:i]+string(s[i+1])+string(s[i])+s[i+2:]] = true
				}
			}
		}
		return out
	}
	one := edits(map[string]bool{code: true})
	near := edits(one)
	lucky, got, free := 0, 0, 0
	for n := range 100_000 {
		s := string([]byte{
			byte('0' + n/10000), byte('0' + n/1000%10), byte('0' + n/100%10), byte('0' + n/10%10), byte('0' + n%10),
		})
		class := needle.Classify(needle.Answer{Text: s, Finish: "stop"}, needle.Truth{Code: code})
		switch {
		case s == code:
			if class != needle.Exact {
				t.Errorf("the code itself is %q", class)
			}
			continue
		case near[s]:
			lucky++
		}
		switch class {
		case needle.NearMiss:
			got++
			// Optimal string alignment never edits a swapped pair again: a few second edits differ.
			if !near[s] {
				t.Errorf("%s is called a near miss of %s but no two edits lead there", s, code)
			}
		case needle.Invented:
			if near[s] {
				free++
			}
		default:
			t.Errorf("%s is %q", s, class)
		}
	}
	if free > lucky/100 {
		t.Errorf("%d of %d neighbours are called invented", free, lucky)
	}
	t.Logf("near misses by luck: %d of 99,999", got)
	if got < 1000 || got > 1150 {
		t.Errorf("%d of 99,999 answers are near misses by luck, the comment says 1.1 %%", got)
	}
}

func FuzzClassify(f *testing.F) {
	for _, s := range []string{
		"48213", "<think>4</think>", "</think><think>", "[THINK]", "\xff\xfe4\xff8", "４８２１３", "<|message|><|",
		"<THİNK>İ</think>", "four eight", "4,8,2,1,3", "",
	} {
		f.Add(s, "stop", "48213", "the Sun 17")
	}
	f.Fuzz(func(t *testing.T, text, finish, code, hay string) {
		c := needle.Classify(needle.Answer{Text: text, Reasoning: hay, Finish: finish}, needle.Truth{
			Code:     code,
			Haystack: hay,
			Others:   []string{hay},
		})
		known := false
		for _, k := range needle.Classes() {
			known = known || k == c
		}
		if !known {
			t.Errorf("class %q is not listed", c)
		}
		// The oracle: no recall without the code's digits, in order, in what was said.
		if c == needle.Exact && utf8.ValidString(text) && isASCII(text+hay) &&
			!strings.Contains(strings.ToLower(text+hay), "e") {
			if !subsequence(code, text) && !subsequence(code, hay) {
				t.Errorf("%q is exact for code %q", text, code)
			}
		}
	})
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func subsequence(code, text string) bool {
	i := 0
	for j := 0; j < len(text) && i < len(code); j++ {
		if text[j] == code[i] {
			i++
		}
	}
	return i == len(code)
}
