package engine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync/atomic"
)

func samplerBugs() []Bug {
	const mech = "sampler"
	return []Bug{
		{
			Slug: "approximate-top-k", Mechanism: mech, Origin: "anthropic.com post-mortem, September 2025",
			Effect: "an approximate top-k drops the best token now and then: a share of greedy tokens is the second best",
			Truth:  Truth{"share of tokens", []string{"always"}, true, nil},
			apply: func(pl *plant) string {
				m, rate := pl.m, 0.04+0.06*pl.r.Float64()
				m.smp.best = func(req *request, d dist) int32 {
					if unit(mix(d.hash, req.nonce)) < rate {
						return m.lookalike(d.best, d.hash)
					}
					return d.best
				}
				return fmt.Sprintf("%.2f of the tokens", rate)
			},
		},
		{
			Slug: "counter-wraps-into-garbage", Mechanism: mech, Origin: "",
			Effect: "the random-number state of a stream is read as its logits whenever its counter wraps: every n-th " +
				"request is garbage from the first token on",
			Truth: Truth{"period", []string{"period"}, true, nil},
			apply: func(pl *plant) string {
				m, n := pl.m, 4+pl.r.IntN(3)
				m.smp.best = func(req *request, d dist) int32 {
					if req.arrived%n == n-1 {
						return int32(256 + mix(d.hash, uint64(len(req.gen)))%uint64(m.lex.base-256))
					}
					return d.best
				}
				return fmt.Sprintf("every %d. request of a rank", n)
			},
		},
		{
			Slug: "temperature-not-applied", Mechanism: mech, Origin: "",
			Effect:  "the temperature of requests is not copied to the device: all are greedy",
			Truth:   Truth{"sampling", []string{"sampling"}, false, []string{"sampling"}},
			prepare: func(p *Params, _ *rand.Rand) { p.Draft = 0 },
			apply:   func(pl *plant) string { pl.m.smp.temp = func(*request, float64) float64 { return 0 }; return "" },
		},
		{
			Slug: "drift-of-stale-handles", Mechanism: mech, Origin: "sgl-project/sglang#23020",
			Effect: "every request leaves a handle behind, and a handle that is drawn twice serves stale logits: the error " +
				"rate grows with what was served",
			Truth: Truth{"drift", []string{"served"}, true, nil},
			apply: func(pl *plant) string {
				m, half := pl.m, 400+pl.r.IntN(400)
				m.smp.best = func(req *request, d dist) int32 {
					p := 0.6 * (1 - math.Exp(-float64(req.arrived)/float64(half)))
					if unit(mix(uint64(req.arrived), 5)) < p && len(req.gen) < 40 {
						return m.lookalike(d.best, mix(d.hash, uint64(req.arrived)))
					}
					return d.best
				}
				return fmt.Sprintf("63 %% of the end rate after %d requests", half)
			},
		},
	}
}

func logprobBugs() []Bug {
	const mech = "log-probabilities"
	values := func(slug, effect string, f func(lp float64) float64) Bug {
		return Bug{
			Slug: slug, Mechanism: mech, Effect: effect,
			Truth:   Truth{"log-probabilities", []string{"logprobs"}, false, []string{"logprobs"}},
			prepare: offered, apply: func(pl *plant) string { pl.m.lps.value = f; return "" },
		}
	}
	return []Bug{
		values("logprob-base-ten", "log-probabilities are to the base of ten",
			func(lp float64) float64 { return lp / math.Ln10 }),
		values("logprob-sign", "the sign is lost: log-probabilities are positive", func(lp float64) float64 { return -lp }),
		values("logprob-not-logged", "probabilities are written where their logarithms should be", math.Exp),
		{
			Slug: "logprob-behind-one-hot", Mechanism: mech, Origin: "",
			Effect: "log-probabilities are taken behind the division by a temperature of zero: all are 0 or nothing",
			Truth:  Truth{"log-probabilities", []string{"logprobs"}, false, []string{"logprobs"}}, prepare: offered,
			apply: func(pl *plant) string { pl.m.lps.temp = func(float64) float64 { return 1e-6 }; return "" },
		},
		{
			Slug: "logprob-position-shifted", Mechanism: mech, Origin: "",
			Effect:  "values and alternatives are those of the token before",
			Truth:   Truth{"log-probabilities", []string{"logprobs"}, false, []string{"logprobs"}},
			prepare: offered,
			apply: func(pl *plant) string {
				pl.m.lps.from = func(now, before dist) dist {
					if len(before.cands) == 0 {
						return now
					}
					return before
				}
				return ""
			},
		},
		{
			Slug: "logprob-list-of-last-step", Mechanism: mech, Origin: "",
			Effect: "the chosen token's value is right and the alternatives are those of the step before",
			Truth:  Truth{"log-probabilities", []string{"logprobs"}, false, []string{"logprobs"}}, prepare: offered,
			apply: func(pl *plant) string {
				pl.m.lps.list = func(now, before []alt) []alt {
					if before == nil {
						return now
					}
					return before
				}
				return ""
			},
		},
	}
}

