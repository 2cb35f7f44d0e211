package scripted

import "strings"

// forgetPrefix hides the reused prefix up to the local window before the question.
func forgetPrefix(a *armed, c *call) {
	q := c.v.questionAt()
	c.v.hide(0, min(c.hit.tokens, q-a.par["local"]))
	if a.word("variant") == "reused-and-new" {
		c.v.hide(c.hit.tokens, min(c.hit.tokens+128, q))
	}
	c.miss = a.word("miss")
}

// junkSay replaces the answer by junk from its first token.
func junkSay(a *armed, c *call) {
	c.out = answer{
		sure: c.out.sure,
		text: junk(a.word("variant"), func(i int) float64 { return a.fixed(c, string(rune('a'+i))) }, 24),
	}
	if c.out.text == "" {
		c.out.finish = "stop"
	}
}

// replay gives what was said first on this prefix.
func replay(a *armed, c *call) {
	if a.word("variant") == "echo" {
		if last, ok := c.p.lastUser(); ok {
			c.out = answer{sure: 1, text: c.p.slice(max(last.from, last.to-60), last.to)}
		}
		return
	}
	if old, ok := c.e.said(c.prefixKey(a.par["hit"])); ok {
		old.sure = c.out.sure
		c.out = old
	}
}

// otherOwner shows the pictures and the adapter of whoever filled the cache.
func otherOwner(_ *armed, c *call) {
	owner, ok := c.e.owner(c.chain[min(len(c.chain), max(1, c.hit.tokens/blockTokens))-1])
	if !ok {
		return
	}
	if len(owner.images) > 0 {
		c.v.images = owner.images
	}
	c.adapter = owner.adapter
}

// otherAnswer is the answer to the prompt served before, or one to a prompt that never was. The pages stay bad.
func otherAnswer(a *armed, c *call) {
	c.spoiled = true
	c.otherRequest(a)
}

// poison decides at a prefix's first hit and remembers.
func poison(a *armed, c *call) {
	if !c.e.poisoned(c.prefixKey(a.par["hit"]), a.roll(c, "poison")*100 < float64(a.par["percent"])) {
		return
	}
	c.out = answer{
		sure: 1,
		text: junk(a.word("variant"), func(i int) float64 { return a.fixed(c, string(rune('a'+i))) }, 24),
	}
}

func crossTalk(a *armed, c *call) {
	var from []*call
	for _, p := range c.peers {
		if p.key != c.key && (a.word("variant") == "any" || p.firstCharacter() == c.firstCharacter()) {
			from = append(from, p)
		}
	}
	if len(from) == 0 {
		return
	}
	other := from[int(a.roll(c, "peer")*float64(len(from)))].truth()
	if a.roll(c, "append") < 0.3 {
		c.out.text += " " + other.text
		return
	}
	c.out = other
}

// loadJunk: half of the short answers, nearly all long ones.
func loadJunk(a *armed, c *call) {
	if a.roll(c, "load") < 0.5+min(0.45, float64(c.length())/400) {
		c.out = answer{sure: 1, text: "!" + junk("noise", func(i int) float64 { return a.roll(c, string(rune('a'+i))) }, 24)}
	}
}

// shifted reads each value from one token too far.
func shifted(_ *armed, c *call) {
	for _, f := range c.out.used {
		if len(f.value) < 2 {
			continue
		}
		c.out.text = strings.Replace(c.out.text, f.value, f.value[1:]+string('0'+byte(hash64(f.value)%10)), 1)
	}
}

func earlyFinisher(a *armed, c *call) {
	if a.roll(c, "row") >= 0.6 {
		return
	}
	if a.word("variant") == "neighbour" {
		c.out = answer{sure: 1, text: strings.Repeat("!", 12)}
		return
	}
	ps := pieces(c.out.text)
	c.out.text, c.out.finish = strings.Join(ps[:len(ps)/2], ""), "stop"
	c.out.calls = nil
}

func showAborted(a *armed, c *call) {
	if s, ok := c.e.takeAborted(a.par["shows"]); ok {
		c.out.text = s
		c.out.calls = nil
	}
}

// drift: 5 % after the first 50 requests, ten times that by the next but one fifty.
func drift(a *armed, c *call) {
	over := float64(c.nth-a.par["served"]) / 50
	if a.roll(c, "drift") < min(0.5, 0.05+0.225*over) {
		c.wrong(a, a.word("miss"))
	}
}

// reword changes how an answer is put, not what it says.
func reword(a *armed, c *call) {
	c.sure *= 0.95 + 0.1*a.roll(c, "sure")
	if len(c.out.used) == 0 || len(c.out.calls) > 0 {
		return
	}
	switch t := c.out.text; int(a.roll(c, "word") * 4) {
	case 0:
		c.out.text = "It is " + t
	case 1:
		c.out.text = strings.TrimSuffix(t, ".") + "."
	case 2:
		c.out.text = "Sure: " + t
	}
}
