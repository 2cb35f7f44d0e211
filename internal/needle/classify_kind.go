package needle

import (
	"slices"
	"strings"
)

// classifyValue reads the answer to a kind that hides a text. The rules are those of Classify with
// values of the kind in place of numbers.
func classifyValue(a Answer, truth Truth, v value) Class {
	text := strings.ReplaceAll(normal(Visible(a.Text)), "\u00a0", " ")
	limit := a.Finish == "length"
	want := truth.Code
	if strings.TrimSpace(text) == "" {
		switch {
		case limit:
			return Budget
		case recalledValue(v.find(normal(a.Reasoning)), truth):
			return Exact
		}
		return Empty
	}
	found := v.find(text)
	if recalledValue(found, truth) {
		return Exact
	}
	if slices.ContainsFunc(found, func(f string) bool {
		return slices.ContainsFunc(truth.Others, func(o string) bool { return again(f, o) })
	}) {
		return OtherCode
	}
	if slices.ContainsFunc(found, func(f string) bool { return again(f, want) }) {
		return NearMiss
	}
	if limit && endsInPart(v.squash(text), v.squash(want)) {
		return CutOff
	}
	echo := func(f string) bool { return strings.Contains(truth.Haystack, f) }
	if slices.ContainsFunc(found, echo) || echoes(text, truth.Haystack) {
		return FillerEcho
	}
	if slices.ContainsFunc(found, func(f string) bool { return v.near(f, want) }) {
		return NearMiss
	}
	switch {
	case len(found) > 0:
		return Invented
	case denial.MatchString(strings.ToLower(text)):
		return Denial
	case junk(text, 64):
		return Junk
	case limit:
		return CutOff
	}
	return Invented
}

// recalledValue reports whether the value is among the found and no other one is.
func recalledValue(found []string, truth Truth) bool {
	if len(found) == 0 {
		return false
	}
	return !slices.ContainsFunc(found, func(f string) bool { return !again(f, truth.Code) })
}

// again reports whether f is the value, once or over and over with blanks between.
func again(f, want string) bool {
	n := len(f)/(len(want)+1) + 1
	return f == want || n > 1 && f == strings.TrimSuffix(strings.Repeat(want+" ", n), " ")
}

// minPart is the shortest end of a cut answer that counts as the beginning of a value: a letter or
// two begin many things.
const minPart = 4

func endsInPart(text, want string) bool {
	for n := len(want) - 1; n >= minPart; n-- {
		if strings.HasSuffix(text, want[:n]) {
			return true
		}
	}
	return false
}

// Found reports for each of the codes asked for whether the answer holds it, in the order of
// Truth.Codes, or for the one code of the other kinds.
func Found(a Answer, truth Truth) []bool {
	codes := truth.Codes
	if len(codes) == 0 {
		codes = []string{truth.Code}
	}
	out := make([]bool, len(codes))
	if a.Err != nil || a.Unmeasured {
		return out
	}
	text := normal(Visible(a.Text))
	for i, c := range codes {
		found := numbers(unspell(text, len(c)), len(c))
		if v, ok := values[truth.Kind]; ok {
			found = v.find(text)
		}
		out[i] = slices.Contains(found, c)
	}
	return out
}

// classifySeveral reads the answer to a question for several codes: exact when all stand in it in
// the order asked and no other number of their length; near-miss when all stand in another order or
// beside a foreign one; partial when some do; and without any the best class that one of the codes
// asked for alone would get.
func classifySeveral(a Answer, truth Truth) Class {
	n := len(truth.Code)
	given := func(text string) []string {
		return slices.DeleteFunc(numbers(unspell(normal(text), n), n), func(d string) bool { return len(d) != n })
	}
	if strings.TrimSpace(normal(Visible(a.Text))) == "" {
		switch {
		case a.Finish == "length":
			return Budget
		case slices.Equal(given(a.Reasoning), truth.Codes):
			return Exact
		}
		return Empty
	}
	hits := 0
	for _, hit := range Found(a, truth) {
		if hit {
			hits++
		}
	}
	switch {
	case hits == len(truth.Codes) && slices.Equal(given(Visible(a.Text)), truth.Codes):
		return Exact
	case hits == len(truth.Codes):
		return NearMiss
	case hits > 0:
		return Partial
	}
	all := Classes()
	best := len(all)
	for _, c := range truth.Codes {
		others := slices.DeleteFunc(slices.Clone(truth.Others), func(o string) bool {
			return slices.Contains(truth.Codes, o)
		})
		got := Classify(a, Truth{Code: c, Others: others, Haystack: truth.Haystack})
		best = min(best, slices.Index(all, got))
	}
	return all[best]
}
