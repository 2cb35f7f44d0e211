package needle

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Classify returns the class of an answer. The first rule that holds decides:
//
//  1. never asked: unmeasured; request failed: error
//  2. reasoning is removed (think tags, also unclosed; channel markers). Nothing visible left:
//     budget when it ran into the limit; else exact when the reasoning returned separately holds the
//     code and no other (a reasoning parser took the answer); else empty
//  3. the code, and no other number of its length or of another needle: exact
//  4. another needle's code: other-needle
//  5. the code beside a foreign one: near-miss
//  6. ends in a part of the code at the limit: cut-off
//  7. a number of the code's length from the haystack, or five words in a row of it: filler-echo
//  8. a number one or two edits from the code: near-miss. A random code of five digits is that near
//     by luck in 1.1 % of cases
//  9. another number of the code's length: invented
//  10. says that there is no code: denial
//  11. no language: junk
//  12. another number from the haystack: filler-echo
//  13. ran into the limit: cut-off; anything else readable: invented
//
// A truth without a code cannot be judged: unmeasured. The kinds UUID, Path and Phrase are read by
// the same rules with their values in place of numbers, Several by classifySeveral.
func Classify(a Answer, truth Truth) Class {
	code := truth.Code
	switch {
	case a.Unmeasured, code == "":
		return Unmeasured
	case a.Err != nil:
		return Failed
	}
	if v, ok := values[truth.Kind]; ok {
		return classifyValue(a, truth, v)
	}
	if len(truth.Codes) > 0 {
		return classifySeveral(a, truth)
	}
	text := normal(Visible(a.Text))
	limit := a.Finish == "length"
	if strings.TrimSpace(text) == "" {
		switch {
		case limit:
			return Budget
		case recalled(numbers(unspell(normal(a.Reasoning), len(code)), len(code)), truth):
			return Exact
		}
		return Empty
	}
	found := numbers(unspell(text, len(code)), len(code))
	if recalled(found, truth) {
		return Exact
	}
	if slices.ContainsFunc(found, func(d string) bool { return slices.Contains(truth.Others, d) }) {
		return OtherCode
	}
	if slices.ContainsFunc(found, func(d string) bool { return is(d, code) }) {
		return NearMiss
	}
	if limit && len(found) > 0 && endsInDigit(text) {
		if last := found[len(found)-1]; last != code && strings.HasPrefix(code, last) {
			return CutOff
		}
	}
	filler := digitRuns(truth.Haystack)
	echo := func(d string) bool { return slices.Contains(filler, d) }
	like := slices.DeleteFunc(slices.Clone(found), func(d string) bool { return len(d) != len(code) })
	if slices.ContainsFunc(like, echo) || echoes(text, truth.Haystack) {
		return FillerEcho
	}
	if slices.ContainsFunc(found, func(d string) bool { return distance(d, code) <= 2 && !echo(d) }) {
		return NearMiss
	}
	switch {
	case len(like) > 0:
		return Invented
	case denial.MatchString(strings.ToLower(text)):
		return Denial
	case junk(text, len(code)):
		return Junk
	case slices.ContainsFunc(found, func(d string) bool { return len(d) > 1 && echo(d) }):
		return FillerEcho
	case limit:
		return CutOff
	}
	return Invented
}

// recalled reports whether the code is among the numbers and no other code is.
func recalled(found []string, truth Truth) bool {
	hit := false
	for _, d := range found {
		switch {
		case is(d, truth.Code):
			hit = true
		case len(d) == len(truth.Code), slices.Contains(truth.Others, d):
			return false
		}
	}
	return hit
}

// is reports whether d is the code, or the code written over and over by a model that did not stop.
func is(d, code string) bool {
	if len(d) < 2*len(code) {
		return d == code
	}
	return strings.HasPrefix(strings.Repeat(code, len(d)/len(code)+1), d)
}

func endsInDigit(text string) bool {
	t := strings.TrimRight(text, " \t\r\n-*`_")
	return t != "" && t[len(t)-1] >= '0' && t[len(t)-1] <= '9'
}

var (
	reasoningTags = []string{"think", "thinking", "thought", "thoughts", "reasoning", "analysis"}
	marker        = regexp.MustCompile(`<[|｜][^<>]{0,64}[|｜]>|</?(?:s|bos|eos|user|assistant|system|answer|final)>|` +
		`\[/?(?:INST|THINK)\]`)
)

