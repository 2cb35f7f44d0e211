package diagnosis

import (
	"fmt"

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
			for _, other := range []group{e, r.forked(), r.arms("", evidence.Warm, "warm-long"), r.hits()} {
				if g.wrong() == 0 {
					g = other
				}
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
	// met asks whether requests that come while their prefix is computed are wrong, where those that come later are right.
	met := func(r *reading) answer {
		g := r.arms("at one moment with others behind the same new prefix", evidence.Fork, "meet")
		good := r.loneLong()
		later := r.arms("", evidence.Warm, "warm-long", "warm1", "warm2", "warm3")
		a := worse(good, g)
		if a.state == yes && (g.count("too-long") > 0 || later.runs < 4 || later.rate() < 0.9 || r.company().state == yes) {
			a.state = no
		}
		return a
	}
	// turning asks whether one request, sent again and again, is answered rightly and wrongly by turns.
	turning := func(r *reading) answer {
		changes, wrong := 0, 0
		var same []evidence.Answer
		for _, a := range r.Answers {
			if a.Probe == evidence.SelfNoise && a.Arm == "facts" && a.Measured {
				same = append(same, a)
			}
		}
		for i, a := range same {
			if isWrong(a) {
				wrong++
			}
			if i > 0 && a.Right != same[i-1].Right {
				changes++
			}
		}
		good := r.lone()
		a := worse(good, r.arms("one request again and again", evidence.SelfNoise, "facts"))
		if a.state == yes && (changes < 2 || good.rate() < 0.95) {
			a.state = no
		}
		return a
	}
	// long asks whether long reused prompts are wrong where short ones are right.
	long := func(r *reading) answer {
		return worse(r.loneLong(), r.arms("long prompts again, with a proven hit", evidence.Warm, "warm-long"))
	}
	longOnly := func(r *reading) answer {
		a := long(r)
		g := r.arms("", evidence.Warm, "warm-long")
		if a.state == yes && g.rate() > 0.25 {
			a.state = no
		}
		return a
	}
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
			for _, f := range []func(*reading) answer{long, met, turning} {
				if a := f(r); a.state == yes {
					return a
				}
			}
			if a := worse(r.lone(), r.hits()); a.state == yes {
				return a
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
				class: "replay", proven: true,
				says:     "an earlier answer, or the prompt itself, comes back on a reused prefix",
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
				class: "bad-replica", says: "one request, sent again, is answered rightly and wrongly by turns", when: []clause{
					{"of equal requests some are right and some wrong, more than once each, and other facts are right", turning},
				},
				splitter: "each replica's own address",
				next: Flag{
					SGLang:   "--dp-size 1, or one worker behind the router directly (routed_dp_rank)",
					VLLM:     "-dp 1, or one replica directly (X-data-parallel-rank)",
					LlamaCpp: "ask one server directly, without the proxy",
				},
			},
			{
				class: "unfinished-prefix", says: "a prefix is reused while it is still being computed", when: []clause{
					{"requests at one moment behind a new prefix are wrong, and later ones right", met},
				},
				splitter: "the same requests one after the other: right",
				next: Flag{
					SGLang:   "--disable-radix-cache",
					VLLM:     "--no-enable-prefix-caching",
					LlamaCpp: "-np 1",
				},
				covers: []string{"fork", "turns", "ladder", "ladder-shared"},
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
				class: "warm-junk", proven: true,
				says: "every reused prompt gives junk, template tokens or nothing", when: []clause{
					junky("the wrong answers are junk or empty", true), {
						"every reused prefix is bad, or every long one", func(r *reading) answer {
							if a := longOnly(r); a.state == yes {
								return a
							}
							return everyPrefix("", true).ask(r)
						},
					},
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
				class: "warm-forgets", proven: true,
				says: "the reused part of a prompt is not seen", when: []clause{
					junky("the wrong answers are readable", false),
					{
						"every reused prefix is bad, or every long one", func(r *reading) answer {
							if a := longOnly(r); a.state == yes {
								return a
							}
							return everyPrefix("", true).ask(r)
						},
					},
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
			class: "key-collision", proven: true,
			says: "the same text with another picture, adapter or salt is answered from the first " +
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
