package scripted

import (
	"context"
	"strings"
	"time"
)

// The imagined engine's speed at Pace 1.
const (
	prefillToken = 50 * time.Microsecond
	decodeToken  = 5 * time.Millisecond
)

// choice is one finished answer, cut to tokens.
type choice struct {
	reasoning []string
	text      []scored
	calls     []callBody
	finish    string
	tokens    int // generated
}

// serve brings a call through the engine up to its answers.
func (e *Engine) serve(ctx context.Context, c *call, alive func()) ([]choice, *apiError, error) {
	if err := e.join(ctx, c); err != nil {
		return nil, nil, err
	}
	c.at(e, func(a *armed) func(*armed, *call) { return a.render })
	if c.chat {
		c.p = c.whole
		if c.t != (template{bos: 1}) {
			c.p = c.t.chat(c.r)
		}
	}
	c.sent, c.reported = c.p.n(), c.p.n()
	c.cap = c.r.maxTokens(max(1, e.o.Window-c.sent))
	c.at(e, func(a *armed) func(*armed, *call) { return a.admit })
	switch {
	case c.reject != nil:
		return nil, c.reject, nil
	case c.swallow || c.reported == 1:
	case c.p.n() > e.o.Window || c.r.MaxTokens != nil && c.p.n()+c.cap > e.o.Window:
		return nil, tooLong(e.o.Window, c.p.n(), c.cap), nil
	}
	c.cap = min(c.cap, e.o.Window)
	e.find(c)
	if err := e.prefill(ctx, c, alive); err != nil {
		return nil, nil, err
	}
	c.v = &view{p: c.p}
	_, c.adapter = splitModel(c.r.Model)
	c.sure = 1
	c.at(e, func(a *armed) func(*armed, *call) { return a.see })
	sure := c.sure
	n := 1
	if c.r.N != nil {
		n = *c.r.N
	}
	var out []choice
	for i := range n {
		c.choice, c.sure = i, sure
		c.say(e)
		out = append(out, c.finish())
	}
	c.at(e, func(a *armed) func(*armed, *call) { return a.send })
	e.remember(c)
	return out, nil, nil
}

// at runs one stage of every armed fault whose trigger holds.
func (c *call) at(e *Engine, stage func(*armed) func(*armed, *call)) {
	for _, a := range e.faults {
		if f := stage(a); f != nil && a.holds(c) {
			f(a, c)
		}
	}
}

