package diagnosis

import (
	"fmt"
	"math"

	"github.com/assay-suite/assay/fidelity/evidence"
)

func (r *reading) cold() group { return r.arms("cold", evidence.Warm, "cold") }

func (r *reading) warm() group {
	return r.arms("the same bytes again, with a proven hit", evidence.Warm, "warm1", "warm2", "warm3")
}

// computed and reused pool what is computed whole, and what begins with a prefix that was seen before.
func (r *reading) computed() group {
	g := r.arms("computed whole", evidence.Warm, "cold", "first-changed")
	r.take(&g, evidence.Fork, "a1")
	r.take(&g, evidence.Flat, "flat")
	return g
}

func (r *reading) reused() group {
	g := r.arms("behind a prefix that was seen before", evidence.Warm, "warm1", "warm2", "warm3", "extended")
	r.take(&g, evidence.Fork, "b1", "a2", "b2")
	r.take(&g, evidence.Turns, "turn-2") // later ones can fail by depth
	return g
}

// deepTurn is where a chat counts as deep.
const deepTurn = 7

// prefixes are the reused prefixes whose cold answer was right, and those of them that are bad whenever they are
// reused.
func (r *reading) prefixes() (all, bad float64) {
	all, _ = r.Number(evidence.Warm, "prefixes")
	bad, _ = r.Number(evidence.Warm, "prefixes-bad")
	return all, bad
}

func (r *reading) forked() group {
	return r.arms("a second question behind the same prefix", evidence.Fork, "b1", "a2", "b2")
}

// warmChannel is prompts that are answered right when computed and wrong when reused.
func warmChannel() channel {
	everyPrefix := func(words string, want bool) clause {
		return clause{words, func(r *reading) answer {
			all, bad := r.prefixes()
			if all < 4 {
				return answer{line: fmt.Sprintf("%.0f prefixes were reused", all), p: 1}
			}
			return is((bad >= 0.9*all) == want, "%.0f of %.0f reused prefixes are bad each time", bad, all)
		}}
	}
	junky := func(words string, want bool) clause {
		return clause{words, func(r *reading) answer {
			g := r.warm()
			g.what = "warm"
			e := r.arms("", evidence.Warm, "extended")
			if g.wrong() == 0 {
				g = e
			}
			if g.wrong() == 0 {
				g = r.forked()
			}
			if g.wrong() == 0 {
				return answer{line: g.with(), p: 1}
			}
			return is((g.share("junk", "empty", "cut-off") >= 0.5) == want, "%s", g.with())
		}}
	}
	replays := clause{"answers behind a shared prefix are those of an earlier request", func(r *reading) answer {
		n, ok := r.Number(evidence.Fork, "replays")
		g := r.forked()
		if !ok || g.runs == 0 {
			return answer{line: "the fork was not asked", p: 1}
		}
		if k := g.count("other-needle"); n >= 2 && k >= 2 && 3*k >= g.wrong() {
			return is(true, "%.0f answers of %d are those of an earlier request; %s", n, g.runs, g.with())
		}
		// The prompt itself comes back: words of the haystack.
		w := r.warm()
		if w.share("filler-echo") >= 0.5 && w.wrong() >= 4 {
			return is(true, "warm answers repeat the prompt; %s", w.with())
		}
		return is(false, "%.0f answers are those of an earlier request; %s", n, g.with())
	}}
	return channel{
		name: "warm", says: "a reused prefix changes right answers into wrong ones", reads: []string{
			evidence.Warm, evidence.Fork,
		},
		symptom: func(r *reading) answer {
			if n, ok := r.Number(evidence.Fork, "replays"); ok && n >= 2 {
				if a := beyondLuck(r.forked(), "other-needle"); a.state == yes {
					return a
				}
			}
			if a := worse(r.cold(), r.warm()); a.state == yes {
				return a
			}
			if a := worse(r.cold(), r.arms("extended by a turn", evidence.Warm, "extended")); a.state == yes {
				return a
			}
			if a := worse(r.computed(), r.reused()); a.state == yes {
				return a
			}
			// Some prefixes only: no sound answer is junk or empty, and those computed whole are not.
			if r.computed().count("junk", "empty") == 0 {
				if a := beyondLuck(r.reused(), "junk", "empty"); a.state == yes {
					a.line = r.computed().String() + "; " + a.line
					return a
				}
			}
			return worse(r.computed(), r.reused())
		},
		rules: []rule{
			{
				class: "replay", says: "an earlier answer, or the prompt itself, comes back on a reused prefix",
				when:     []clause{replays},
				splitter: "two questions by turns behind one prefix: the answers belong to the other question",
				next: Flag{
					SGLang:   "--disable-radix-cache",
					VLLM:     "--no-enable-prefix-caching",
					LlamaCpp: "cache_prompt false in the request",
				},
				covers: []string{"fork", "turns"},
			},
			{
				class: "poisoned-prefix", says: "some prefixes go bad when first reused and stay bad; others are fine",
				when: []clause{
					{"a bad prefix is bad each time", func(r *reading) answer {
						_, bad := r.prefixes()
						mixed, ok := r.Number(evidence.Warm, "prefixes-mixed")
						if !ok {
							return answer{p: 1}
						}
						a := is(bad >= 1 && mixed <= bad/2, "%.0f prefixes bad each time, %.0f now and then", bad, mixed)
						if bad+mixed == 0 {
							a.state = unknown // other arms than these repeats are bad
						}
						return a
					}},
					everyPrefix("only some of the reused prefixes are bad", false),
				},
				splitter: "a new prefix of the same length, and a flushed cache: both right",
				next: Flag{
					SGLang:   "--disable-overlap-schedule",
					VLLM:     "--no-enable-prefix-caching",
					LlamaCpp: "cache_prompt false in the request",
				},
				covers: []string{"fork", "turns", "ladder"},
			},
			{
				class: "warm-junk", says: "every reused prompt gives junk, template tokens or nothing", when: []clause{
					junky("the wrong answers are junk or empty", true), everyPrefix("every reused prefix is bad", true),
				},
				splitter: "an extended prompt that reuses the same prefix, and one more token to prefill",
				next: Flag{
					SGLang:   "--disable-radix-cache",
					VLLM:     "--no-enable-prefix-caching",
					LlamaCpp: "cache_prompt false in the request",
				},
				covers: []string{"fork", "turns"},
			},
			{
				class: "warm-forgets", says: "the reused part of a prompt is not seen", when: []clause{
					junky("the wrong answers are readable", false), everyPrefix("every reused prefix is bad", true),
					simple("no earlier answer comes back", func(r *reading) answer { return replays.ask(r).not() }),
				},
				splitter: "the first character changed: right again",
				next: Flag{
					SGLang:   "--disable-radix-cache",
					VLLM:     "--no-enable-prefix-caching",
					LlamaCpp: "cache_prompt false in the request",
				},
				covers: []string{"fork", "turns", "ladder-shared"},
			},
		},
	}
}

