package scripted

import (
	"slices"
	"strings"
)

// view is what of a prompt the model can see.
type view struct {
	p      *prompt
	hidden []bool // per token; nil is nothing
	images []string
}

// hide takes the tokens [a, b) away.
func (v *view) hide(a, b int) {
	a, b = max(a, 0), min(b, v.p.n())
	if a >= b {
		return
	}
	if v.hidden == nil {
		v.hidden = make([]bool, v.p.n())
	}
	for i := a; i < b; i++ {
		v.hidden[i] = true
	}
}

// hidePart takes a whole part away.
func (v *view) hidePart(p part) { v.hide(p.from, p.to) }

// questionAt is the token at which the last sentence that asks begins; the prompt's end without one.
func (v *view) questionAt() int {
	q, ok := v.p.question()
	if !ok {
		return v.p.n()
	}
	return q
}

// question finds where the asking part of the last user message begins: at most 64 tokens before its end.
func (p *prompt) question() (int, bool) {
	last, ok := p.lastUser()
	if !ok {
		return 0, false
	}
	from := max(last.from, last.to-64)
	s := p.slice(from, last.to)
	off := p.start(from)
	at := -1
	for _, r := range sentences(s) {
		if asks(s[r[0]:r[1]]) {
			at = r[0]
			if at > 0 || from == last.from {
				break
			}
		}
	}
	if at < 0 {
		return max(last.from, last.to-16), true
	}
	// The last run of asking sentences: filler before it may ask, too, but not in the last three sentences.
	all := sentences(s)
	for i := max(0, len(all)-3); i < len(all); i++ {
		if asks(s[all[i][0]:all[i][1]]) {
			return p.tokenAt(off + all[i][0]), true
		}
	}
	return p.tokenAt(off + at), true
}

func (p *prompt) lastUser() (part, bool) {
	for _, q := range slices.Backward(p.parts) {
		if q.kind == content && q.role == "user" {
			return q, true
		}
	}
	return part{}, false
}

var askers = []string{
	"what", "which", "who", "where", "when", "how", "question", "repeat", "copy", "list", "write", "count", "add", "give",
	"say", "reply", "tell", "complete", "name", "compute", "use", "call", "quote", "is ", "does", "do ", "did", "recall",
	"state", "print", "find", "calculate", "reproduce", "echo", "can ", "answer", "in one word", "save",
}

func asks(s string) bool {
	l := strings.ToLower(strings.TrimSpace(s))
	if strings.HasSuffix(l, "?") {
		return true
	}
	for _, a := range askers {
		if strings.HasPrefix(l, a) {
			return true
		}
	}
	return false
}

// sentences returns the byte ranges of the sentences of s: they end at a stop before a blank, at a line's end, at
// a gap, or at the end. Leading blanks are not in the range.
func sentences(s string) [][2]int {
	var out [][2]int
	from := 0
	flush := func(to int) {
		for from < to && isBlank(s[from]) {
			from++
		}
		if from < to {
			out = append(out, [2]int{from, to})
		}
		from = to
	}
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\n':
			flush(i)
		case '.', '?', '!':
			j := i + 1
			for j < len(s) && strings.IndexByte("\"')`", s[j]) >= 0 {
				j++
			}
			if j == len(s) || isBlank(s[j]) {
				flush(j)
				i = j - 1
			}
		}
	}
	flush(len(s))
	return out
}

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// seg is one run of visible text of one part.
type seg struct {
	part
	text string
	at   int // byte of the prompt where it begins
}

// segs lists what can be seen, frame aside.
func (v *view) segs() []seg {
	var out []seg
	pictures := v.images
	if pictures == nil {
		pictures = v.p.images
	}
	for _, q := range v.p.parts {
		if q.kind == image {
			if len(pictures) > 0 {
				if v.hidden == nil || !v.hidden[q.from] {
					out = append(out, seg{part: q, text: pictures[0], at: v.p.start(q.from)})
				}
				pictures = pictures[1:]
			}
			continue
		}
		if q.kind == frame {
			continue
		}
		for i := q.from; i < q.to; {
			if v.hidden != nil && v.hidden[i] {
				i++
				continue
			}
			j := i
			for j < q.to && (v.hidden == nil || !v.hidden[j]) {
				j++
			}
			r := q
			r.from, r.to = i, j
			out = append(out, seg{part: r, text: v.p.slice(i, j), at: v.p.start(i)})
			i = j
		}
	}
	return out
}

// sentenceSpans lists the token ranges of the sentences of all parts but the frame, for faults that choose by
// sentence.
func (p *prompt) sentenceSpans() [][2]int {
	var out [][2]int
	for _, q := range p.parts {
		if q.kind == frame {
			continue
		}
		s, off := p.slice(q.from, q.to), p.start(q.from)
		for _, r := range sentences(s) {
			a, b := p.tokenAt(off+r[0]), p.tokenAt(off+r[1]-1)+1
			out = append(out, [2]int{a, b})
		}
	}
	return out
}
