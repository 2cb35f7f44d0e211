package needle

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// grammar is a set of rules ready to draw from: symbol by symbol, each with its productions.
type grammar struct {
	rules [][]production
	start int
}

// production is literal text and symbols in turn.
type production []part

// part is text, or a symbol when sym is not negative, or a number from lo to hi when hi is above 0.
type part struct {
	text   string
	sym    int
	lo, hi int
	width  int // digits of a number filled up with zeros; 0: as it is
	hex    int // so many hexadecimal digits
}

// parseGrammar compiles rules. In a production "{name}" is a symbol, "{2~99}" a number from 2 to 99
// ("{02~99}" filled up to two digits) and "{x8}" eight hexadecimal digits; any other brace is text.
// Lists are words with blanks between, one production each; an underscore becomes a blank.
func parseGrammar(start string, rules map[string][]string, lists map[string]string) (*grammar, error) {
	index := map[string]int{}
	g := &grammar{}
	add := func(name string) int {
		i, ok := index[name]
		if !ok {
			i = len(g.rules)
			index[name] = i
			g.rules = append(g.rules, nil)
		}
		return i
	}
	known := func(name string) bool { return len(rules[name]) > 0 || lists[name] != "" }
	for name, texts := range rules {
		i := add(name)
		for _, text := range texts {
			p, err := parseProduction(text, known, add)
			if err != nil {
				return nil, fmt.Errorf("grammar rule %q: %w", name, err)
			}
			g.rules[i] = append(g.rules[i], p)
		}
	}
	for name, list := range lists {
		i := add(name)
		for w := range strings.FieldsSeq(list) {
			g.rules[i] = append(g.rules[i], production{{text: strings.ReplaceAll(w, "_", " "), sym: -1}})
		}
	}
	if !known(start) {
		return nil, fmt.Errorf("grammar has no rule %q to start from", start)
	}
	g.start = index[start]
	return g, nil
}

func parseProduction(text string, known func(string) bool, add func(string) int) (production, error) {
	var p production
	literal := func(s string) {
		if n := len(p); n > 0 && p[n-1].sym < 0 && p[n-1].hi == 0 && p[n-1].hex == 0 {
			p[n-1].text += s
		} else if s != "" {
			p = append(p, part{text: s, sym: -1})
		}
	}
	for text != "" {
		open := strings.IndexByte(text, '{')
		end := -1
		if open >= 0 {
			end = strings.IndexByte(text[open:], '}')
		}
		if end < 0 {
			literal(text)
			break
		}
		literal(text[:open])
		name := text[open+1 : open+end]
		lo, hi, number := strings.Cut(name, "~")
		digits, isHex := strings.CutPrefix(name, "x")
		n, err := strconv.Atoi(digits)
		switch {
		case number && digitsOnly(lo+hi) == lo+hi:
			a, errA := strconv.Atoi(lo)
			b, errB := strconv.Atoi(hi)
			if errA != nil || errB != nil || b <= a {
				return nil, fmt.Errorf("%q is no range of numbers", name)
			}
			q := part{sym: -1, lo: a, hi: b}
			if lo[0] == '0' && len(lo) > 1 {
				q.width = len(lo)
			}
			p = append(p, q)
		case isHex && err == nil && n > 0:
			p = append(p, part{sym: -1, hex: n})
		case known(name):
			p = append(p, part{sym: add(name)})
		case strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") == "" && name != "":
			return nil, fmt.Errorf("%q is no symbol", name)
		default: // a brace of JSON
			literal(text[open : open+1])
			text = text[open+1:]
			continue
		}
		text = text[open+end+1:]
	}
	return p, nil
}

const hexDigits = "0123456789abcdef"

// say writes one text of a symbol.
func (g *grammar) say(b []byte, r *rand.Rand, sym int) []byte {
	choices := g.rules[sym]
	for _, q := range choices[r.IntN(len(choices))] {
		switch {
		case q.sym >= 0:
			b = g.say(b, r, q.sym)
		case q.hex > 0:
			for range q.hex {
				b = append(b, hexDigits[r.IntN(16)])
			}
		case q.hi > 0:
			n := q.lo + r.IntN(q.hi-q.lo+1)
			for w := q.width - 1; w > 0; w-- {
				if n < pow10(w) {
					b = append(b, '0')
				}
			}
			b = strconv.AppendInt(b, int64(n), 10)
		default:
			b = append(b, q.text...)
		}
	}
	return b
}

func pow10(n int) int {
	p := 1
	for range n {
		p *= 10
	}
	return p
}