// forkChannel is mixed-up owners of one cached text.
func forkChannel() channel {
	pictures := func(r *reading) answer {
		a := r.arms("the first picture", evidence.Fork, "image-a")
		b := r.arms("another picture behind the same text", evidence.Fork, "image-b")
		if b.runs < 2 || a.right < 2 {
			return answer{line: "pictures were not measured", p: 1}
		}
		return is(b.right == 0, "%s; %s", a.String(), b.with())
	}
	return channel{
		name: "fork", says: "what the cache holds for one owner answers for another", reads: []string{evidence.Fork},
		symptom: pictures,
		rules: []rule{{
			class: "key-collision", says: "the same text with another picture, adapter or salt is answered from the first " +
				"one's cache", certain: true,
			when:     []clause{{"a second picture behind one text is described as the first", pictures}},
			splitter: "the two pictures in the other order: again the first is described",
			next: Flag{
				SGLang:   "--disable-radix-cache",
				VLLM:     "--no-enable-prefix-caching",
				LlamaCpp: "cache_prompt false in the request",
			},
		}},
	}
}

// evictChannel is what comes back from a lower tier of the cache.
func evictChannel() channel {
	back := func(r *reading) answer {
		first := r.arms("before the flood, and short ones alone", evidence.Evict, "first")
		again := r.arms("after the flood", evidence.Evict, "returned", "again")
		r.calm().into(&first)
		r.cold().into(&first)
		a := worse(first, again)
		if w := r.warm(); w.runs > 0 && w.rate() < 0.9 {
			a.state = no
			a.line = w.with() + ": reuse is wrong without a flood"
		}
		return a
	}
	return channel{
		name: "evict", says: "a prompt that was evicted comes back wrong", reads: []string{evidence.Evict}, symptom: back,
		rules: []rule{{
			class: "tier-restore", says: "an evicted prefix is restored wrongly, and stays so", when: []clause{
				{"wrong on return", back},
				{"a plain repeat is right", func(r *reading) answer { return mostly(r.warm(), 0.9) }},
			},
			splitter: "a plain repeat is right, evict and return is wrong",
			next: Flag{
				SGLang:   "without --enable-hierarchical-cache",
				VLLM:     "without --kv-offloading-size and --kv-transfer-config",
				LlamaCpp: "--cache-ram 0",
			},
		}},
	}
}

