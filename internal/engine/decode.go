package engine

// decodeOps are the decisions of decode steps that a bug can get wrong.
type decodeOps struct {
	place func(m *machine, req *request, i int) int // row address of generated token i
	angle func(req *request, i int) int             // its position
	pick  func(req *request, d, before dist) dist   // logits that this step samples from
	head  func(m *machine, tok int32) int32         // what the output layer makes of the best token
}

func soundDecode() decodeOps {
	return decodeOps{
		place: func(m *machine, req *request, i int) int { return m.pg.write(req.table, i, m.p.Page) },
		angle: func(_ *request, i int) int { return i },
		pick:  func(_ *request, d, _ dist) dist { return d },
		head:  func(_ *machine, tok int32) int32 { return tok },
	}
}

// next reads the memory and returns the distribution of the next token.
func (rk *rank) next(req *request, decode bool) dist {
	m := rk.m
	q := query{
		n: req.computed, prompt: len(req.prompt), decode: decode, chunk: req.chunk, hit: req.hit,
		batch: len(rk.batch.reqs), table: rk.batch.tables[req.slot], request: req,
	}
	if !decode {
		m.bat.sync(rk.batch, req.slot)
		if t := rk.batch.tables[req.slot]; len(t) > 0 {
			q.table = t
		}
	}
	if req.score && len(req.gen) == 0 && req.promptLP == nil {
		m.scorePrompt(rk, q)
	}
	d := m.think(rk, q)
	if decode {
		req.decoded++
		d, req.mind.before = m.dec.pick(req, d, req.mind.before), d
	} else {
		req.mind.before = d
	}
	return d
}

// emit samples from a distribution, appends the token and ends the request where it ends.
func (rk *rank) emit(req *request, d dist) {
	if req.done {
		return
	}
	m := rk.m
	e := m.sample(rk, req, d)
	rk.accept(req, e)
}

// accept appends one token.
func (rk *rank) accept(req *request, e emitted) {
	m := rk.m
	if req.done {
		return
	}
	req.gen = append(req.gen, e.tok)
	if req.slot >= 0 {
		rk.batch.last[req.slot] = e.tok
	}
	req.mind.say(e.tok)
	if m.stp.token(m, e.tok) && req.eos && !rk.deaf {
		if m.stp.shown {
			req.out = append(req.out, e)
		}
		req.finish, req.done = "stop", true
		return
	}
	req.out = append(req.out, e)
	if m.bat.resend != nil && !req.resent && len(req.out) == m.bat.resend(req) {
		req.out, req.resent = append(req.out, req.out...), true
	}
	if len(req.gen) >= req.most {
		req.finish, req.done = "length", true
	}
}
