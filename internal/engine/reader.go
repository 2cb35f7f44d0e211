package engine

import (
	"bytes"
	"strings"
)

// turn is one turn of a chat as the reader finds it: bytes [lo, hi) of the view.
type turn struct {
	role   string
	lo, hi int
	open   bool // a thought in it has no end
}

// reader answers from one view.
type reader struct {
	m     *machine
	v     *view
	text  []byte
	turns []turn
	seed  uint64
	req   *request
}

// read plans the answer to what a view shows.
func (m *machine) read(v *view, req *request) []word {
	rd := &reader{m: m, v: v, text: v.text, req: req, seed: mix(m.seed, v.hash)}
	rd.turns = split(v.text)
	var plan []word
	last := turn{role: "none"}
	if n := len(rd.turns); n > 0 {
		last = rd.turns[n-1]
	}
	if last.role != "assistant" && last.role != "model" {
		// Nobody opened an answer: most models end the user's turn and stop, some go on in it.
		if unit(rd.seed) < 0.5 {
			return append(plan, rd.end())
		}
		plan = append(plan, rd.say(" Thank you.", 1.5)...)
		return append(plan, rd.end())
	}
	said := string(bytes.Trim(rd.text[last.lo:last.hi], "\n \x0e\x0f"))
	if m.p.Think > 0 && m.tmpl.fam.thinks && unit(mix(rd.seed, 41)) >= m.traits.skip &&
		!bytes.ContainsRune(rd.text[last.lo:last.hi], rune(spThinkEnd)) {
		plan = append(plan, rd.thoughts()...)
	}
	answer := rd.answer()
	if said != "" {
		answer = rd.goOn(said, answer)
	}
	return append(append(plan, answer...), rd.end())
}

// split finds the turns in a view.
func split(text []byte) []turn {
	var out []turn
	cur := turn{role: "", lo: 0}
	flush := func(at int) {
		cur.hi = at
		if cur.hi > cur.lo && (cur.role != "" || len(bytes.Trim(text[cur.lo:cur.hi], "\n \x00")) > 0) ||
			cur.role == "assistant" || cur.role == "model" {
			out = append(out, cur)
		}
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= ' ' || c == '\n' || c == 0 || c == '\t' {
			continue
		}
		switch special(c) {
		case spStart:
			flush(i)
			j := i + 1
			for j < len(text) && letter(text[j]) {
				j++
			}
			role := string(text[i+1 : j])
			if j < len(text) && (text[j] == byte(spHead) || text[j] == '\n') {
				j++
			}
			cur = turn{role: role, lo: j}
			i = j - 1
		case spUser:
			flush(i)
			cur = turn{role: "user", lo: i + 1}
		case spAssistant:
			flush(i)
			cur = turn{role: "assistant", lo: i + 1}
		case spEnd, spEOS:
			flush(i)
			cur = turn{lo: i + 1}
		case spThink:
			cur.open = true
		case spThinkEnd:
			cur.open = false
		}
	}
	flush(len(text))
	return out
}

// end is the token that ends the answer.
func (rd *reader) end() word {
	return word{opts: []option{{ids: []int32{rd.m.eosID()}}}, margin: 6}
}

// say makes words of a text, one a piece.
func (rd *reader) say(text string, margin float64) []word {
	var out []word
	for text != "" {
		n := nextPiece(text, 1<<20)
		ids := rd.m.tok.encode(text[:n])
		if len(ids) > 0 {
			out = append(out, word{opts: []option{{ids: ids}}, margin: margin})
		}
		text = text[n:]
	}
	return out
}

// quote makes one word of bytes [lo, hi) of the view, read from there; holes are guessed.
func (rd *reader) quote(lead string, lo, hi int, margin float64) []word {
	shown := rd.text[lo:hi]
	a, b := rd.v.token(lo), rd.v.token(hi-1)+1
	was := append([]byte(nil), rd.text[rd.v.offs[a]:rd.v.offs[b]]...)
	text := lead + rd.guess(shown)
	var out []word
	for text != "" {
		n := nextPiece(text, rd.m.lex.digits)
		if ids := rd.m.tok.encode(text[:n]); len(ids) > 0 {
			out = append(out, word{opts: []option{{ids: ids}}, margin: margin, src: [2]int{a, b}, was: was})
		}
		text = text[n:]
	}
	return out
}

// guess replaces what cannot be seen of a value by something of its kind.
func (rd *reader) guess(shown []byte) string {
	if bytes.IndexByte(shown, 0) < 0 {
		return string(shown)
	}
	var b strings.Builder
	for i, c := range shown {
		if c != 0 {
			b.WriteByte(c)
			continue
		}
		h := mix(rd.seed, uint64(i)+3)
		n := 1
		if rd.m.lex.digits > 1 {
			n = 1 + int(h>>7%3)
		}
		for k := range n {
			b.WriteByte('0' + byte(mix(h, uint64(k))%10))
		}
	}
	return b.String()
}

// thoughts is the reasoning before an answer.
func (rd *reader) thoughts() []word {
	lex := rd.m.lex
	out := []word{{opts: []option{{ids: []int32{lex.id(spThink)}}}, margin: 8}}
	text := "\nOkay, the user asks something. Let me look at what was given and then answer."
	for i := 0; len(strings.Fields(text)) < rd.m.p.Think; i++ {
		text += " " + musings[mix(rd.seed, uint64(i))%uint64(len(musings))]
	}
	out = append(out, rd.say(text+"\n", 2.5)...)
	out = append(out, word{opts: []option{{ids: []int32{lex.id(spThinkEnd)}}}, margin: 8})
	return append(out, rd.say("\n\n", 8)...)
}

// goOn drops from an answer what was said already.
func (rd *reader) goOn(said string, answer []word) []word {
	full := rd.plain(answer)
	if rest, ok := strings.CutPrefix(full, said); ok && strings.TrimSpace(rest) != "" {
		return rd.say(rest, 4)
	}
	if text, ok := complete(said); ok {
		return rd.say(" "+text+".", 5)
	}
	return answer
}

// plain is the text of an answer's first choices.
func (rd *reader) plain(words []word) string {
	var b strings.Builder
	for _, w := range words {
		for _, id := range w.opts[0].ids {
			b.WriteString(rd.m.lex.print(id))
		}
	}
	return b.String()
}

// rambles reports whether unclosed thoughts of earlier turns have made the model lose the thread.
func (rd *reader) rambles() bool {
	open := 0
	for _, t := range rd.turns[:max(0, len(rd.turns)-1)] {
		if t.open && (t.role == "assistant" || t.role == "model") {
			open++
		}
	}
	return open > 1 && unit(mix(rd.seed, 99)) < min(0.9, 0.3*float64(open))
}
