package needle

import (
	"strings"
	"unicode"
)

// marks are the punctuation characters that count as a unit of their own.
const marks = `.,?!:;'"()-`

// Units is the length of a text in words (runs of letters), single digits and punctuation marks:
// a measure that needs no tokenizer. For nano-v4 it is the token count without the chat frame; a
// byte-pair tokenizer gives about 1.0 to 1.3 tokens a unit of English.
func Units(text string) int {
	n, inWord := 0, false
	for _, r := range text {
		switch {
		case r|0x20 >= 'a' && r|0x20 <= 'z', r > unicode.MaxASCII && unicode.IsLetter(r):
			if !inWord {
				n++
			}
			inWord = true
			continue
		case r >= '0' && r <= '9', r != ' ' && strings.ContainsRune(marks, r):
			n++
		}
		inWord = false
	}
	return n
}

// words returns the runs of letters in lower case.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) })
}

// digitRuns returns the runs of ASCII digits.
func digitRuns(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
}
