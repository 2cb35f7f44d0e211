package scripted

import (
	"strings"
)

func loopLate(a *armed, c *call) {
	c.loopFrom(a.par["output"])
}

func greedyAlways(a *armed, c *call) {
	if a.word("variant") == "no-temperature" {
		c.greedy = true
	}
}

func speculate(a *armed, c *call) {
	switch a.word("variant") {
	case "loops":
		if (c.p.turns >= a.par["turns"] || c.length() > 300) && a.roll(c, "loop") < 0.6 {
			c.out = answer{sure: 1, text: strings.Repeat("let me check that again, ", max(1, c.cap/5))}
		}
	case "early-special":
		if c.p.turns >= a.par["turns"] && a.roll(c, "special") < 0.6 || c.length() > 200 && a.roll(c, "special") < 0.6 {
			ps := pieces(c.out.text)
			c.out.text = strings.Join(ps[:min(len(ps), 1+int(a.roll(c, "at")*float64(min(len(ps), 40))))], "") + bosToken
			c.out.finish, c.out.calls = "stop", nil
		}
	}
}

var scripts = strings.Fields("привет система данные время 数据 系统 时间 模型 " +
	"שלום מערכת नमस्ते समय γεια σύστημα")

// sprinkle replaces words at the drawn rate, at least one.
func sprinkle(a *armed, c *call) {
	ps := pieces(c.out.text)
	hit := false
	for i := range ps {
		h := a.roll(c, "word"+string(rune(i+1)))
		if h*100 < float64(a.par["percent"]) || !hit && i == len(ps)-1 {
			ps[i] = " " + scripts[int(mix(uint64(i)^c.key)%uint64(len(scripts)))]
			hit = true
		}
	}
	c.out.text = strings.Join(ps, "")
}

func leak(a *armed, c *call) {
	ps := pieces(c.out.text)
	at := int(a.roll(c, "at") * float64(len(ps)))
	tag := []string{"<|end|><|user|>", "<|call|>", "</think>", "<|assistant|>"}[int(a.roll(c, "tag")*4)]
	c.out.text, c.out.finish, c.out.calls = strings.Join(ps[:at], "")+tag, "stop", nil
}

func unrelated(a *armed, c *call) {
	c.out = answer{sure: 1, text: "Here is a short story. " + prose(24, func() float64 { return unit(c.next(a)) })}
}

// decodeWrong leaves the first token and spoils each later one with a chance that grows with its place: digits become
// others, words are repeated.
func decodeWrong(a *armed, c *call) {
	ps := pieces(c.out.text)
	for i := 1; i < len(ps); i++ {
		p := float64(a.par["percent"]) / 100 * (1 + float64(i)/40)
		if unit(mix(hash64(a.ID, ps[i])^mix(a.seed^c.key^uint64(i)<<20))) >= min(p, 0.6) {
			continue
		}
		own := strings.TrimSpace(ps[i])
		if len(own) == 1 && isDigit(own[0]) {
			ps[i] = strings.Replace(ps[i], own, string('0'+(own[0]-'0'+3)%10), 1)
		} else if isASCIILetter(own[0]) {
			ps[i] = ps[i-1]
		}
	}
	c.out.text = strings.Join(ps, "")
	c.out.rough = 1
}

func thinkLong(a *armed, c *call) {
	c.out.reasoning = prose(a.par["thoughts"]*8/9, func() float64 { return unit(c.next(a)) })
	if a.word("variant") == "stop" {
		c.budgetStop = true
	}
}

// The inner fault of a bad replica.
func replicaSee(a *armed, c *call) {
	if a.word("variant") == "tail-256" && c.p.n() > 256 {
		c.v.hide(0, c.p.n()-256)
	}
}

func replicaSay(a *armed, c *call) {
	c.dead = c.dead || a.word("variant") == "dead-logits"
}

func hiddenGreedy(a *armed, c *call) {
	if a.word("variant") == "greedy" {
		c.greedy = true
	}
}

// hiddenPenalty forbids a digit that the answer has had.
func hiddenPenalty(a *armed, c *call) {
	if a.word("variant") != "penalty" {
		return
	}
	var seen [10]bool
	out := []byte(c.out.text)
	for i, b := range out {
		if !isDigit(b) {
			continue
		}
		for k := 0; seen[b-'0'] && k < 10; k++ {
			b = '0' + (b-'0'+1)%10
		}
		seen[b-'0'] = true
		out[i] = b
	}
	c.out.text = string(out)
}

// firstHalf talks about a sentence of the first half.
func firstHalf(_ *armed, c *call) {
	spans := c.p.sentenceSpans()
	if len(spans) == 0 {
		return
	}
	r := spans[min(len(spans)-1, len(spans)/4)]
	c.out = answer{
		sure: 1,
		text: "You write that " + strings.TrimSpace(c.p.slice(r[0], min(r[1], r[0]+40))) +
			" That is an interesting thought, and it can be followed further.",
	}
}

// junk is text without sense in one of three styles.
func junk(style string, draw func(i int) float64, n int) string {
	switch style {
	case "stop":
		return ""
	case "special":
		return strings.Repeat("<|end|><|user|>", n/4)
	case "repeat":
		return strings.Repeat("4.", n)
	}
	const signs = "!!!!#%&*~^$@]}{=|"
	var b strings.Builder
	for i := range n {
		b.WriteByte(signs[int(draw(i)*float64(len(signs)))])
		if i%5 == 4 {
			b.WriteString("\ufffd")
		}
	}
	return b.String()
}

// garble changes one or two digits of a value, or a letter of one without.
func garble(v string, h uint64) string {
	var at []int
	for i := range len(v) {
		if isDigit(v[i]) {
			at = append(at, i)
		}
	}
	out := []byte(v)
	if len(at) == 0 {
		for i := range out {
			if isASCIILetter(out[i]) {
				at = append(at, i)
			}
		}
		if len(at) > 0 {
			i := at[h%uint64(len(at))]
			out[i] = 'a' + (out[i]|0x20-'a'+1)%26
		}
		return string(out)
	}
	for k := range 1 + int(h>>32%2) {
		i := at[(h+uint64(k)*3)%uint64(len(at))]
		out[i] = '0' + (out[i]-'0'+1+byte(h>>8%8))%10
	}
	return string(out)
}
