package engine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
)

func freshSpec() []Bug {
	const mech = "speculation"
	drafting := func(p *Params, r *rand.Rand) { p.Draft, p.DraftHit = pick(r, 1, 2, 3), 0.6+0.25*r.Float64() }
	return []Bug{
		{
			Slug: "bonus-of-first-row", Mechanism: mech, Origin: "",
			Effect: "the bonus token behind an accepted draft is taken from the first row of the logits and not from the " +
				"last: the first token of the draft comes again",
			Truth: Truth{"speculation", []string{"answer-length", "answer-index"}, true, nil}, prepare: drafting,
			Stated: Statement{Accept: []string{"speculation"}, Visible: "answers of more tokens than a draft"},
			apply: func(pl *plant) string {
				pl.m.spc.last = func(first, _ dist) dist { return first }
				return fmt.Sprintf("drafts of %d", pl.m.p.Draft)
			},
		},
		{
			Slug: "end-inside-draft", Mechanism: mech, Origin: "huggingface/transformers#47912",
			Effect: "whether an answer is over is asked of the last token of a step only: an end inside of an accepted " +
				"draft is passed, and the model goes on with turns of its own",
			Truth: Truth{"stop token", []string{"answer-length"}, true, nil},
			prepare: func(p *Params, r *rand.Rand) {
				drafting(p, r)
				p.Draft = pick(r, 2, 3, 5)
			},
			Stated: Statement{
				Accept:  []string{"stop-ignored", "speculation"},
				Visible: "answers whose end falls into an accepted draft, the more often the longer the drafts",
			},
			apply: func(pl *plant) string { pl.m.spc.deaf = true; return fmt.Sprintf("drafts of %d", pl.m.p.Draft) },
		},
	}
}

func freshSampler() []Bug {
	const mech = "sampler"
	return []Bug{
		{
			Slug: "penalty-counts-kept", Mechanism: mech, Origin: "huggingface/text-generation-inference#1765",
			Effect: "the model's configuration has a small penalty for what was said, and the counts of a slot outlive its " +
				"requests: what many answers say becomes impossible to say",
			Truth: Truth{"drift", []string{"served"}, true, nil},
			Stated: Statement{
				Accept: []string{"drift", "hidden-sampling"}, Visible: "after some dozens of answers in one slot",
			},
			apply: func(pl *plant) string {
				m, by := pl.m, 0.1+0.1*pl.r.Float64()
				m.lps.always = true
				var mu sync.Mutex
				said := map[int]map[int32]int{}
				m.smp.best = func(req *request, d dist) int32 {
					mu.Lock()
					defer mu.Unlock()
					count := said[req.slot]
					if count == nil {
						count = map[int32]int{}
						said[req.slot] = count
					}
					best, top := d.best, math.Inf(-1)
					for _, c := range d.cands {
						if lp := c.lp - by*float64(count[c.tok]); lp > top && d.best < m.lex.base {
							best, top = c.tok, lp
						}
					}
					if best < m.lex.base {
						count[best]++
					}
					return best
				}
				return fmt.Sprintf("%.2f a time", by)
			},
		},
		{
			Slug: "seed-zero-when-absent", Mechanism: mech, Origin: "",
			Effect: "a request without a seed gets seed zero: samples of one prompt are all the same",
			Truth:  Truth{"sampling", []string{"sampling"}, false, []string{"sampling"}},
			Stated: Statement{
				Accept: []string{"hidden-sampling"}, Visible: "several samples of one prompt at a temperature, without seeds",
			},
			apply: func(pl *plant) string {
				pl.m.smp.seed = func(uint64) uint64 { return 0 }
				return ""
			},
		},
		{
			Slug: "greedy-keeps-two", Mechanism: mech, Origin: "",
			Effect: "temperature zero is served as top-k of one at temperature one, and top-k keeps one too many: greedy " +
				"answers take the second best token by its probability",
			Truth: Truth{"sampling", []string{"sampling"}, false, []string{"sampling"}},
			Stated: Statement{
				Accept:  []string{"hidden-sampling", "unexplained"},
				Visible: "greedy answers with a choice of words, the same prompt several times",
			},
			apply: func(pl *plant) string {
				pl.m.lps.always = true
				pl.m.smp.best = func(req *request, d dist) int32 {
					if len(d.cands) < 2 || req.temp > 0 {
						return d.best
					}
					second := math.Exp(d.cands[1].lp)
					if unit(mix(req.nonce, uint64(len(req.gen)))) < second/(1+second) {
						return d.cands[1].tok
					}
					return d.best
				}
				return ""
			},
		},
		{
			Slug: "normaliser-of-one-shard", Mechanism: "log-probabilities", Origin: "",
			Effect: "the sum under a log-probability runs over one shard of the vocabulary: values are too high, and of " +
				"sure tokens positive",
			Truth: Truth{"log-probabilities", []string{"logprobs"}, false, []string{"logprobs"}}, prepare: offered,
			Stated: Statement{Accept: []string{"log-probabilities"}, Visible: "requests for log-probabilities"},
			apply: func(pl *plant) string {
				n := pick(pl.r, 2, 4, 8)
				pl.m.lps.value = func(lp float64) float64 { return lp + math.Log(float64(n)) }
				return fmt.Sprintf("%d shards", n)
			},
		},
		{
			Slug: "alternatives-from-one", Mechanism: "log-probabilities", Origin: "",
			Effect: "the list of alternatives begins at rank one instead of zero: the best token is never in it",
			Truth:  Truth{"log-probabilities", []string{"logprobs"}, false, []string{"logprobs"}}, prepare: offered,
			Stated: Statement{
				Accept: []string{"log-probabilities"}, Visible: "requests for log-probabilities with alternatives",
			},
			apply: func(pl *plant) string {
				pl.m.lps.list = func(now, _ []alt) []alt { return now[min(1, len(now)):] }
				return ""
			},
		},
	}
}

