package diagnosis

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/assay-suite/assay/fidelity/evidence"
)

// rungs are the numbers of clients that were asked, rising, without 1.
func (r *reading) rungs() []float64 {
	var out []float64
	for _, a := range r.Of(evidence.Ladder) {
		if a.At > 1 && a.Runs > 0 && !slices.Contains(out, a.At) {
			out = append(out, a.At)
		}
	}
	slices.Sort(out)
	return out
}

// ladder pools the arms of some clients whose names have every part and not one of the others.
func (r *reading) ladder(what string, keep func(clients float64) bool, parts ...string) group {
	return r.all(what, evidence.Ladder, func(a evidence.Arm) bool {
		longest := 384.0 // tokens of the longest prompt of such an arm, question and frame included
		switch {
		case strings.Contains(a.Name, "-shared-unequal-"):
			longest = 1152
		case strings.Contains(a.Name, "-unequal-"):
			longest = 832
		case strings.Contains(a.Name, "-shared-"):
			longest = 448
		}
		if r.edge > 0 && r.edge < longest {
			return false // lengths beyond the edge are lost alone as well
		}
		for _, p := range parts {
			if not, ok := strings.CutPrefix(p, "!"); ok {
				if strings.Contains(a.Name+"-", "-"+not+"-") {
					return false
				}
			} else if !strings.Contains(a.Name+"-", "-"+p+"-") {
				return false
			}
		}
		return keep(a.At)
	})
}

func anyClients(n float64) bool { return n > 1 }

// alone is the ladder's own questions asked by one client, and cold facts.
func (r *reading) alone() group {
	g := r.ladder("alone", func(n float64) bool { return n == 1 }, "short")
	r.calm().into(&g)
	r.lone().into(&g)
	return g
}

func (g group) into(to *group) {
	to.runs, to.right, to.arms = to.runs+g.runs, to.right+g.right, to.arms+g.arms
}

// rung asks the numbers of clients one by one whether they are worse than one alone, at a threshold shared by all.
func (r *reading) rung(parts ...string) (lowest, highest float64, worst answer) {
	all := r.rungs()
	worst = answer{line: "company was not asked", p: 1}
	if len(all) == 0 {
		return 0, 0, worst
	}
	alone := r.alone()
	worst.state = no
	for _, n := range all {
		g := r.ladder(fmt.Sprintf("%.0f clients", n), func(m float64) bool { return m == n }, parts...)
		a := worse(alone, g)
		a.p = math.Min(1, a.p*float64(len(all)))
		if a.p > alpha {
			if a.state != no && worst.state == no {
				worst.state = unknown
			}
			continue
		}
		if lowest == 0 {
			lowest = n
		}
		highest = n
		if worst.state != yes || a.p < worst.p {
			worst = a
			worst.state = yes
		}
	}
	if worst.line == "company was not asked" {
		g := r.ladder("in company", anyClients, parts...)
		worst.line = alone.String() + "; " + g.with()
	}
	return lowest, highest, worst
}

// company asks whether several clients at once are worse off than one, prompts with nothing in common.
func (r *reading) company() answer {
	_, _, a := r.rung("unique")
	return a
}