func offered(p *Params, _ *rand.Rand) {
	p.Logprobs = true
	if p.Server == "tgi" {
		p.Server = "vllm"
	}
}

func textBugs() []Bug {
	return []Bug{
		{
			Slug: "bytes-flushed-early", Mechanism: "detokeniser", Origin: "vllm-project/vllm#931",
			Effect: "a stream decodes every token by itself: characters of several tokens become replacement characters",
			Truth:  Truth{"stream", []string{"stream", "unicode"}, true, []string{"stream"}},
			apply: func(pl *plant) string {
				pl.m.det.piece = func(t string, _, stream bool) string {
					if stream {
						return valid(t)
					}
					return t
				}
				return ""
			},
		},
		{
			Slug: "held-bytes-dropped", Mechanism: "detokeniser", Origin: "",
			Effect: "bytes that wait for the rest of their character are reset with every token: such characters are lost",
			Truth:  Truth{"unicode", []string{"unicode"}, true, nil},
			apply:  func(pl *plant) string { pl.m.det.carry = func(string, int) string { return "" }; return "" },
		},
		{
			Slug: "leading-blank-stripped", Mechanism: "detokeniser", Origin: "vllm-project/vllm#30099",
			Effect: "in streams the blank before a word is stripped, as a decoder does at the start of a text: words run " +
				"together",
			Truth: Truth{"stream", []string{"stream"}, true, []string{"stream"}},
			apply: func(pl *plant) string {
				pl.m.det.piece = func(t string, _, stream bool) string {
					if stream {
						return strings.TrimPrefix(t, " ")
					}
					return t
				}
				return ""
			},
		},
		{
			Slug: "turn-end-not-a-stop", Mechanism: "stop", Origin: "public reports of generation_config.eos_token_id lists",
			Effect: "of the list of end tokens only the first is known, and that is another: answers go on with tags and " +
				"turns that the model makes up",
			Truth: Truth{"stop token", []string{"always"}, true, nil},
			prepare: func(p *Params, r *rand.Rand) {
				if p.Family == "deepseek" {
					p.Family = pick(r, "chatml", "llama3", "gemma")
				}
			},
			apply: func(pl *plant) string {
				show := pl.r.IntN(2) == 0
				pl.m.stp.token = func(m *machine, tok int32) bool { return m.lex.class(tok) == spEOS }
				if show {
					pl.m.det.hidden = func(s special) bool { return s == spBOS || s == spEOS }
				}
				return fmt.Sprintf("tags shown: %v", show)
			},
		},
		{
			Slug: "last-piece-overtaken", Mechanism: "stream", Origin: "",
			Effect: "text goes to the server in pairs of pieces, and the end overtakes an unpaired one: answers of an odd " +
				"number of tokens lose the last, with finish stop",
			Truth: Truth{"early end", []string{"answer-length"}, true, nil},
			apply: func(pl *plant) string {
				pl.m.str.pieces = func(n int, _ string) int { return n - n%2 }
				return ""
			},
		},
		{
			Slug: "queue-halved-at-end", Mechanism: "stream", Origin: "",
			Effect: "on some requests the end finds the queue of text half read and closes it: the answer is cut in half, " +
				"with finish stop",
			Truth: Truth{"early end", []string{"share"}, true, nil},
			apply: func(pl *plant) string {
				rate := 0.2 + 0.15*pl.r.Float64()
				var n atomic.Uint64
				pl.m.str.pieces = func(k int, finish string) int {
					if finish == "stop" && unit(mix(n.Add(1), 17)) < rate {
						return k / 2
					}
					return k
				}
				return fmt.Sprintf("%.2f of the answers", rate)
			},
		},
		{
			Slug: "coalesced-overwritten", Mechanism: "stream", Origin: "vllm-project/vllm#30099",
			Effect:  "when two pieces of text fall into one event, the second overwrites the first",
			Truth:   Truth{"stream", []string{"stream"}, true, []string{"stream"}},
			prepare: func(p *Params, r *rand.Rand) { p.Interval = pick(r, 2, 3) },
			apply: func(pl *plant) string {
				sound := pl.m.str.join
				pl.m.str.join = func(w, n delta) delta {
					if n.content != "" {
						w.content = ""
					}
					return sound(w, n)
				}
				return fmt.Sprintf("events of %d tokens", pl.m.p.Interval)
			},
		},
		{
			Slug: "stream-closes-before-tail", Mechanism: "stream", Origin: "",
			Effect:  "the end of a stream is written before what is still waiting: streamed answers lack their end",
			Truth:   Truth{"stream", []string{"stream"}, true, []string{"stream"}},
			prepare: func(p *Params, r *rand.Rand) { p.Interval = pick(r, 3, 4) },
			apply:   func(pl *plant) string { pl.m.str.last = func(delta) delta { return delta{} }; return "" },
		},
		{
			Slug: "first-delta-repeated", Mechanism: "stream", Origin: "",
			Effect: "the first event of a stream is sent with the role and again by itself: the first token comes twice",
			Truth:  Truth{"stream", []string{"stream"}, true, []string{"stream"}},
			apply: func(pl *plant) string {
				pl.m.str.events = func(d delta, first bool) []delta {
					if first && d.content != "" {
						return []delta{d, {content: d.content}}
					}
					return []delta{d}
				}
				return ""
			},
		},
	}
}

