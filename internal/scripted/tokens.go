package scripted

import (
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// text is a rendered string with the byte offset at which each token ends.
type text struct {
	buf  strings.Builder
	ends []int32
}

// special appends a piece that is one token whatever it spells.
func (t *text) special(s string) {
	t.buf.WriteString(s)
	t.ends = append(t.ends, int32(t.buf.Len()))
}

// add appends ordinary text. Trailing blanks belong to the last token of the piece; a piece of blanks only is none.
func (t *text) add(s string) {
	base := int32(t.buf.Len())
	t.buf.WriteString(s)
	before := len(t.ends)
	t.ends = cut(slices.Grow(t.ends, len(s)/5), s, base)
	if len(t.ends) > before {
		t.ends[len(t.ends)-1] = int32(t.buf.Len())
	}
}

// cut appends the token ends of s, shifted by base.
func cut(ends []int32, s string, base int32) []int32 {
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			i++
			continue
		case isASCIILetter(c):
			i = letters(s, i)
		case c < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			if unicode.IsSpace(r) {
				i += n
				continue
			}
			if unicode.IsLetter(r) {
				i = letters(s, i)
			} else {
				i += n
			}
		}
		ends = append(ends, base+int32(i))
	}
	return ends
}

func isASCIILetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// letters returns the end of the run of letters that begins at i.
func letters(s string, i int) int {
	for i < len(s) {
		if isASCIILetter(s[i]) {
			i++
			continue
		}
		if s[i] < utf8.RuneSelf {
			break
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if !unicode.IsLetter(r) {
			break
		}
		i += n
	}
	return i
}

// pieces cuts a text into its tokens, blanks included; they join to the text again.
func pieces(s string) []string {
	var out []string
	at := 0
	ends := cut(nil, s, 0)
	for i, e := range ends {
		end := int(e)
		if i == len(ends)-1 {
			end = len(s)
		}
		out = append(out, s[at:end])
		at = end
	}
	return out
}

// Tokens is the number of tokens of a text, without any chat frame.
func Tokens(s string) int { return len(cut(nil, s, 0)) }

// hash64 is FNV-1a over the parts with a separator.
func hash64(parts ...string) uint64 {
	h := uint64(14695981039346656037)
	for _, p := range parts {
		for i := range len(p) {
			h = (h ^ uint64(p[i])) * 1099511628211
		}
		h = (h ^ 0xff) * 1099511628211
	}
	return mix(h)
}

// mix finishes a hash so that all bits depend on all (splitmix64).
func mix(h uint64) uint64 {
	h += 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// unit maps a hash to [0, 1).
func unit(h uint64) float64 { return float64(h>>11) / (1 << 53) }

// part is one run of tokens of a rendered prompt.
type part struct {
	role     string
	kind     kind
	msg      int // index of the message, -1 for the frame
	from, to int // tokens
}

type kind int

const (
	frame kind = iota
	content
	reasoning
	toolCall
	toolList
	image
)

// prompt is a rendered request.
type prompt struct {
	s      string
	ends   []int32
	parts  []part
	turns  int      // user messages
	images []string // what the pictures show, in order; a picture is 8 equal tokens
}

func (p *prompt) n() int { return len(p.ends) }

// slice is the text of the tokens [a, b).
func (p *prompt) slice(a, b int) string {
	if a >= b {
		return ""
	}
	return p.s[p.start(a):p.ends[b-1]]
}

func (p *prompt) start(token int) int {
	if token == 0 {
		return 0
	}
	return int(p.ends[token-1])
}

// tokenAt is the token that holds a byte.
func (p *prompt) tokenAt(at int) int {
	return sort.Search(len(p.ends), func(i int) bool { return int(p.ends[i]) > at })
}

// crop keeps the tokens that keep accepts; parts shrink with them. It is how an engine that cuts a prompt sees it.
func (p *prompt) crop(keep func(token int) bool) *prompt {
	out := &prompt{turns: p.turns, images: p.images}
	var b strings.Builder
	for _, q := range p.parts {
		r := q
		r.from = len(out.ends)
		for i := q.from; i < q.to; i++ {
			if keep(i) {
				b.WriteString(p.s[p.start(i):p.ends[i]])
				out.ends = append(out.ends, int32(b.Len()))
			} else if n := len(out.ends); n > r.from && n > 0 && !strings.HasSuffix(b.String(), gap) {
				b.WriteString(gap) // what stood on both sides of a cut is no sentence
				out.ends[n-1] = int32(b.Len())
			}
		}
		r.to = len(out.ends)
		if r.to > r.from {
			out.parts = append(out.parts, r)
		}
	}
	out.s = b.String()
	return out
}

// gap ends a run of visible text; it ends sentences, too.
const gap = " \u2026\n"