// abortChannel is damage by streams that were left.
func abortChannel() channel {
	hurt := func(r *reading) answer {
		return worse(r.arms("before any stream was left", evidence.Aborts, "before"),
			r.arms("beside and after left streams", evidence.Aborts, "during", "after"))
	}
	pooled := func(r *reading) answer {
		good := r.arms("before any stream was left, and short ones alone", evidence.Aborts, "before")
		r.calm().into(&good)
		if a := hurt(r); a.state == yes {
			return a
		}
		a := worse(good, r.arms("beside and after left streams", evidence.Aborts, "during", "after"))
		if before := r.arms("", evidence.Aborts, "before"); before.runs > 0 && before.rate() < 0.9 {
			a.state = no
		}
		return a
	}
	return channel{
		name: "aborts", says: "requests beside or after a left stream go wrong", reads: []string{evidence.Aborts},
		symptom: pooled,
		rules: []rule{{
			class: "abort-damage", says: "a stream that its client left damages others", when: []clause{
				{"wrong beside or after a left stream, right before", pooled},
			},
			splitter: "the same requests with no stream left are right",
			next:     Flag{SGLang: "--disable-overlap-schedule", VLLM: "--no-async-scheduling", LlamaCpp: "-np 1"},
		}},
	}
}

// ageChannel is a server that gets worse with what it has served.
func ageChannel() channel {
	drift := func(r *reading) answer {
		early := r.arms("the first requests of the run", evidence.Sanity, "q0", "q1", "q2", "q3", "q4")
		r.take(&early, evidence.SelfNoise, "facts")
		r.take(&early, evidence.Parity, "whole")
		late := r.all("the same kind of short questions, late", evidence.Soak, nil)
		if a := worse(early, late); a.state == yes {
			return a
		}
		// Facts alone tell more: some wrong answers leave simple questions right.
		a := worse(r.arms("one fact again and again, at first", evidence.SelfNoise, "facts"), r.calm())
		if a.state == yes && late.runs > 0 && late.rate() < 0.95 {
			a.line += "; " + late.String()
			return a
		}
		return worse(early, late)
	}
	return channel{
		name: "age", says: "short questions that were right at first go wrong later", reads: []string{
			evidence.Soak, evidence.Sanity,
		}, symptom: drift,
		rules: []rule{{
			class: "drift", says: "the more is served, the more is wrong", when: []clause{
				{"right at first, wrong late, alone", drift},
			},
			splitter: "a restart: right again",
			next: Flag{
				SGLang:   "restart, then --disable-radix-cache",
				VLLM:     "restart, then --no-enable-prefix-caching",
				LlamaCpp: "restart, then -np 1",
			},
			covers: []string{
				"far", "warm", "fork", "turns", "ladder", "ladder-shared", "tools", "decode", "aborts", "evict", "sessions", "long",
				"sampling",
			},
		}},
	}
}

// sessionsChannel is replicas that differ.
func sessionsChannel() channel {
	split := func(r *reading) answer {
		right, runs, sessions, good, bad, extreme, each := 0, 0, 0, 0, 0, 0, 0
		for _, a := range r.Of(evidence.Sessions) {
			if a.Runs < 3 {
				continue
			}
			sessions++
			runs += a.Runs
			right += a.Right
			each = a.Runs
			switch a.Right {
			case a.Runs:
				good++
				extreme++
			case 0:
				bad++
				extreme++
			}
		}
		a := answer{
			line: fmt.Sprintf("%d connections: %d always right, %d never, %d mixed", sessions, good, bad, sessions-good-bad),
			runs: runs,
			arms: sessions,
			p:    1,
		}
		if sessions < 6 {
			return a
		}
		// One server with the same share of right answers for all would give that many one-sided connections by chance.
		q := float64(right) / float64(runs)
		a.p = binomialTail(extreme, sessions, math.Pow(q, float64(each))+math.Pow(1-q, float64(each)))
		a.state = no
		if good > 0 && bad > 0 && a.p <= alpha {
			a.state = yes
		}
		return a
	}
	return channel{
		name: "sessions", says: "some connections are always right and others never", reads: []string{evidence.Sessions},
		symptom: split,
		rules: []rule{{
			class: "bad-replica", says: "one of several replicas is broken; a connection stays with its replica", certain: true,
			when:     []clause{{"connections fall into two groups", split}},
			splitter: "each replica's own address",
			next: Flag{
				SGLang:   "ask one worker behind the router directly (routed_dp_rank)",
				VLLM:     "ask one replica directly (X-data-parallel-rank)",
				LlamaCpp: "ask one server directly, without the proxy",
			},
			covers: everythingBut("sessions"), drowns: true,
		}},
	}
}