// find looks the prompt up in the prefix cache.
func (e *Engine) find(c *call) {
	_, adapter := splitModel(c.r.Model)
	c.root = strings.Join(append([]string{c.r.CacheSalt, adapter}, c.p.images...), "\x00")
	for _, a := range e.faults {
		if a.ID == "FK21" {
			c.root = ""
		}
		if a.ID == "FK42" { // replicas share nothing
			c.root += string(rune('A' + c.conn%uint64(max(1, a.par["replicas"]))))
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	c.chain = e.cache.chain(c.p, c.root)
	c.hit = e.cache.lookup(c.chain, c.p.n())
}

// prefill waits as long as the computed tokens take.
func (e *Engine) prefill(ctx context.Context, c *call, alive func()) error {
	pace := e.o.Pace
	times := 1
	if e.o.Control == SlowPrefill {
		pace, times = max(pace, 0.02)*10, 4
	}
	wait := time.Duration(float64(c.p.n()-c.hit.tokens) * pace * float64(prefillToken))
	for i := range times {
		if err := pause(ctx, wait/time.Duration(times)); err != nil {
			return err
		}
		if times > 1 && i < times-1 && alive != nil {
			alive()
		}
	}
	return nil
}

// decoding is the time of n generated tokens.
func (e *Engine) decoding(n int) time.Duration {
	return time.Duration(float64(n) * e.o.Pace * float64(decodeToken))
}

// say makes one answer: the oracle's, then what the faults make of it.
func (c *call) say(e *Engine) {
	c.dead = false
	o := newOracle(c.v, c.r, c.random())
	o.adapter, o.most = c.adapter, min(c.cap, maxItems)
	c.out = o.answer()
	if c.out.sure == 0 {
		c.out.sure = 1
	}
	if !c.out.found && c.miss != "" && c.miss != "deny" {
		for _, a := range e.faults {
			if a.word("miss") == c.miss {
				c.wrong(a, c.miss)
				break
			}
		}
	}
	if e.o.Control == WeakModel && len(c.out.used) > 0 && unit(mix(c.key^e.o.Seed)) < 0.2 {
		c.weak()
	}
	if c.chat && c.r.thinks() && len(c.out.calls) == 0 {
		c.out.reasoning = "The question asks for something that was given before, so I look it up and answer."
	}
	c.at(e, func(a *armed) func(*armed, *call) { return a.say })
}

// weak is how a weak model misses: it denies, or misreads a digit. The prompt decides, so that repeats agree.
func (c *call) weak() {
	if c.key&1 == 0 {
		c.out.text, c.out.used = denial, nil
		return
	}
	for _, f := range c.out.used {
		c.out.text = strings.Replace(c.out.text, f.value, garble(f.value, c.key), 1)
	}
}

// finish cuts the answer into tokens under the cap and the stop strings, and scores them.
func (c *call) finish() choice {
	var out choice
	text, finish := c.out.text, c.out.finish
	if c.swallow {
		return choice{finish: "stop"}
	}
	if c.dead {
		n := min(c.cap, 512)
		text, finish = strings.Repeat("+", n), "length"
		c.out = answer{sure: 1}
	}
	if !c.chat && text != "" && !isBlank(text[0]) {
		text = " " + text
	}
	for _, s := range c.r.stops {
		if i := strings.Index(text, s); i >= 0 {
			text, finish = text[:i], "stop"
		}
	}
	left := c.cap
	if c.out.reasoning != "" {
		out.reasoning = pieces(c.out.reasoning)
		if len(out.reasoning) >= left {
			out.reasoning, out.finish = out.reasoning[:left], "length"
			if c.budgetStop {
				out.finish = "stop"
			}
			out.tokens = left
			return out
		}
		left -= len(out.reasoning)
	}
	words := pieces(text)
	cut := len(words) > left
	if cut {
		words = words[:left]
	}
	left -= len(words)
	for _, k := range c.out.calls {
		args := pieces(k.Arguments)
		cost := Tokens(k.Name) + len(args)
		if cost > left {
			cut = true
			args = args[:max(0, left-Tokens(k.Name))]
			left = 0
			out.calls = append(out.calls, callBody{k.Name, strings.Join(args, "")})
			break
		}
		left -= cost
		out.calls = append(out.calls, k)
	}
	out.tokens = c.cap - left
	switch {
	case cut, finish == "length":
		out.finish = "length"
	case finish != "":
		out.finish = finish
	case len(out.calls) > 0:
		out.finish = "tool_calls"
	default:
		out.finish = "stop"
	}
	out.text = c.scores(words)
	return out
}

// scores gives the answer's tokens their log-probabilities.
func (c *call) scores(words []string) []scored {
	out := make([]scored, len(words))
	if c.r.top < 0 {
		for i, w := range words {
			out[i].token = w
		}
		return out
	}
	w := contextOf(c.p)
	sure := c.sure * c.out.sure
	for i, t := range words {
		switch {
		case c.dead:
			out[i] = scored{alternative{t, -0.6931}, []alternative{{t, -0.6931}}}
			continue
		case c.out.rough > 0 && i >= c.out.rough:
			out[i] = score(w, t, c.r.top, sure*max(0.25, 0.8-0.05*float64(i)))
		default:
			out[i] = score(w, t, c.r.top, sure)
		}
		w.push(t)
	}
	misreport(c.logs, out)
	return out
}

// echoed scores the prompt itself, frame aside, as prefill sees it; the first token has no context.
func (c *call) echoed() []scored {
	var out []scored
	var w window
	for _, q := range c.p.parts {
		for i := q.from; i < q.to; i++ {
			t := c.p.slice(i, i+1)
			if q.kind != frame {
				sure := 1.0
				if c.p.n()-i <= 64 {
					sure = c.sure
				}
				out = append(out, score(w, t, c.r.top, sure))
			}
			w.push(t)
		}
	}
	return out
}

func splitModel(name string) (base, adapter string) {
	base, adapter, _ = strings.Cut(name, ":")
	return base, adapter
}
