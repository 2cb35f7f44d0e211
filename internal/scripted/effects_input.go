package scripted

import (
	"math"
	"strings"
)

func cutHead(a *armed, c *call) {
	keep := a.par["limit"]/2 + 2
	n := c.p.n()
	c.p = c.p.crop(func(i int) bool { return i >= n-keep })
	c.reported = c.p.n()
}

func cutMiddle(a *armed, c *call) {
	limit, n := a.par["limit"], c.p.n()
	head := limit / 4
	c.p = c.p.crop(func(i int) bool { return i < head || i >= n-(limit-head) })
	c.reported = c.p.n()
}

// splitWindow shares the window among slots, or among all that are in flight.
func splitWindow(a *armed, c *call) {
	share := c.e.o.Window / a.par["slots"]
	n := c.p.n()
	switch a.word("variant") {
	case "slot-error":
		if n > share {
			c.reject = tooLong(share, n, c.cap)
		}
	case "slot-cut":
		if n > share {
			c.p = c.p.crop(func(i int) bool { return i >= n-(share/2+2) })
			c.reported = c.p.n()
		}
	default:
		sum := n
		for _, p := range c.e.others(c) {
			sum += p.size.prompt
		}
		if sum > c.e.o.Window {
			c.reject = tooLong(c.e.o.Window, n, c.cap)
		}
	}
}

func dropMessage(a *armed, c *call) {
	switch a.word("variant") {
	case "developer":
		c.t.dropDeveloper = true
	case "late-system":
		c.t.dropLateSystem = true
	default:
		c.t.dropTools = true
	}
}

func dropReasoning(a *armed, c *call) {
	w := a.word("variant")
	c.t.dropReasoningContent = w != "reasoning"
	c.t.dropReasoning = w != "reasoning_content"
}

// hideHistory takes everything before the last user message away, the first system text aside.
func hideHistory(_ *armed, c *call) {
	last, ok := c.p.lastUser()
	if !ok {
		return
	}
	for _, q := range c.v.p.parts {
		if q.to <= last.from && q.role != "system" {
			c.v.hidePart(q)
		}
	}
}

func intoThoughts(_ *armed, c *call) {
	c.out.reasoning, c.out.text = c.out.text, ""
}

func oddStart(a *armed, c *call) {
	if a.fixed(c, "odd")*100 >= float64(a.par["percent"]) {
		return
	}
	if a.fixed(c, "misread") < 0.5 {
		c.nearMiss(a, 1)
	}
	c.out.text = "ing the, " + c.out.text
}

func breakHeader(a *armed, c *call) {
	if a.word("variant") == "no-header" {
		c.t.noGeneration = true
	} else {
		c.t.listLiteral = true
	}
}

func continueUser(a *armed, c *call) {
	if a.roll(c, "continue") < 0.2 {
		return
	}
	c.out.calls = nil
	c.out.text = " And please also tell me why, as I asked before."
}

// selectSparse models the choice of far text by likeness with the question. A sentence that shares a run of six words
// or more with it is found in 19 of 20 cases (a verbatim cue), any other by a lottery of one in five (nearly one in two
// for each of four and more copies, so that eight are found), and one that shares no two words never, if it holds a
// number.
func selectSparse(a *armed, c *call) {
	p := c.p
	from := p.n() - a.par["local"]
	if q := c.v.questionAt(); q < from {
		from = q
	}
	asked := wordsOf(p.slice(c.v.questionAt(), p.n()))
	spans := p.sentenceSpans()
	copies := map[string]int{}
	for _, r := range spans {
		copies[strings.TrimSpace(p.slice(r[0], r[1]))]++
	}
	for i, r := range spans {
		if r[1] > from {
			continue
		}
		run := commonRun(asked, wordsOf(p.slice(r[0], r[1])))
		chance := 0.2
		switch {
		case run >= 2 && copies[strings.TrimSpace(p.slice(r[0], r[1]))] >= 4:
			chance = 0.45
		case run >= 6:
			chance = 0.95
		case run < 2:
			chance = 0.04
		}
		if unit(mix(hash64(a.ID, "select")^mix(a.seed^c.key^uint64(i)))) >= chance {
			c.v.hide(r[0], r[1])
		}
	}
	c.sure *= 0.6
	c.miss = a.word("miss")
}