func freshDecode() []Bug {
	return []Bug{
		{
			Slug: "answer-positions-clipped", Mechanism: "decode", Origin: "",
			Effect: "the table of positions for answers ends early and the index is clipped: from some length on the rows " +
				"of an answer lie on one another and the model begins again",
			Truth:   Truth{"position", []string{"answer-length"}, true, nil},
			prepare: func(p *Params, _ *rand.Rand) { p.Draft = 0 },
			Stated: Statement{
				Accept: []string{"late-degeneration"}, Visible: "answers of more than 64 to 128 tokens",
			},
			apply: func(pl *plant) string {
				k := pick(pl.r, 64, 96, 128)
				pl.m.dec.angle = func(req *request, i int) int { return min(i, len(req.prompt)+k) }
				return fmt.Sprintf("%d positions", k)
			},
		},
		{
			Slug: "deadline-ends-as-stop", Mechanism: "limits", Origin: "",
			Effect: "an answer that takes longer than the server's deadline is closed as if it were over",
			Truth:  Truth{"early end", []string{"answer-length", "length"}, true, nil},
			Stated: Statement{
				Accept:  []string{"cut-answer"},
				Visible: "answers of more than some 70 to 140 tokens, fewer behind long prompts or beside others",
			},
			apply: func(pl *plant) string {
				d := 0.35 + 0.35*pl.r.Float64()
				pl.m.bat.deadline = d
				return fmt.Sprintf("%.2f s of engine time", d)
			},
		},
		{
			Slug: "retry-keeps-first-tokens", Mechanism: "router", Origin: "",
			Effect: "the router sends a slow request again and keeps what the first attempt had said: answers to long " +
				"prompts begin twice",
			Truth: Truth{"recompute", []string{"length", "answer-index"}, true, nil},
			Stated: Statement{
				Accept:  []string{"unexplained", "speculation"},
				Visible: "prompts longer than 1,536 to 3,072 tokens",
			},
			apply: func(pl *plant) string {
				from, k := pick(pl.r, 1536, 2048, 3072), 1+pl.r.IntN(3)
				pl.m.bat.resend = func(req *request) int {
					if len(req.prompt) > from {
						return k
					}
					return 0
				}
				return fmt.Sprintf("%d tokens, prompts over %d", k, from)
			},
		},
	}
}
