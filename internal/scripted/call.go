package scripted

import (
	"math/rand/v2"
	"strings"
	"unicode/utf8"
)

// call is one request on its way through the engine.
type call struct {
	e        *Engine
	r        *request
	chat     bool
	t        template
	whole    *prompt // as a healthy template renders it
	p        *prompt // what the engine works on
	sent     int     // tokens rendered, before any cut
	size     size    // what other calls may look at
	reported int     // prompt_tokens of the usage
	cap      int     // most tokens of the answer
	chain    []uint64
	hit      hit
	root     string
	key      uint64 // of the healthy prompt's text
	occ      int    // which coming of this prompt, from 0
	nth      int    // which request of the engine, from 1
	conn     uint64
	peers    []*call // in flight together with this one at some time
	frozen   bool    // who was there is settled
	choice   int
	draws    uint64

	v          *view
	adapter    string
	miss       string // how a lost answer is put
	sure       float64
	greedy     bool
	swallow    bool
	dead       bool
	budgetStop bool
	spoiled    bool // pages restored wrongly
	wire       wireDamage
	logs       string // how log-probabilities are misreported, see misreport
	reject     *apiError
	out        answer
}

// owner is who filled a page.
type owner struct {
	images  []string
	adapter string
}

// length is the answer's length in tokens as far as the cap allows.
func (c *call) length() int {
	n := Tokens(c.out.text)
	for _, k := range c.out.calls {
		n += Tokens(k.Name) + Tokens(k.Arguments)
	}
	return min(n, c.cap)
}

// next is a running draw of this call.
func (c *call) next(a *armed) uint64 {
	c.draws++
	return mix(a.seed ^ mix(c.key^uint64(c.occ)<<40^c.draws))
}

func (c *call) firstCharacter() rune {
	for _, q := range c.whole.parts {
		if q.kind == content && q.role == "user" {
			r, _ := utf8.DecodeRuneInString(strings.TrimSpace(c.whole.slice(q.from, q.to)))
			return r
		}
	}
	return 0
}

// size is what a call shows to the others in flight: it never changes.
type size struct{ prompt, cap int }

// truth is the answer of a healthy engine. Other calls may ask for it.
func (c *call) truth() answer {
	o := newOracle(&view{p: c.whole}, c.r, rand.New(rand.NewPCG(c.key, 0)).Float64)
	return o.answer()
}

// random draws free text: the same at temperature 0, by the request's seed when it sends one, new each time otherwise.
func (c *call) random() func() float64 {
	second := uint64(0)
	temperature := 1.0
	if c.r.Temperature != nil {
		temperature = *c.r.Temperature
	}
	if c.r.TopK != nil && *c.r.TopK == 1 {
		temperature = 0
	}
	if temperature > 0 && !c.greedy {
		second = uint64(c.choice) + 1
		if c.r.Seed != nil {
			second += uint64(*c.r.Seed) << 16
		} else {
			second += uint64(c.occ+1)<<32 + c.e.o.Seed<<48
		}
	}
	return rand.New(rand.NewPCG(c.key, second)).Float64
}

// prefixKey names the first tokens of a prompt under its salt.
func (c *call) prefixKey(tokens int) uint64 {
	return hash64(c.root, c.p.slice(0, min(tokens, c.p.n())))
}

// nearMiss changes up to n values of the answer by a digit or two.
func (c *call) nearMiss(a *armed, n int) {
	for _, f := range c.out.used[:min(n, len(c.out.used))] {
		c.out.text = strings.Replace(c.out.text, f.value, garble(f.value, hash64(a.ID, f.value)), 1)
	}
}

// wrong replaces a right answer in a style: deny, invent, near-miss, filler-echo or other-request.
func (c *call) wrong(a *armed, style string) {
	truth := c.out
	if !truth.found || len(truth.used) == 0 {
		truth = c.truth()
	}
	switch style {
	case "near-miss":
		c.nearMiss(a, 1)
	case "invent":
		s := truth.text
		if len(truth.used) == 0 {
			s = "It is 70431."
		}
		h := hash64(a.ID, s) ^ c.key
		out := []byte(s)
		for i := range out {
			if isDigit(out[i]) {
				h = mix(h)
				out[i] = '0' + byte(h%10)
			}
		}
		c.out = answer{sure: 0.4, text: string(out)}
	case "filler-echo":
		spans := c.p.sentenceSpans()
		if len(spans) == 0 {
			c.out = answer{sure: 0.4, text: denial}
			return
		}
		r := spans[len(spans)/3]
		c.out = answer{sure: 0.4, text: strings.TrimSpace(c.p.slice(r[0], min(r[1], r[0]+12)))}
	case "other-request":
		c.otherRequest(a)
	default:
		c.out = answer{sure: 0.5, text: denial}
	}
}

// otherRequest answers as the engine answered somebody else.
func (c *call) otherRequest(a *armed) {
	if old, ok := c.e.lastOther(c.key); ok {
		c.out = old
		return
	}
	c.out = answer{
		sure: 1,
		text: "The meeting is moved to Thursday. " + prose(16, func() float64 { return unit(c.next(a)) }),
	}
}

// loopFrom keeps n tokens and repeats the last six up to the cap.
func (c *call) loopFrom(n int) {
	ps := pieces(c.out.text)
	if len(ps) <= n {
		return
	}
	ps = ps[:n]
	phrase := strings.Join(ps[max(0, n-6):], "")
	c.out.text = strings.Join(ps, "") + strings.Repeat(phrase, max(0, c.cap-n)/6+1)
	c.out.calls = nil
}
