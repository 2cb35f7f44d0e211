package engine

import "bytes"

// word is one unit of an answer: choices of text, best first, and where in the prompt it was read.
type word struct {
	opts   []option
	margin float64 // nats between the best token and what is no choice
	src    [2]int  // tokens of the prompt, hi 0: read nowhere
	was    []byte  // text of src when it was read
}

type option struct {
	ids  []int32
	drop float64 // logit below the first option
}

// mind is the state of the reader of one request: what it means to say and how far it is.
type mind struct {
	view       view
	seen       bool
	plan       []word
	wi, oi, ti int
	said       int
	last       int32
	before     dist // of the step before, as a double buffer has it
	shown      dist // of the token whose log-probability was reported last
	listed     []alt
	tagged     int // turns made up behind the end
}

// target is the token that comes next by the plan.
func (md *mind) target() (w *word, tok int32) {
	if md.wi >= len(md.plan) {
		return nil, -1
	}
	w = &md.plan[md.wi]
	return w, w.opts[md.oi].ids[md.ti]
}

// say moves on by one token, whatever the plan was: a wrong token is taken as said.
func (md *mind) say(tok int32) {
	md.said++
	w, want := md.target()
	if w == nil {
		md.last = tok
		return
	}
	if md.ti == 0 {
		for i, o := range w.opts {
			if o.ids[0] == tok {
				md.oi, want = i, tok
				break
			}
		}
	}
	if tok != want && tok == md.last && md.said > 1 {
		return // the same token once more: the place in the answer is where it was
	}
	md.last = tok
	if md.ti++; md.ti >= len(w.opts[md.oi].ids) {
		md.wi, md.ti, md.oi = md.wi+1, 0, 0
	}
}

// replay follows what was said along a new plan and reports whether it agrees.
func (md *mind) replay(plan []word, gen []int32) (mind, bool) {
	next := mind{plan: plan}
	for _, t := range gen {
		w, want := next.target()
		if w == nil {
			return next, false
		}
		ok := want == t
		if next.ti == 0 {
			for _, o := range w.opts {
				ok = ok || o.ids[0] == t
			}
		}
		if !ok {
			return next, false
		}
		next.say(t)
	}
	return next, true
}

// think reads the memory and returns the distribution of the next token.
func (m *machine) think(rk *rank, q query) dist {
	req := q.request
	md := &req.mind
	v, changed := m.look(rk, q)
	need := req.logprobs >= 0 || req.temp > 0 || rk.batch.temps[req.slot] > 0 || m.lps.always
	if req.raw || m.bat.base != nil && m.bat.base(req.slot) {
		return m.continueText(req, v, need)
	}
	if md.plan == nil || changed {
		plan := m.read(v, req)
		if next, ok := md.replay(plan, req.gen); ok || md.plan == nil {
			md.plan, md.wi, md.oi, md.ti, md.said, md.last = plan, next.wi, next.oi, next.ti, next.said, next.last
			if !ok { // the answer began under another reading that is gone with its state
				md.wi, md.oi, md.ti = min(len(plan)-1, md.wi), 0, 0
			}
		}
	}
	m.recollect(req, v)
	if md.wi >= len(md.plan) {
		m.runOn(md)
	}
	w, tok := md.target()
	d := dist{best: tok, hash: mix(v.hash, uint64(md.said)*7919+uint64(uint32(tok)))}
	if w.src[1] > 0 && m.lost(v, w) {
		d.best = m.lookalike(tok, d.hash)
	}
	if !need {
		return d
	}
	choices := []alt{{d.best, 0}}
	if md.ti == 0 {
		for _, o := range w.opts[1:] {
			if o.ids[0] != d.best {
				choices = append(choices, alt{o.ids[0], -o.drop})
			}
		}
	}
	return m.spread(d, choices, w.margin*(0.85+0.3*unit(d.hash)))
}

// lost reports whether the place that a word is read from can no longer be seen as it was.
func (m *machine) lost(v *view, w *word) bool {
	if w.src[1] >= len(v.offs) {
		return true
	}
	return !bytes.Equal(v.text[v.offs[w.src[0]]:v.offs[w.src[1]]], w.was)
}

// recollect compares what stands in memory of the answer with what was said. Whoever does not see the own last words
// says them again; who sees another token than the one said stays where it was.
func (m *machine) recollect(req *request, v *view) {
	md := &req.mind
	n := min(len(v.tail), len(req.gen))
	if n == 0 || md.plan == nil {
		return
	}
	back := min(3, n)
	hidden, wrong := 0, 0
	for k := 1; k <= back; k++ {
		switch got := v.tail[len(v.tail)-k]; {
		case got < 0:
			hidden++
		case got != req.gen[len(req.gen)-k]:
			wrong++
		}
	}
	switch {
	case hidden == back && back > 1:
		md.wi, md.oi, md.ti = 0, 0, 0
	case hidden+wrong > 0 && md.ti > 0:
		md.ti--
	case hidden+wrong > 0 && md.wi > 0:
		md.wi, md.oi, md.ti = md.wi-1, 0, 0
	}
}

// runOn goes on behind the end of an answer, as a model does that nobody stops: it writes the next turns itself.
func (m *machine) runOn(md *mind) {
	md.tagged++
	head := [][]int32{}
	if m.tmpl.fam.special {
		head = append(head, []int32{m.lex.id(spUser)})
	} else {
		head = append(head, m.tok.encode("\n"), []int32{m.lex.id(spStart)}, m.tok.encode("user\n"))
	}
	head = append(head, m.tok.encode("Thank you, and what else is there to know"))
	if m.tmpl.fam.special {
		head = append(head, []int32{m.lex.id(spAssistant)})
	} else {
		head = append(head, []int32{m.lex.id(spEnd)}, m.tok.encode("\n"), []int32{m.lex.id(spStart)},
			m.tok.encode("assistant\n"))
	}
	head = append(head, m.tok.encode("There is nothing else to say."), []int32{m.eosID()})
	for _, ids := range head {
		if len(ids) > 0 {
			md.plan = append(md.plan, word{opts: []option{{ids: ids}}, margin: 4})
		}
	}
}

// eosID is the token that ends an answer of this family.
func (m *machine) eosID() int32 {
	if m.tmpl.fam.special {
		return m.lex.id(spEOS)
	}
	return m.lex.id(spEnd)
}
