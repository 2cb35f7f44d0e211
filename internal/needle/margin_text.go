package needle

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// unmark writes the blanks that byte-pair vocabularies mark as blanks again.
var unmark = strings.NewReplacer("Ġ", " ", "▁", " ", "Ċ", "\n")

// opening is what may stand before a value in the token that begins it.
const opening = " \t\r\n\"'`*{("

// TextMargins returns one margin per generated token of a value that is a text: a UUID, a path or a
// phrase. The right side of a token is the summed probability of all listed tokens that go on as the
// value does (also in longer or shorter pieces), the rival the best listed one that does not.
//
// The value is read from where most of it follows on; the first token that leaves it has a margin,
// and nothing after it. Without any of it the first generated token is measured, where something
// else won. Letter case counts. Bounds are those of Margins. Nil without steps or value.
func TextMargins(steps []Step, value string) []Margin {
	if len(steps) == 0 || value == "" {
		return nil
	}
	best, from := 0, 0
	for s := range steps {
		if n := follows(steps[s:], value); n > best {
			best, from = n, s
		}
	}
	var out []Margin
	rest := value
	for t := from; t < len(steps) && rest != ""; t++ {
		first := len(rest) == len(value)
		m := margin(steps[t], func(text string) side { return textSide(text, rest, first) })
		m.Step = t
		out = append(out, m)
		n, ok := agree(steps[t].Text, rest, first)
		if !ok {
			break
		}
		rest = rest[n:]
	}
	return out
}

// follows returns how many bytes of value the steps write without a break.
func follows(steps []Step, value string) int {
	rest := value
	for _, s := range steps {
		n, ok := agree(s.Text, rest, len(rest) == len(value))
		if !ok || n == 0 && len(rest) == len(value) || n == len(rest) {
			return len(value) - len(rest) + n
		}
		rest = rest[n:]
	}
	return len(value) - len(rest)
}

// agree reports whether a token goes on as rest does and how many bytes of it it writes. The first
// token of a value may begin with blanks and quotes, or hold nothing else; the last may end in what
// is no letter or digit.
func agree(token, rest string, first bool) (int, bool) {
	t := unmark.Replace(token)
	if first {
		t = strings.TrimLeft(t, opening)
	}
	switch {
	case strings.HasPrefix(rest, t):
		return len(t), t != "" || first
	case strings.HasPrefix(t, rest):
		r, _ := utf8.DecodeRuneInString(t[len(rest):])
		return len(rest), !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}
	return 0, false
}

func textSide(token, rest string, first bool) side {
	n, ok := agree(token, rest, first)
	switch {
	case ok && n > 0:
		return right
	case ok:
		return elsewhere // an opening quote: the next token decides
	}
	return rival
}