// ladderChannel is answers that go wrong beside others.
func ladderChannel() channel {
	foreign := func(r *reading) answer {
		a := beyondLuck(r.ladder("in company, prompts with nothing in common", anyClients, "unique"), "other-needle")
		if a.state == yes {
			return a
		}
		if f := r.forked(); f.runs > 0 && f.rate() >= 0.9 {
			if b := beyondLuck(r.ladder("in company, shared prefix", anyClients, "shared"), "other-needle"); b.state == yes {
				return b
			}
		}
		return a
	}
	equal := func(r *reading) group { return r.ladder("equal lengths", anyClients, "equal", "short") }
	unequal := func(r *reading) group { return r.ladder("unequal lengths", anyClients, "unequal", "short") }
	pairs := func(n float64) bool { return n == 2 || n == 4 }
	skew := func(r *reading) answer {
		// A shared prefix may spare some of the equal ones: the contrast must not be that of the prefix.
		own := r.ladder("equal lengths, nothing in common", anyClients, "unique", "equal", "short")
		if a := worse(own, r.ladder("unequal lengths, nothing in common", anyClients, "unique", "unequal",
			"short")); own.runs > 0 && a.state == no {
			return a
		}
		a := worse(equal(r), unequal(r))
		if b := worse(r.ladder("equal lengths, few clients", pairs, "equal", "short"),
			r.ladder("unequal lengths, few clients", pairs, "unequal", "short")); b.state == yes && a.state != yes {
			return b
		}
		return a
	}
	tooLong := func(r *reading) answer {
		g := r.ladder("in company", anyClients)
		if a := beyondLuck(r.arms("prompts at once that each fit the window", evidence.OverLimit, "together"),
			"too-long"); a.state == yes {
			return a
		}
		return beyondLuck(g, "too-long")
	}
	top := func(r *reading) float64 {
		if all := r.rungs(); len(all) > 0 {
			return all[len(all)-1]
		}
		return 0
	}
	span := func(words string, ok func(lowest, highest, top float64) bool) clause {
		return clause{words, func(r *reading) answer {
			lo, hi, a := r.rung("short")
			if a.state != yes {
				return answer{line: a.line, p: 1}
			}
			return is(ok(lo, hi, top(r)), "wrong from %.0f clients to %.0f, of at most %.0f", lo, hi, top(r))
		}}
	}
	junky := func(words string, want bool) clause {
		return clause{words, func(r *reading) answer {
			_, _, a := r.rung("short")
			g := r.ladder("in company", anyClients, "short")
			if a.state != yes || g.wrong() < 3 {
				return answer{line: g.with(), p: 1}
			}
			return is((g.share("junk", "empty") >= 0.5) == want, "%s", g.with())
		}}
	}
	// broken off: the answers of others end theirs.
	early := func(r *reading) answer {
		wrong := r.answered(func(a evidence.Answer) bool {
			return inCompany(a) && !a.Right && !strings.HasSuffix(a.Arm, "-long")
		})
		n := counts(wrong, func(a evidence.Answer) bool { return a.Early && !a.Tag })
		return is(n >= 4 && 2*n >= len(wrong), "%d of %d wrong answers in company break off within the code", n, len(wrong))
	}
	// mixed: two are enough, and neither length nor number decides.
	mixed := func(r *reading) answer {
		two := r.ladder("two clients", func(n float64) bool { return n == 2 }, "short")
		a := worse(r.alone(), two)
		if a.state == yes && skew(r).state == yes {
			a.state = no
		}
		return a
	}
	noForeign := clause{"no codes of others turn up", func(r *reading) answer { return foreign(r).not() }}
	tags := clause{"wrong answers in company show a turn or tool tag", func(r *reading) answer {
		wrong := r.answered(func(a evidence.Answer) bool { return inCompany(a) && !a.Right })
		n := counts(wrong, func(a evidence.Answer) bool { return a.Tag })
		if len(wrong) < 3 {
			return answer{line: "too few wrong answers in company", p: 1}
		}
		return is(3*n >= len(wrong), "%d of %d wrong answers in company show a tag", n, len(wrong))
	}}
	noTags := tags.negated("they show no turn or tool tags")
	noScript := clause{"long answers alone hold no other script", func(r *reading) answer {
		n, ok := r.Number(evidence.LongAnswer, "foreign-script")
		if !ok {
			return answer{line: "long lists were not asked for", p: 1}
		}
		return is(n < 2, "%.0f long lists with another script", n)
	}}
	return channel{
		name: "ladder", says: "answers are wrong beside other requests and right alone", reads: []string{evidence.Ladder},
		symptom: func(r *reading) answer {
			for _, f := range []func(*reading) answer{foreign, tooLong, func(r *reading) answer { return r.company() }, skew} {
				if a := f(r); a.state == yes {
					return a
				}
			}
			return r.company()
		},
		rules: []rule{
			{
				class: "window-split", says: "prompts that fit the window are refused when others are in flight", certain: true,
				when: []clause{
					{"some are refused as too long in company", tooLong},
				},
				splitter: "the same request alone passes",
				next:     Flag{SGLang: "--max-running-requests 1", VLLM: "--max-num-seqs 1", LlamaCpp: "-np 1"},
			},
			{
				class: "cross-talk", proven: true,
				says: "answers hold the codes of other requests in flight", certain: true, when: []clause{
					{"codes of requests in flight turn up", foreign},
				},
				splitter: "first characters of their own: clean there means the prefix cache, else batching or a gateway",
				next:     Flag{SGLang: "--disable-overlap-schedule", VLLM: "--max-num-seqs 1", LlamaCpp: "-np 1"},
			},
			{
				class: "unequal-batch", says: "requests of unequal length in one batch read at wrong places", when: []clause{
					{"unequal lengths are wrong where equal ones are right", skew},
					noForeign, noTags,
					{"two clients are enough", func(r *reading) answer {
						two := r.ladder("two to four clients, unequal", pairs, "unequal")
						base := r.alone()
						base.what = "alone, or few of equal length"
						r.ladder("", pairs, "equal", "short").into(&base)
						a := worse(base, two)
						if a.state == no {
							return a
						}
						if a.p <= 0.01 {
							a.state = yes // beside the contrast above, at the share of alpha that two contrasts leave
						}
						return a
					}},
				},
				splitter: "the same clients with equal lengths: right",
				next: Flag{
					SGLang:   "--disable-overlap-schedule",
					VLLM:     "--no-enable-chunked-prefill",
					LlamaCpp: "--no-cont-batching",
				},
				covers: []string{"aborts"},
			},
			{
				class: "early-finisher", says: "answers end when others beside them do", certain: true, when: []clause{
					{"wrong answers in company break off within the code", early},
				},
				splitter: "answers of equal length: clean",
				next:     Flag{SGLang: "--disable-overlap-schedule", VLLM: "--no-async-scheduling", LlamaCpp: "--no-cont-batching"},
				covers:   []string{"aborts", "warm"},
			},
			{
				class: "slot-mix-up", says: "beside one other request answers are wrong, whatever the lengths: what one request " +
					"leaves in a slot is used by the next", when: []clause{
					{"two clients are enough, and equal lengths are no better", mixed}, noForeign, noTags,
				},
				splitter: "one request alone: right; another size of the batch: the share stays",
				next:     Flag{SGLang: "--disable-overlap-schedule", VLLM: "--no-async-scheduling", LlamaCpp: "--no-cont-batching"},
				covers:   []string{"aborts", "warm"},
			},
			{
				class: "early-finisher", says: "in a band of concurrency short answers are spoiled beside longer ones",
				when: []clause{
					span("the largest company is not worse than one alone", func(_, hi, top float64) bool { return hi < top }),
					{"the largest company is clean again", func(r *reading) answer {
						g := r.ladder("the largest company", func(n float64) bool { return n == top(r) }, "short")
						if g.runs < 8 {
							return answer{line: g.with(), p: 1}
						}
						return is(g.rate() >= 0.97, "%s", g.with())
					}},
					noForeign, noTags, noScript,
				},
				splitter: "equal lengths of answer: clean; more clients than the band: clean",
				next:     Flag{SGLang: "--disable-overlap-schedule", VLLM: "--no-async-scheduling", LlamaCpp: "--no-cont-batching"},
				covers:   []string{"aborts"},
			},
			{
				class: "load-junk", says: "junk from a number of clients on", when: []clause{
					span("it goes on up to the largest company", func(_, hi, top float64) bool { return hi >= top }),
					junky("the wrong answers are junk", true), noForeign, noTags, noScript,
				},
				splitter: "one request alone with the same output: clean",
				next:     Flag{SGLang: "--disable-overlap-schedule", VLLM: "--max-num-seqs 8", LlamaCpp: "-np 8"},
				covers:   []string{"aborts"},
			},
			{
				class: "special-token-leak", says: "answers in company end at a leaked turn or tool tag", when: []clause{
					span("it goes on up to the largest company", func(_, hi, top float64) bool { return hi >= top }), tags, noForeign,
				},
				splitter: "tools alone: hurt as well",
				next: Flag{
					SGLang:   "another --reasoning-parser and --tool-call-parser",
					VLLM:     "another --reasoning-parser and --tool-call-parser",
					LlamaCpp: "--reasoning-format none",
				},
				covers: []string{"aborts"},
			},
			{
				class: "foreign-script", says: "words of another script under load", when: []clause{
					noScript.negated("long answers alone hold another script"), noForeign,
				},
				splitter: "long answers alone: other scripts as well",
				next: Flag{
					SGLang:   "--sampling-backend pytorch",
					VLLM:     "VLLM_USE_FLASHINFER_SAMPLER=0",
					LlamaCpp: "--samplers temperature",
				},
			},
		},
	}
}

func (c clause) negated(words string) clause {
	return clause{words, func(r *reading) answer { return c.ask(r).not() }}
}
