package engine

import (
	"math/rand/v2"
	"slices"
)

// Sound is a kind of sound server: what it does is by design, and a tester that calls it a fault is wrong.
type Sound struct {
	Slug   string
	About  string
	Change func(p *Params, r *rand.Rand)
	// Declines is the share of recall that the model itself loses at 8,192 tokens.
	Declines float64
}

// Sounds returns the kinds of sound servers of the two halves.
func Sounds() []Sound { return slices.Clone(sounds) }

func soundSlugs() []string {
	var out []string
	for _, s := range slices.Concat(sounds, freshSounds) {
		out = append(out, s.Slug)
	}
	return out
}

func soundBySlug(slug string) (Sound, bool) {
	every := slices.Concat(sounds, freshSounds)
	i := slices.IndexFunc(every, func(s Sound) bool { return s.Slug == slug })
	if i < 0 {
		return Sound{}, false
	}
	return every[i], true
}

func reasoning(p *Params) { p.Family, p.Tools, p.Sparse = "qwen3", true, false }

func decline(slug string, share float64, shape, missAs, family string) Sound {
	return Sound{
		Slug: slug, About: "recall of the model declines with " + shape + ", missing as " + missAs, Declines: share,
		Change: func(p *Params, _ *rand.Rand) {
			p.Decline, p.Shape, p.MissAs, p.Family = share, shape, missAs, family
			p.Tools = family != "gemma"
		},
	}
}

var sounds = []Sound{
	{"plain", "as drawn, without misses", func(p *Params, _ *rand.Rand) { p.Miss = 0 }, 0},
	{
		"misses-3-percent", "the model misses 3 % of facts at any length", func(p *Params, _ *rand.Rand) { p.Miss = 0.03 },
		0,
	},
	{"misses-1-percent-invents", "the model misses 1 % of facts and invents a code", func(p *Params, _ *rand.Rand) {
		p.Miss, p.MissAs = 0.01, "invent"
	}, 0},
	{"terse", "answers are the value alone", func(p *Params, _ *rand.Rand) { p.Style = "terse" }, 0},
	{"verbose", "answers are sentences, asked or not", func(p *Params, _ *rand.Rand) { p.Style = "verbose" }, 0},
	{"markdown", "values are set in bold", func(p *Params, _ *rand.Rand) { p.Style = "markdown" }, 0},
	{"slow", "ten times slower than others", func(p *Params, _ *rand.Rand) { p.Slow = 10 }, 0},
	{"context-4k", "4,096 tokens of context, refused beyond", func(p *Params, _ *rand.Rand) { p.Context = 4096 }, 0},
	{"context-8k", "8,192 tokens of context, refused beyond", func(p *Params, _ *rand.Rand) { p.Context = 8192 }, 0},
	{"no-logprobs", "log-probabilities are left out", func(p *Params, _ *rand.Rand) { p.Logprobs = false }, 0},
	{"five-logprobs", "at most 5 alternatives a token", func(p *Params, _ *rand.Rand) { p.TopMost = 5 }, 0},
	{"noisy-logprobs", "log-probabilities move with the batch by up to 0.05 nat", func(p *Params,
		_ *rand.Rand,
	) {
		p.Noise = 0.1
	}, 0},
	{"rate-limited", "one request in some is refused with 429 and Retry-After", func(p *Params, r *rand.Rand) {
		p.Limit429 = pick(r, 40, 60)
	}, 0},
	{"loading", "the first requests are refused with 503 while the weights load", func(p *Params,
		_ *rand.Rand,
	) {
		p.Loading = 3
	}, 0},
	{"reasoning-dropped", "the template drops earlier reasoning, as R1 and Qwen3 do", func(p *Params, _ *rand.Rand) {
		reasoning(p)
		p.KeepThoughts, p.Think = false, 20
	}, 0},
	{"reasoning-kept", "the template keeps earlier reasoning", func(p *Params, _ *rand.Rand) {
		reasoning(p)
		p.KeepThoughts, p.Think = true, 20
	}, 0},
	{"long-thinking", "some 160 words of reasoning before every answer", func(p *Params, _ *rand.Rand) {
		reasoning(p)
		p.Think = 160
	}, 0},
	{"inline-thinking", "no reasoning parser: think tags stay in the content", func(p *Params, _ *rand.Rand) {
		reasoning(p)
		p.Think, p.InlineThoughts = 20, true
	}, 0},
	{"no-tools", "the template has no tools", func(p *Params, _ *rand.Rand) { p.Family, p.Tools = "chatml", false }, 0},
	{"no-system-role", "the template has no system role and puts its text before the first question", func(p *Params,
		_ *rand.Rand,
	) {
		p.Family, p.Tools = "gemma", false
	}, 0},
	{"digits-in-threes", "three digits a token", func(p *Params, _ *rand.Rand) { p.Digits = 3 }, 0},
	{"no-tokenize", "no route that counts tokens", func(p *Params, _ *rand.Rand) { p.Tokenize = false }, 0},
	{"no-cached-tokens", "usage does not tell of cached tokens", func(p *Params, _ *rand.Rand) { p.Cached = false }, 0},
	{"no-cache", "no prefix cache", func(p *Params, _ *rand.Rand) { p.Cache = "none" }, 0},
	{"sparse", "sparse attention with its usual budget", func(p *Params, r *rand.Rand) {
		p.Sparse, p.Ratio = true, pick(r, 4, 16, 32)
		p.setSparse()
	}, 0},
	{"speculation", "speculative decoding", func(p *Params, r *rand.Rand) { p.Draft = pick(r, 2, 3, 5) }, 0},
	{"four-ranks", "four data-parallel ranks by round robin", func(p *Params, _ *rand.Rand) {
		p.Ranks, p.Route = 4,
			"robin"
	}, 0},
	{"small-pool", "a KV pool hardly larger than the context, with a host tier", func(p *Params, _ *rand.Rand) {
		p.Context = min(p.Context, 32768)
		p.Pool, p.Page = p.Context+2048, max(16, p.Page)
		p.Tier = 4 * p.Pool / p.Page
	}, 0},
	{"strict-fields", "fields outside of the API are refused with 400", func(p *Params,
		_ *rand.Rand,
	) {
		p.StrictFields = true
	}, 0},
	{"new-limits-only", "max_tokens is refused in favour of max_completion_tokens", func(p *Params,
		_ *rand.Rand,
	) {
		p.Legacy = true
	}, 0},
	{"pictures", "reads pictures", func(p *Params, _ *rand.Rand) { p.Images = true }, 0},
	decline("decline-10-length", 0.10, "length", "deny", "chatml"),
	decline("decline-10-middle", 0.10, "middle", "near", "llama3"),
	decline("decline-10-early", 0.10, "early", "invent", "gemma"),
	decline("decline-30-length", 0.30, "length", "deny", "llama3"),
	decline("decline-30-middle", 0.30, "middle", "deny", "deepseek"),
	decline("decline-30-early", 0.30, "early", "near", "chatml"),
	decline("decline-30-invents", 0.30, "length", "invent", "qwen3"),
	decline("decline-60-length", 0.60, "length", "deny", "chatml"),
	decline("decline-60-middle", 0.60, "middle", "invent", "gemma"),
	decline("decline-60-early", 0.60, "early", "deny", "deepseek"),
}
