package scripted

import (
	"slices"
	"strings"
)

// condition is one predicate over a request and the engine's state, with its words.
type condition struct {
	words string // %s is the parameter
	met   func(a *armed, c *call, v int) bool
}

// conditions is the vocabulary of triggers. A condition about the answer holds only at the stages that know it.
var conditions = map[string]condition{
	"prompt-over": {"the prompt is longer than %s tokens", func(_ *armed, c *call, v int) bool { return c.sent > v }},
	"prompt-from": {"the prompt has %s tokens or more", func(_ *armed, c *call, v int) bool { return c.sent >= v }},
	"selection": {
		"the prompt is longer than the selected blocks (%s x ratio) tokens", func(a *armed, c *call, v int) bool {
			return c.sent > v*a.par["ratio"]
		},
	},
	"computed-over": {
		"more than %s tokens are computed, not cached", func(_ *armed, c *call, v int) bool {
			return c.p.n()-c.hit.tokens > v
		},
	},
	"residue": {"the prompt's length is residue modulo %s", func(a *armed, c *call, v int) bool {
		return c.sent%v == a.par["residue"]
	}},
	"hit": {
		"at least %s tokens come from the prefix cache", func(_ *armed, c *call, v int) bool { return c.hit.tokens >= v },
	},
	"whole": {
		"at most a page is left to compute", func(_ *armed, c *call, _ int) bool {
			return c.hit.tokens > 0 && c.p.n()-c.hit.tokens <= blockTokens
		},
	},
	"restored": {
		"pages are restored from the host tier, or were before", func(_ *armed, c *call, _ int) bool {
			return c.hit.restored || c.hit.bad
		},
	},
	"active": {"%s requests or more are in flight", func(_ *armed, c *call, v int) bool { return len(c.peers)+1 >= v }},
	"band": {"%s to twice as many requests are in flight", func(_ *armed, c *call, v int) bool {
		return len(c.peers)+1 >= v && len(c.peers)+1 <= 2*v
	}},
	"batch": {"another request is in flight", func(_ *armed, c *call, _ int) bool { return len(c.peers) > 0 }},
	"unequal": {"another request in flight has another length (10 %)", func(_ *armed, c *call, _ int) bool {
		for _, p := range c.peers {
			if d := p.size.prompt - c.size.prompt; 10*d > c.size.prompt || -10*d > c.size.prompt {
				return true
			}
		}
		return false
	}},
	"every": {
		"the number of the request is a multiple of %s",
		func(_ *armed, c *call, v int) bool { return c.nth%v == 0 },
	},
	"served": {"more than %s requests have been served", func(_ *armed, c *call, v int) bool { return c.nth > v }},
	"tools":  {"tools are sent", func(_ *armed, c *call, _ int) bool { return c.r != nil && len(c.r.Tools) > 0 }},
	"tools-or-load": {"tools are sent, or %s requests or more are in flight", func(_ *armed, c *call, v int) bool {
		return len(c.r.Tools) > 0 || len(c.peers)+1 >= v
	}},
	"tools-or-empty": {"tools are sent, or an assistant turn has empty content", func(_ *armed, c *call, _ int) bool {
		if len(c.r.Tools) > 0 {
			return true
		}
		for _, m := range c.r.Messages {
			if m.Role == "assistant" && m.text == "" {
				return true
			}
		}
		return false
	}},
	"stream": {"the answer is streamed", func(_ *armed, c *call, _ int) bool { return c.r.Stream }},
	"chat":   {"the chat route is used", func(_ *armed, c *call, _ int) bool { return c.chat }},
	"silent": {"reasoning is not requested", func(_ *armed, c *call, _ int) bool { return !c.r.thinks() }},
	"may-think": {"reasoning is not switched off", func(_ *armed, c *call, _ int) bool {
		on, given := c.r.thinking()
		return on || !given
	}},
	"omitted": {
		"the request leaves temperature out", func(_ *armed, c *call, _ int) bool { return c.r.Temperature == nil },
	},
	"turns": {
		"the chat has %s user turns or more", func(_ *armed, c *call, v int) bool { return c.p == nil || c.p.turns >= v },
	},
	"open": {
		"an assistant turn opens a reasoning tag and never closes it, or was cut in it", func(_ *armed, c *call, _ int) bool {
			return openTurn(c.r) >= 0
		},
	},
	"output": {"the answer is longer than %s tokens", func(_ *armed, c *call, v int) bool { return c.length() > v }},
	"short":  {"the answer is short", func(_ *armed, c *call, _ int) bool { return c.length() <= 32 }},
	"output-or-load": {
		"the answer is longer than 100 tokens, or %s requests or more are in flight", func(_ *armed, c *call, v int) bool {
			return c.length() > 100 || len(c.peers)+1 >= v
		},
	},
	"chance": {"with %s %% chance", func(a *armed, c *call, v int) bool { return a.roll(c, "chance")*100 < float64(v) }},
	"mixed": {"the requests in flight ask for unequal lengths", func(_ *armed, c *call, _ int) bool {
		for _, p := range c.peers {
			if p.size != c.size {
				return true
			}
		}
		return false
	}},
	"replica": {"the connection lands on one bad replica of %s", func(a *armed, c *call, v int) bool {
		return int(c.conn%uint64(max(v, 1))) == a.par["bad-replica"]
	}},
}

// openTurn is the index of the last assistant turn whose reasoning is not closed, -1 without one.
func openTurn(r *request) int {
	for i, m := range slices.Backward(r.Messages) {
		cut := m.Role == "assistant" && strings.TrimSpace(m.text) == "" && len(m.ToolCalls) == 0 &&
			(m.ReasoningContent != nil || m.Reasoning != nil)
		if openThought(m) || cut {
			return i
		}
	}
	return -1
}
