package report

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// hidden reports characters that change how the text around them is displayed
// without showing themselves: bidirectional controls and the byte order mark.
func hidden(r rune) bool {
	switch {
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	case r == 0x200e, r == 0x200f, r == 0x061c, r == 0xfeff:
		return true
	}
	return false
}

// printable makes s safe to print: no escape sequence, carriage return or
// bidirectional override of a hostile answer reaches the terminal. Line breaks stay.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\t', r == 0x2028, r == 0x2029:
			return ' '
		case r < 0x20, r >= 0x7f && r <= 0x9f, hidden(r):
			return -1
		}
		return r // invalid UTF-8 arrives as U+FFFD and stays visible as such
	}, s)
}

// oneLine is printable without line breaks and outer space; space inside stays, the
// writer of a sentence may have aligned with it.
func oneLine(s string) string {
	return strings.TrimSpace(strings.ReplaceAll(printable(s), "\n", " "))
}

// visible shows control characters instead of dropping them: in evidence (prompt,
// answer) an invisible character may be the very fault.
func visible(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		switch {
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r < 0x20, r >= 0x7f && r <= 0x9f, hidden(r):
			// Not the control pictures U+2400: few fonts have them.
			fmt.Fprintf(&b, "‹U+%04X›", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// ascii replaces the typographic signs that reports use by 7-bit ones and anything
// else outside 7 bits by a question mark.
func ascii(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch r {
		case '·':
			b.WriteByte('-')
		case '±':
			b.WriteString("+/-")
		case '×':
			b.WriteByte('x')
		case '–', '—', '−':
			b.WriteByte('-')
		case '≤':
			b.WriteString("<=")
		case '≥':
			b.WriteString(">=")
		case '’', '‘':
			b.WriteByte('\'')
		case '“', '”':
			b.WriteByte('"')
		case '…':
			b.WriteString("...")
		case '█':
			b.WriteByte('=')
		case '░':
			b.WriteByte('.')
		case '■', '▣', '◧', '□':
			for _, st := range States() {
				if st.Glyph(false) == string(r) {
					b.WriteString(st.Glyph(true))
				}
			}
		default:
			if r < 0x80 {
				b.WriteRune(r)
			} else {
				b.WriteByte('?')
			}
		}
	}
	return b.String()
}

// width is the number of columns s takes, counting one per character.
func width(s string) int { return utf8.RuneCountInString(s) }

func padRight(s string, n int) string { return s + strings.Repeat(" ", max(0, n-width(s))) }

func padLeft(s string, n int) string { return strings.Repeat(" ", max(0, n-width(s))) + s }

// wrap breaks s into lines of at most n columns, at spaces; a longer word stays
// whole. n <= 0 means no limit.
func wrap(s string, n int) []string {
	var out []string
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.TrimRight(line, " ")
		for n > 0 && width(line) > n {
			cut := breakAt(line, n)
			if cut < 0 {
				break
			}
			out = append(out, strings.TrimRight(line[:cut], " "))
			line = strings.TrimLeft(line[cut:], " ")
		}
		out = append(out, line)
	}
	return out
}

// breakAt is the byte index of the last space of line that leaves at most n columns
// before it, or of the first space after that; -1 when there is none to break at.
func breakAt(line string, n int) int {
	col, last, word := 0, -1, false
	for i, r := range line {
		word = word || r != ' '
		if r == ' ' && word {
			if col <= n || last < 0 {
				last = i
			}
			if col > n {
				break
			}
		}
		col++
	}
	return last
}

// nats formats a margin: two decimals, and words for what is no number.
func nats(v float64) string {
	switch {
	case math.IsNaN(v):
		return "n/a"
	case math.IsInf(v, 1):
		return "+inf"
	case math.IsInf(v, -1):
		return "-inf"
	}
	return fmt.Sprintf("%.2f", v)
}

// thousands formats n with a comma every three digits.
func thousands(n int) string {
	s := fmt.Sprint(n)
	neg := strings.HasPrefix(s, "-")
	s = strings.TrimPrefix(s, "-")
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	if neg {
		return "-" + s
	}
	return s
}
