package diagnosis

import (
	"github.com/assay-suite/assay/fidelity/evidence"
)

// longChannel is long answers.
func longChannel() channel {
	runs := func(r *reading) group { return r.all("long lists", evidence.LongAnswer, nil) }
	counted := func(name, words string) func(r *reading) answer {
		return func(r *reading) answer {
			n, ok := r.Number(evidence.LongAnswer, name)
			g := runs(r)
			if !ok || g.runs == 0 {
				return answer{line: "long lists were not asked for", p: 1}
			}
			a := is(binomialTail(int(n), g.runs, luck) <= alpha, "%.0f of %d long lists %s", n, g.runs, words)
			a.runs, a.arms, a.p = g.runs, g.arms, binomialTail(int(n), g.runs, luck)
			return a
		}
	}
	loops, script, early := counted("loops", "end in a loop"), counted("foreign-script", "hold words of another script"),
		counted("early-end", "end early")
	deepTurns := func(r *reading) answer {
		deep := r.all("late turns of chats", evidence.Turns, func(a evidence.Arm) bool {
			return prefixed("turn-")(a) && a.At >= deepTurn
		})
		flat := r.all("the same in one message", evidence.Flat, prefixed("flat-"))
		early := r.all("early turns", evidence.Turns, func(a evidence.Arm) bool {
			return prefixed("turn-")(a) && (a.At == 2 || a.At == 3)
		})
		a := worse(flat, deep)
		if b := worse(flat, early); a.state == yes && (b.state == yes || early.runs > 0 && early.rate() < 0.7) {
			a.line += "; " + early.with()
			// Wrong from the second turn on is a matter of reuse, not of depth, unless all else that is reused is right.
			if g := r.reused(); g.wrong() == 0 && worse(g, deep).state == yes {
				a.line += "; " + g.String()
			} else {
				a.state = unknown
			}
		}
		return a
	}
	return channel{
		name: "long", says: "long answers go wrong", reads: []string{evidence.LongAnswer, evidence.Turns},
		symptom: func(r *reading) answer {
			for _, f := range []func(*reading) answer{script, loops, early, deepTurns} {
				if a := f(r); a.state == yes {
					return a
				}
			}
			return loops(r)
		},
		rules: []rule{
			{
				class: "foreign-script", says: "words of another script turn up in long answers or under load", certain: true,
				when: []clause{
					{"long lists hold words of another script", script},
				},
				splitter: "short answers alone are clean",
				next: Flag{
					SGLang:   "--sampling-backend pytorch",
					VLLM:     "VLLM_USE_FLASHINFER_SAMPLER=0",
					LlamaCpp: "--samplers temperature",
				},
				covers: []string{"ladder", "ladder-shared", "decode"},
			},
			{
				class: "speculation", says: "deep chats loop or end early, as do long answers", reads: []string{evidence.Flat},
				when: []clause{
					{"late turns are wrong that are right in one message", deepTurns},
					{"long lists loop or end early", func(r *reading) answer {
						if a := loops(r); a.state == yes {
							return a
						}
						return early(r)
					}},
				},
				splitter: "speculative decoding off",
				next: Flag{
					SGLang:   "without --speculative-algorithm",
					VLLM:     "without --speculative-config",
					LlamaCpp: "without -md",
				},
				covers: []string{"turns", "decode"},
			},
			{
				class: "late-degeneration", says: "answers fall into a loop from a length of output on",
				when: []clause{
					{"long lists end in a loop", loops},
					{"late turns of chats are right", func(r *reading) answer { return deepTurns(r).not() }},
				},
				splitter: "the same total length as prompt: right; one request alone against many",
				next: Flag{
					SGLang:   "without --speculative-algorithm",
					VLLM:     "without --speculative-config",
					LlamaCpp: "-fa off",
				},
				covers: []string{"decode"},
			},
		},
	}
}

// budgetChannel is no fault: thoughts that eat the cap.
func budgetChannel() channel {
	eaten := func(r *reading) answer {
		v, ok := r.Number(evidence.Sampling, "thoughts-default")
		if !ok {
			return answer{line: "default thoughts were not measured", p: 1}
		}
		return is(v >= eatsBudget, "%.0f characters of thoughts before a one-word answer", v)
	}
	return channel{
		name: "budget", says: "answers are thoughts to the cap", reads: []string{evidence.Sampling}, symptom: eaten,
		rules: []rule{{
			class: "budget", says: "by default thoughts use up a small cap: no fault", certain: true, note: true, when: []clause{
				{"the default thinks longer than a cap of 256 tokens", eaten},
			},
			splitter: "four times the cap: the answer comes",
			next: Flag{
				SGLang:   "enable_thinking false in chat_template_kwargs",
				VLLM:     "enable_thinking false in chat_template_kwargs",
				LlamaCpp: "--reasoning-budget 0",
			},
		}},
	}
}

// shortCap is 40 tokens of four characters, the cap of the short texts whose diversity is counted.
const shortCap = 160

// eatsBudget is 256 tokens of four characters, the cap of the probes' first attempt.
const eatsBudget = 1024
