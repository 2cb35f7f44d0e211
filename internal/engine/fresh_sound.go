package engine

import "math/rand/v2"

// freshSounds are the sound servers of the third set.
var freshSounds = []Sound{
	{
		Slug: "misses-2-percent-near", About: "the model misses 2 to 3 % of facts and may take a neighbour's value",
		Change: func(p *Params, r *rand.Rand) { p.Miss, p.MissAs = 0.02+0.01*r.Float64(), "near" },
	},
	{
		Slug: "misses-2-percent-invents", About: "the model misses 2 to 3 % of facts and invents a code",
		Change: func(p *Params, r *rand.Rand) { p.Miss, p.MissAs = 0.02+0.01*r.Float64(), "invent" },
	},
	{
		Slug: "verbose-threes", About: "sentences, three digits a token, Llama's tags",
		Change: func(p *Params, _ *rand.Rand) {
			p.Miss, p.Style, p.Digits, p.Family, p.Tools = 0, "verbose", 3, "llama3", true
		},
	},
	{
		Slug: "terse-drafts", About: "the value alone, long drafts, events of several tokens",
		Change: func(p *Params, r *rand.Rand) {
			p.Miss, p.Style, p.Draft, p.DraftHit, p.Interval = 0, "terse", pick(r, 4, 6, 7), 0.5, pick(r, 3, 5, 8)
		},
	},
	{
		Slug: "context-6k", About: "6,144 tokens of context, refused beyond",
		Change: func(p *Params, _ *rand.Rand) {
			p.Miss, p.Context = 0, 6144
		},
	},
	{
		Slug: "bare", About: "no log-probabilities, no route that counts, no counts of cached tokens, no cache",
		Change: func(p *Params, _ *rand.Rand) {
			p.Miss, p.Logprobs, p.Tokenize, p.Cached, p.Cache = 0, false, false, false, "none"
		},
	},
	{
		Slug: "one-logprob", About: "one alternative a token at most",
		Change: func(p *Params, _ *rand.Rand) {
			p.Miss, p.TopMost = 0, 1
		},
	},
	{
		Slug: "markdown-thinking", About: "bold values behind a thought of some length, earlier thoughts kept",
		Change: func(p *Params, r *rand.Rand) {
			reasoning(p)
			p.Miss, p.Style, p.Think, p.KeepThoughts = 0, "markdown", 25+r.IntN(50), true
		},
	},
	{
		Slug: "inline-dropped", About: "think tags in the content, earlier thoughts dropped, large events",
		Change: func(p *Params, r *rand.Rand) {
			reasoning(p)
			p.Miss, p.Think, p.InlineThoughts, p.KeepThoughts, p.Interval = 0, 10+r.IntN(25), true, false, 4
		},
	},
	{
		Slug: "thinks-when-needed", About: "some answers come without a thought",
		Change: func(p *Params, r *rand.Rand) {
			reasoning(p)
			p.Miss, p.Think = 0, 15+r.IntN(20)
		},
	},
	{
		Slug: "slow-crowded", About: "three to six times slower, two slots, chunks of 256",
		Change: func(p *Params, r *rand.Rand) {
			p.Miss, p.Slow, p.Slots, p.Chunk = 0, 3+3*r.Float64(), 2, 256
		},
	},
	{
		Slug: "eight-ranks", About: "eight ranks by prefix, pages of 32, last in first out",
		Change: func(p *Params, _ *rand.Rand) {
			p.Miss, p.Ranks, p.Route, p.LIFO = 0, 8, "prefix", true
			p.Server, p.Page, p.Cache = "vllm", 32, "blocks"
		},
	},
	{
		Slug: "strict-and-limited", About: "unknown fields and max_tokens are refused, and one request in 25 with 429",
		Change: func(p *Params, _ *rand.Rand) {
			p.Miss, p.StrictFields, p.Legacy, p.Limit429, p.Loading = 0, true, true, 25, 6
		},
	},
	{
		Slug: "sparse-drafts", About: "sparse attention by blocks of 64 with drafts and a host tier",
		Change: func(p *Params, r *rand.Rand) {
			p.Miss, p.Sparse, p.Ratio, p.Local, p.Draft = 0, true, 64, 512, pick(r, 1, 4)
			p.setSparse()
			p.Page = max(16, p.Page)
			p.Context = min(p.Context, 32768)
			p.Pool = p.Context + 4096
			p.Tier = 3 * p.Pool / p.Page
		},
	},
	declineBetween("declines-some", 0.12, 0.25, "length", "near", "deepseek"),
	declineBetween("declines-in-the-middle", 0.2, 0.45, "middle", "deny", "qwen3"),
	declineBetween("declines-early-on", 0.35, 0.55, "early", "invent", "llama3"),
}

// declineBetween draws the share that is lost at 8,192 tokens.
func declineBetween(slug string, lo, hi float64, shape, missAs, family string) Sound {
	s := decline(slug, lo, shape, missAs, family)
	s.Declines = (lo + hi) / 2
	fixed := s.Change
	s.Change = func(p *Params, r *rand.Rand) {
		fixed(p, r)
		p.Decline = lo + (hi-lo)*r.Float64()
	}
	return s
}

// soundTraits are the settings of sound servers beyond Params.
var soundTraits = map[string]func(t *traits, r *rand.Rand){
	"thinks-when-needed": func(t *traits, r *rand.Rand) { t.skip = 0.25 + 0.25*r.Float64() },
}