func parserBugs() []Bug {
	const tools = "tool parser"
	need := []string{"tools"}
	withTools := func(p *Params, r *rand.Rand) {
		p.Tools = true
		if p.Family == "gemma" {
			p.Family = pick(r, "chatml", "llama3", "deepseek")
		}
	}
	return []Bug{
		{
			Slug: "arguments-lose-escapes", Mechanism: tools, Origin: "vllm-project/vllm#17585",
			Effect: "the part of arguments that a stream has sent is measured behind its escapes: quotes and backslashes " +
				"are lost",
			Truth: Truth{"tool call", []string{"stream", "tools"}, true, []string{"tools", "stream"}}, prepare: withTools,
			apply: func(pl *plant) string {
				pl.m.tls.more = func(sent, raw string) string { return strings.ReplaceAll(raw[len(sent):], `\`, "") }
				return ""
			},
		},
		{
			Slug: "arguments-emptied", Mechanism: tools, Origin: "vllm-project/vllm#49248",
			Effect: "arguments that hold a brace or a quote fail the first attempt to parse them and are replaced by {}, " +
				"streamed or not",
			Truth: Truth{"tool call", []string{"tools"}, true, need}, prepare: withTools,
			apply: func(pl *plant) string {
				pl.m.tls.arguments = func(string) string { return "{}" }
				pl.m.tls.more = func(sent, _ string) string {
					if sent == "" {
						return "{}"
					}
					return ""
				}
				return ""
			},
		},
		{
			Slug: "arguments-cut-at-brace", Mechanism: tools, Origin: "",
			Effect: "the expression for arguments ends at the first closing brace, streamed or not",
			Truth:  Truth{"tool call", []string{"tools"}, true, need}, prepare: withTools,
			apply: func(pl *plant) string {
				cutAt := func(raw string) string {
					if i := strings.IndexByte(raw, '}'); i >= 0 {
						return raw[:i+1]
					}
					return raw
				}
				pl.m.tls.arguments = cutAt
				pl.m.tls.more = func(sent, raw string) string { return cutAt(raw)[min(len(cutAt(sent)), len(cutAt(raw))):] }
				return ""
			},
		},
		{
			Slug: "parallel-calls-merged", Mechanism: tools, Origin: "vllm-project/vllm#45256",
			Effect: "the number of the call is not raised: the second call's arguments are appended to the first",
			Truth:  Truth{"tool call", []string{"tools"}, true, need}, prepare: withTools,
			apply: func(pl *plant) string { pl.m.tls.index = func(int) int { return 0 }; return "" },
		},
		{
			Slug: "thought-state-kept", Mechanism: "reasoning parser", Origin: "vllm-project/vllm#51890",
			Effect: "whether a thought is open is kept in the parser and not in the request: after every few answers the " +
				"next one is filed as reasoning",
			Truth: Truth{"parser state", []string{"order", "period"}, true, nil},
			apply: func(pl *plant) string {
				n := 3 + pl.r.IntN(3)
				var ended atomic.Int64
				pl.m.rsn.start = func() bool { return ended.Load()%int64(n) == int64(n)-1 }
				pl.m.rsn.end = func() { ended.Add(1) }
				return fmt.Sprintf("every %d. answer", n)
			},
		},
	}
}

// ranked makes a server one of several data-parallel ranks.
func ranked(p *Params, r *rand.Rand) {
	p.Ranks, p.Route = pick(r, 2, 3, 4), pick(r, "robin", "prefix", "sticky")
	if p.Server == "llama.cpp" {
		p.Server, p.Page, p.Cache = "vllm", 16, "blocks"
	}
}

func rankBugs() []Bug {
	const mech = "ranks"
	return []Bug{
		{
			Slug: "rank-window", Mechanism: mech, Origin: "anthropic.com post-mortem, September 2025", oneRank: true,
			prepare: ranked,
			Effect:  "one rank was started with another config and has a window on all layers",
			Truth:   Truth{"replica", []string{"replica", "length", "end-distance"}, true, nil},
			apply: func(pl *plant) string {
				w := pick(pl.r, 512, 1024, 2048)
				pl.m.att.spans = func(q query, out []span) []span { return append(out, span{max(0, q.n-w), q.n}) }
				return fmt.Sprintf("%d ranks by %s, window %d", pl.m.p.Ranks, pl.m.p.Route, w)
			},
		},
		{
			Slug: "rank-weights-torn", Mechanism: mech, Origin: "", oneRank: true, prepare: ranked,
			Effect: "one rank loaded a torn shard of the output layer: a good part of its tokens are wrong",
			Truth:  Truth{"replica", []string{"replica"}, true, nil},
			apply: func(pl *plant) string {
				m := pl.m
				m.dec.head = func(m *machine, tok int32) int32 {
					if tok >= 0 && tok < m.lex.base && tok%3 == 1 {
						return m.lookalike(tok, uint64(tok))
					}
					return tok
				}
				return fmt.Sprintf("%d ranks by %s", pl.m.p.Ranks, pl.m.p.Route)
			},
		},
		{
			Slug: "rank-cache-stale", Mechanism: mech, Origin: "", oneRank: true,
			prepare: func(p *Params, r *rand.Rand) { ranked(p, r); p.Page, p.Cache, p.Server = 16, "blocks", "vllm" },
			Effect:  "one rank does not attend the prefixes that it reuses",
			Truth:   Truth{"replica", []string{"replica", "warm"}, true, nil},
			apply: func(pl *plant) string {
				pl.m.att.spans = func(q query, out []span) []span {
					if q.hit > 64 {
						return append(out, span{q.hit, q.n})
					}
					return append(out, span{0, q.n})
				}
				return fmt.Sprintf("%d ranks by %s", pl.m.p.Ranks, pl.m.p.Route)
			},
		},
		{
			Slug: "ranks-share-an-index", Mechanism: mech, Origin: "",
			prepare: func(p *Params, r *rand.Rand) {
				ranked(p, r)
				p.Page, p.Cache, p.Server, p.Route = 16, "blocks", "vllm", "robin"
			},
			Effect: "ranks share one index of prefixes but not the pages: a prefix that one knows is read from another's " +
				"memory",
			Truth: Truth{"replica", []string{"warm", "replica"}, true, nil},
			apply: func(pl *plant) string { pl.e.shared = true; return fmt.Sprintf("%d ranks", pl.m.p.Ranks) },
		},
	}
}