func wordsOf(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return r < 'a' || r > 'z' })
}

// commonRun is the longest run of words that both have.
func commonRun(a, b []string) int {
	best := 0
	for i := range a {
		for j := range b {
			n := 0
			for i+n < len(a) && j+n < len(b) && a[i+n] == b[j+n] {
				n++
			}
			best = max(best, n)
		}
	}
	return best
}

// seeTail hides all but the last tokens.
func seeTail(param string) func(*armed, *call) {
	return func(a *armed, c *call) {
		c.v.hide(0, c.p.n()-a.par[param])
		c.miss = a.word("miss")
	}
}

// blankIfMissed leaves no text when the visible text had no answer.
func blankIfMissed(_ *armed, c *call) {
	if !c.out.found {
		c.out.text = ""
	}
}

// fadeFar hides sentences with a chance that grows with their distance beyond the native length: half of them at
// 1.2 times that distance.
func fadeFar(a *armed, c *call) {
	native := float64(a.par["native"])
	for i, r := range c.p.sentenceSpans() {
		d := float64(c.p.n() - r[0])
		if d <= native {
			break
		}
		seen := math.Exp2(-(d - native) / (0.2 * native))
		if unit(mix(hash64(a.ID)^mix(a.seed^c.key^uint64(i)))) >= seen {
			c.v.hide(r[0], r[1])
		}
	}
}

// loopFar: prompts of three times the native length and more end in loops, unless the tail answers.
func loopFar(a *armed, c *call) {
	if c.p.n() > 3*a.par["native"] && !c.out.found {
		c.out.text = strings.Repeat(" and then and then the", 40)
	}
}

// seeChunks: chunks count from the first computed token, so that a cached prefix moves the seams.
func seeChunks(a *armed, c *call) {
	chunk, from, n := a.par["chunk"], c.hit.tokens, c.p.n()
	last := from + (n-from-1)/chunk*chunk
	switch a.word("variant") {
	case "last":
		c.v.hide(from, last)
	case "first":
		c.v.hide(from+chunk, min(n-64, c.v.questionAt()))
	case "seam":
		for s := from + chunk; s < n; s += chunk {
			c.v.hide(s-a.par["spread"], min(s+a.par["spread"], c.v.questionAt()))
		}
	}
}

func junkChunks(a *armed, c *call) {
	if a.word("variant") == "junk" {
		c.out.text = junk("noise", func(i int) float64 { return a.roll(c, string(rune('a'+i))) }, 24)
		c.out.found, c.out.used, c.out.calls = false, nil, nil
	}
}

// lastDigit: deep is at least 256 tokens from the end and 128 from the start.
func lastDigit(a *armed, c *call) {
	for _, f := range c.out.used {
		if c.p.n()-f.at < 256 || f.at < 128 || f.value == "" {
			continue
		}
		if i := len(f.value) - 1; isDigit(f.value[i]) {
			wrong := f.value[:i] + string('0'+(f.value[i]-'0'+1+byte(hash64(a.ID, f.value)%8))%10)
			c.out.text = strings.Replace(c.out.text, f.value, wrong, 1)
		}
	}
}

// coarse changes one or two characters of a value with a chance that grows with its distance beyond 512 tokens. Copies
// must all be misread.
func coarse(a *armed, c *call) {
	for i, f := range c.out.used {
		d := float64(c.p.n()-f.at) - 512
		if d <= 0 {
			continue
		}
		c.sure *= math.Max(0.3, 1-d/8192)
		if unit(mix(hash64(a.ID, f.value)^mix(a.seed^c.key^uint64(i)))) <
			math.Pow(math.Min(0.85, d/float64(a.par["scale"])), float64(max(1, f.copies))) {
			c.out.text = strings.Replace(c.out.text, f.value, garble(f.value, hash64(a.ID, f.value)), 1)
		}
	}
}
