package engine

import (
	"strings"
	"unicode/utf8"
)

// detok turns tokens into text as they come. Tokens may end inside a character: those bytes wait for the rest.
type detok struct {
	m    *machine
	held string
	n    int // pieces so far
}

// detokOps are the decisions of the detokeniser that a bug can get wrong.
type detokOps struct {
	ready  func(held string) int                        // bytes that may go out
	carry  func(held string, n int) string              // what is kept of the rest for the next token
	piece  func(text string, first, stream bool) string // what is made of a token's own bytes
	hidden func(s special) bool
	tail   func(held string) string // what of the bytes that wait comes out when the answer ends
}

func soundDetok() detokOps {
	return detokOps{
		ready:  wholeRunes,
		carry:  func(held string, _ int) string { return held },
		piece:  func(t string, _, _ bool) string { return t },
		hidden: func(special) bool { return true },
		tail:   func(held string) string { return held },
	}
}

// wholeRunes is how many bytes of s are whole characters, or can never become one.
func wholeRunes(s string) int {
	i := len(s)
	for k := 1; k <= min(3, len(s)); k++ {
		c := s[len(s)-k]
		if c < 0x80 {
			break
		}
		if c >= 0xc0 {
			need := 2
			switch {
			case c >= 0xf0:
				need = 4
			case c >= 0xe0:
				need = 3
			}
			if need > k {
				i = len(s) - k
			}
			break
		}
	}
	return i
}

// push adds a token and returns the text that is ready.
func (d *detok) push(tok int32, stream bool) string {
	text := d.m.lex.print(tok)
	if c := d.m.lex.class(tok); c != spHole && d.m.det.hidden(c) {
		text = ""
	}
	if text == "" {
		return ""
	}
	d.held += d.m.det.piece(text, d.n == 0, stream)
	d.n++
	n := d.m.det.ready(d.held)
	out := d.held[:n]
	d.held = d.m.det.carry(d.held[n:], d.n)
	return valid(out)
}

// flush returns what never became whole.
func (d *detok) flush() string {
	out := d.m.det.tail(d.held)
	d.held = ""
	return valid(out)
}

func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\ufffd")
}
