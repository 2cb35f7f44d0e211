package needle

import (
	"strings"
	"unicode"
)

// normal prepares an answer for reading: digits of any script become ASCII, format characters,
// variation selectors and keycaps vanish, typographic apostrophes and hyphens become plain.
func normal(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\ufe0f', r == '\u20e3', unicode.Is(unicode.Cf, r):
		case r == '’', r == 'ʼ':
			b.WriteByte('\'')
		case r == '‐', r == '‑', r == '–', r == '—':
			b.WriteByte('-')
		case r > unicode.MaxASCII && unicode.IsDigit(r):
			b.WriteByte('0' + digitValue(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// digitValue is the value of a decimal digit. Unicode puts the ten digits of a script side by side
// from zero on (The Unicode Standard, section 4.6), and every range of Nd begins at a zero.
func digitValue(r rune) byte {
	for _, t := range unicode.Nd.R16 {
		if r >= rune(t.Lo) && r <= rune(t.Hi) {
			return byte((r - rune(t.Lo)) % 10)
		}
	}
	for _, t := range unicode.Nd.R32 {
		if r >= rune(t.Lo) && r <= rune(t.Hi) {
			return byte((r - rune(t.Lo)) % 10)
		}
	}
	return 0
}

var spelled = map[string]string{
	"zero": "0", "one": "1", "two": "2", "three": "3", "four": "4",
	"five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9",
}

// unspell replaces runs of at least n spelled digits ("four eight two one three") by digits: fewer
// are prose.
func unspell(text string, n int) string {
	fields := strings.Fields(text)
	var out []string
	for i := 0; i < len(fields); {
		j, digits := i, ""
		for j < len(fields) {
			d, ok := spelled[strings.ToLower(strings.Trim(fields[j], `.,;:-*"'`))]
			if !ok {
				break
			}
			digits += d
			j++
		}
		if j-i >= n {
			out = append(out, digits)
			i = j
			continue
		}
		out = append(out, fields[i])
		i++
	}
	if len(out) == len(fields) {
		return text // nothing spelled: keep the line breaks
	}
	return strings.Join(out, " ")
}

// run is a maximal run of digits in a text, with what stands between it and the run before.
type run struct{ digits, sep string }

// numbers returns the numbers of an answer in order. n is the length of a code. A run of n digits or
// more stands for itself; shorter runs joined by light separators ("4 8 2 1 3", "48,213", "482-13")
// make one number when they come to n, or to n+2 at most when they are single digits; a longer
// chain is cut at n. Digits glued to letters ("w17", "3rd") count only from four on.
func numbers(text string, n int) []string {
	var out []string
	var chain []run
	flush := func() {
		out = append(out, cut(chain, n)...)
		chain = nil
	}
	rs := []rune(text)
	sep := ""
	for i := 0; i < len(rs); {
		gap := i
		for i < len(rs) && (rs[i] < '0' || rs[i] > '9') {
			i++
		}
		if sep += string(rs[gap:i]); i == len(rs) {
			break
		}
		j := i
		for j < len(rs) && rs[j] >= '0' && rs[j] <= '9' {
			j++
		}
		glued := i > 0 && unicode.IsLetter(rs[i-1]) || j < len(rs) && unicode.IsLetter(rs[j])
		r := run{digits: string(rs[i:j]), sep: sep}
		switch {
		case glued && j-i < 4:
			flush()
			sep = "x" // whatever follows is not joined to it
		case j-i >= n:
			flush()
			out = append(out, r.digits)
			sep = "x"
		default:
			if len(chain) > 0 && !light(r.sep, chain[len(chain)-1].digits, r.digits) {
				flush()
			}
			chain = append(chain, r)
			sep = ""
		}
		i = j
	}
	flush()
	return out
}

// light reports whether a separator may stand inside one number between the runs a and b.
func light(sep, a, b string) bool {
	single := len(a) == 1 && len(b) == 1
	if single && strings.Trim(sep, " \t\r\n,.-_*`|/") == "" {
		return len(sep) <= 4
	}
	switch strings.TrimSpace(strings.Trim(sep, "\u00a0\u2009\u202f")) {
	case "":
		return len(sep) > 0 && !strings.Contains(sep, "\n") && len(sep) <= 4
	case "-", "_", "*", "**":
		return !strings.Contains(sep, "\n")
	case ",", ".", "'":
		return len(strings.TrimSpace(sep)) == len(sep) && len(b) == 3 // thousands
	}
	return false
}

// cut turns a chain of short runs into numbers.
func cut(chain []run, n int) []string {
	total, single := "", true
	for _, r := range chain {
		total += r.digits
		single = single && len(r.digits) == 1
	}
	switch {
	case total == "":
		return nil
	case len(total) <= n, single && len(total) <= n+2:
		return []string{total}
	}
	var out []string
	cur := ""
	for _, r := range chain {
		if len(cur)+len(r.digits) > n {
			out = append(out, cur)
			cur = ""
		}
		if cur += r.digits; len(cur) == n {
			out = append(out, cur)
			cur = ""
		}
	}
	if cur != "" {
		out = append(out, cur)
	}
	return out
}

// distance is the number of edits (insert, delete, replace a digit, swap two neighbours) from a to
// b: the optimal string alignment of Damerau and Levenshtein.
func distance(a, b string) int {
	prev2, prev := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur := make([]int, len(b)+1)
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev = prev, cur
	}
	return prev[len(b)]
}