// Visible returns what a reader is shown: reasoning in tags is cut out, a reasoning tag that is never closed runs to
// the end, a closing tag without an opening one ends reasoning that began before the text (some templates swallow the
// opening tag), and role markers are dropped.
func Visible(text string) string {
	if !strings.ContainsAny(text, "<[") {
		return text // as most answers are: nothing below can match
	}
	if i := strings.LastIndex(text, "<|message|>"); i >= 0 {
		text = text[i+len("<|message|>"):]
	}
	for _, tag := range reasoningTags {
		text = cutReasoning(text, "<"+tag+">", "</"+tag+">")
	}
	text = cutReasoning(text, "[THINK]", "[/THINK]")
	return marker.ReplaceAllString(text, "")
}

func cutReasoning(text, open, end string) string {
	lower := asciiLower(text)
	open, end = asciiLower(open), asciiLower(end)
	if i := strings.LastIndex(lower, end); i >= 0 {
		// Everything up to the last closing tag is reasoning, except what stood before the first
		// opening one.
		before := ""
		if o := strings.Index(lower, open); o >= 0 && o < i {
			before = text[:o]
		}
		text, lower = before+text[i+len(end):], lower[:len(before)]+lower[i+len(end):]
		if o := strings.Index(lower, open); o < 0 {
			return text
		}
	}
	if o := strings.Index(lower, open); o >= 0 {
		return text[:o]
	}
	return text
}

// asciiLower keeps byte offsets, which strings.ToLower does not.
func asciiLower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

var denial = regexp.MustCompile(`\b(?:` +
	`(?:no|not any|without an?|don't (?:see|find|have)|do not (?:see|find|have)|didn't find|did not find|isn't an?|is ` +
	`not an?|wasn't an?|there (?:is|was) no) (?:\w+ ` +
	`){0,4}(?:code|mention|information|record|reference|archive|answer|id|path|file|phrase|number)` +
	`|(?:not|never|isn't|wasn't|nowhere) (?:\w+ ` +
	`){0,2}(?:mentioned|found|given|provided|specified|stated|contained|included|listed|present|available|known|` +
	`disclosed)` +
	`|(?:does not|doesn't|do not|don't|did not|didn't|cannot|can't|could not|couldn't|unable to|not able to) (?:\w+ ` +
	`){0,2}(?:mention|contain|include|provide|specify|state|find|locate|know|give|see|determine|answer|recall|help|` +
	`tell|share|reveal)` +
	`|unknown|i have no (?:idea|information|record)|n/a|not sure|sorry` +
	`)\b|^\W*(?:none|no|nothing)\W*$`)

// echoes reports whether five words in a row, or a whole answer of three or four, stand in the
// haystack.
func echoes(text, haystack string) bool {
	w := tokens(text)
	if len(w) < 3 {
		return false
	}
	all := " " + strings.Join(tokens(haystack), " ") + " "
	n := min(5, len(w))
	for i := 0; i+n <= len(w); i++ {
		if strings.Contains(all, " "+strings.Join(w[i:i+n], " ")+" ") {
			return true
		}
	}
	return false
}

func tokens(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

var placeholder = regexp.MustCompile(`^w\d+$`)

// junk reports whether a text is no language: a tenth of it or more is replacement, control or
// private characters; it has no letter and no digit; one word makes up most of it or comes four times in
// a row; half its words are nano-v4's placeholders; a word is one letter over and over; or a number
// has three codes' length.
func junk(text string, n int) bool {
	runes, odd, readable := 0, 0, 0
	for _, r := range text {
		runes++
		switch {
		case r == unicode.ReplacementChar, unicode.IsControl(r) && !unicode.IsSpace(r), unicode.Is(unicode.Co, r):
			odd++
		case unicode.IsLetter(r), unicode.IsDigit(r):
			readable++
		}
	}
	if readable == 0 || odd*10 >= runes {
		return true
	}
	w := tokens(text)
	count := map[string]int{}
	again, holders := 0, 0
	for i, s := range w {
		count[s]++
		if i > 0 && w[i-1] == s {
			again++
		} else {
			again = 0
		}
		if placeholder.MatchString(s) {
			holders++
		}
		if again >= 3 || count[s] >= 5 && 2*count[s] > len(w) || stutter(s) || len(digitsOnly(s)) >= 3*n {
			return true
		}
	}
	return 2*holders >= len(w) || len(w) >= 16 && len(count)*4 <= len(w)
}

// stutter reports whether a word of eight characters or more has at most two different ones.
func stutter(s string) bool {
	seen := map[rune]bool{}
	n := 0
	for _, r := range s {
		seen[r] = true
		n++
	}
	return n >= 8 && len(seen) <= 2
}
