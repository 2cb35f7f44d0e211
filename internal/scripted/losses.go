package scripted

import (
	"math"
	"strings"
)

// losses are faults without a contrast between ways of asking, and faults of the log-probabilities: what totals and
// self-checks are proved on. They are no Kinds, since no class of the decision table is right for them. The last two
// are no faults: a model that misses little, and one whose recall declines.
func losses() []*fault {
	k := func(id, slug, effect string, params ...Param) Kind {
		return Kind{ID: id, Slug: slug, Class: "unexplained", Effect: effect, Loses: true, Params: params}
	}
	return []*fault{
		{
			Kind: k("FL01", "every-nth", "every n-th answer is garbage", num("every", 4), variant("noise")),
			when: []cond{{"every", "every"}}, say: junkSay,
		},
		{
			Kind: k("FL02", "misses-everywhere", "a share of the facts is missed, however they are asked for",
				num("percent", 22)),
			say: func(a *armed, c *call) { c.missWith(a, float64(a.par["percent"])/100) },
		},
		{
			Kind: k("FL03", "half-answers", "a share of the answers is cut in half, with finish stop", num("percent", 30)),
			when: []cond{{"chance", "percent"}}, say: halve,
		},
		{
			Kind: k("FL04", "others-kv", "a share of the hits gives the answer to another prompt", num("hit", 64),
				num("percent", 33)),
			when: []cond{{"hit", "hit"}, {"chance", "percent"}}, say: func(a *armed, c *call) { c.otherRequest(a) },
		},
		{
			Kind: k("FL05", "logprobs", "log-probabilities are not those of the answer's tokens",
				variant("zero", "shifted", "base-10", "probabilities")),
			see: func(a *armed, c *call) { c.logs = a.word("variant") },
		},
		{
			Kind: k("FL06", "misses-little", "three facts in a hundred are missed: no fault", num("percent", 3)),
			say:  func(a *armed, c *call) { c.missWith(a, float64(a.par["percent"])/100) },
		},
		{
			Kind: k("FL07", "declines", "a share is missed at 8192 tokens, less in shorter prompts: no fault",
				num("percent", 10, 30, 60)),
			say: func(a *armed, c *call) {
				kept := math.Log1p(-float64(a.par["percent"]) / 100)
				c.missWith(a, 1-math.Exp(kept*float64(c.sent)/8192))
			},
		},
	}
}

// missWith misses facts with a chance. The prompt decides, so that repeats agree.
func (c *call) missWith(a *armed, chance float64) {
	if len(c.out.used) > 0 && a.fixed(c, "miss") < chance {
		c.weak()
	}
}

func halve(_ *armed, c *call) {
	ps := pieces(c.out.text)
	c.out.text, c.out.finish, c.out.calls = strings.Join(ps[:len(ps)/2], ""), "stop", nil
}

// misreport changes log-probabilities in one of the ways of FL05.
func misreport(how string, tokens []scored) {
	one := func(v float64) float64 { return v }
	switch how {
	case "zero":
		one = func(float64) float64 { return 0 }
	case "base-10":
		one = func(v float64) float64 { return v / math.Ln10 }
	case "probabilities":
		one = math.Exp
	case "shifted":
		for i := len(tokens) - 1; i > 0; i-- {
			tokens[i].top, tokens[i].logprob = tokens[i-1].top, tokens[i-1].logprob
		}
	}
	for i := range tokens {
		tokens[i].logprob = one(tokens[i].logprob)
		for k := range tokens[i].top {
			if how != "shifted" {
				tokens[i].top[k].logprob = one(tokens[i].top[k].logprob)
			}
		}
	}
}
