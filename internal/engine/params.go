package engine

import "math/rand/v2"

// Params are the settings of one server. Draw takes them from what the engines ship; a kind of sound server or the
// preparation of a bug changes some.
type Params struct {
	Server string // whose wire format: vllm, sglang, llama.cpp, tgi
	Model  string

	Merges, Digits int    // vocabulary
	Family         string // chat template: chatml, qwen3, llama3, deepseek, gemma
	KeepThoughts   bool   // the template keeps the reasoning of earlier turns
	Think          int    // words of reasoning before an answer, 0 for a model that does not reason
	InlineThoughts bool   // no reasoning parser: think tags stay in the content
	Tools          bool
	Images         bool

	Context  int    // longest prompt plus answer, tokens
	Page     int    // tokens in a KV page: SGLang 1, 16, 32, 64; vLLM 16, 32, 64; llama.cpp's cells come in 256
	Pool     int    // tokens of KV memory of a rank
	Cache    string // radix, blocks, none
	Tier     int    // pages of host memory behind the device cache
	Chunk    int    // tokens of prefill in a step: 512, 2048, 4096, 8192
	Slots    int    // running requests
	Hash     int    // seed of block hashes
	LIFO     bool   // free pages are reused last in, first out
	Sparse   bool   // far attention goes through a selection of compressed blocks
	Ratio    int    // tokens in a compressed block: 4, 16, 32, 64
	TopK     int    // blocks selected
	Local    int    // tokens of the local window beside the selection
	Draft    int    // draft tokens of a speculative step, 0 without
	DraftHit float64
	Ranks    int    // data-parallel ranks
	Route    string // robin, prefix, sticky
	Interval int    // decode steps between two stream events: SGLang's stream interval

	Tokenize, Logprobs, Cached bool // what the server offers
	TopMost                    int  // most alternatives a token
	StrictFields               bool // unknown fields are refused
	Legacy                     bool // max_tokens is refused in favour of max_completion_tokens

	Style    string // how answers are worded: plain, terse, verbose, markdown
	Miss     float64
	Decline  float64 // share lost at 8,192 tokens
	Shape    string  // of the decline: length, middle, early
	MissAs   string  // deny, invent, near
	Noise    float64 // of log-probabilities by batch, nats
	Limit429 int     // every so many requests are refused with Retry-After
	Loading  int     // so many first requests are refused while the weights load
	Slow     float64 // factor on all times
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// Draw returns the settings of a seed.
func Draw(r *rand.Rand) Params {
	p := Params{
		Server: pick(r, "vllm", "vllm", "sglang", "sglang", "llama.cpp", "tgi"),
		Merges: pick(r, 3600, 4400, 5200), Digits: pick(r, 1, 1, 3),
		Family:   pick(r, "chatml", "qwen3", "llama3", "deepseek", "gemma"),
		Context:  pick(r, 32768, 40960, 65536, 131072),
		Chunk:    pick(r, 512, 2048, 2048, 4096, 8192),
		Slots:    pick(r, 8, 16, 32, 64),
		Hash:     r.IntN(1 << 30),
		LIFO:     r.IntN(2) == 0,
		Ratio:    pick(r, 4, 16, 32, 64),
		Local:    pick(r, 128, 256, 512),
		DraftHit: 0.6 + 0.3*r.Float64(),
		Ranks:    pick(r, 1, 1, 1, 2, 4), Route: pick(r, "robin", "prefix", "sticky"),
		Interval: pick(r, 1, 1, 2, 4),
		Tokenize: true, Logprobs: true, Cached: true, TopMost: 20, Tools: true,
		Style: pick(r, "plain", "plain", "terse"), MissAs: pick(r, "deny", "deny", "invent", "near"),
		Miss: pick(r, 0, 0, 0.004), Noise: pick(r, 0, 0, 1e-4, 2e-3), Slow: 1,
	}
	switch p.Server {
	case "sglang":
		p.Page, p.Cache = pick(r, 1, 1, 16, 32, 64), "radix"
	case "llama.cpp":
		p.Page, p.Cache, p.Ranks = 256, pick(r, "radix", "none"), 1
	case "tgi":
		p.Page, p.Cache = pick(r, 1, 16), "radix"
	default:
		p.Page, p.Cache = pick(r, 16, 16, 32, 64), "blocks"
	}
	if r.IntN(3) == 0 {
		p.Draft = pick(r, 1, 2, 3, 5)
	}
	if r.IntN(4) == 0 {
		p.Sparse = true
	}
	p.setSparse()
	p.Pool = 2 * p.Context
	if p.Page > 1 && r.IntN(4) == 0 {
		p.Tier = 4 * p.Pool / p.Page
	}
	if p.Family == "qwen3" && r.IntN(2) == 0 {
		p.Think = pick(r, 12, 40)
	}
	if p.Family == "gemma" {
		p.Tools = false
	}
	p.Images = r.IntN(4) == 0
	p.Model = map[string]string{
		"chatml": "qwen2.5-7b-instruct", "qwen3": "qwen3-8b", "llama3": "llama-3.1-8b-instruct",
		"deepseek": "deepseek-v3.2",
		"gemma":    "gemma-3-12b-it",
	}[p.Family]
	return p
}

// setSparse gives the selection the budget that sparse models ship with: 2,048 tokens (DeepSeek V3.2, NSA),
// 512 blocks
// at most.
func (p *Params) setSparse() { p.TopK = min(512, 2048/p.Ratio) }
