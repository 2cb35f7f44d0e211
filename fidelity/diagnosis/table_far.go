package diagnosis

import (
	"github.com/assay-suite/assay/fidelity/evidence"
)

// farChannel is text of long cold prompts that is lost.
func farChannel() channel {
	deep := []string{evidence.Length, evidence.Depth}
	tailRight := simple("needles in the last 128 tokens are found", func(r *reading) answer { return mostly(r.tail, 0.7) })
	tailWrong := simple("needles in the last 128 tokens are lost, too", func(r *reading) answer {
		return worse(r.near, r.tail)
	})
	// wrongAre: of the wrong answers beyond the edge most have these classes.
	wrongAre := func(words string, share float64, classes ...string) clause {
		return clause{words, func(r *reading) answer {
			if r.far.wrong() < 3 {
				return answer{line: r.far.with()}
			}
			return is(r.far.share(classes...) >= share, "%s", r.far.with())
		}}
	}
	wrongAreNot := func(words string, share float64, classes ...string) clause {
		c := wrongAre(words, share, classes...)
		return clause{words, func(r *reading) answer { return c.ask(r).not() }}
	}
	// noLanguage counts loops and signs by the examples as well.
	noLanguage := func(words string, want bool) clause {
		return clause{words, func(r *reading) answer {
			if r.far.wrong() < 3 {
				return answer{line: r.far.with()}
			}
			return is((r.far.babbles() >= 0.7) == want, "%s; %.0f %% of the examples are no language", r.far.with(),
				100*r.far.babbles())
		}}
	}
	readable := wrongAreNot("the wrong answers are readable and not mostly near misses", 0.6, "junk", "empty", "near-miss",
		"cut-off")
	whole := simple("prompt_tokens counts the whole prompt", func(r *reading) answer {
		c := r.cuts()
		if !c.known {
			return answer{line: "prompt_tokens of long prompts were not reported", p: 1}
		}
		return is(!c.cut, "prompt_tokens: at most %.0f of %.0f counted", c.reported, c.at)
	})
	// none is a sweep that found nothing, or that did not run.
	none := func(r *reading, what, found string) answer {
		if why := r.LeftOut[evidence.Shift]; why != "" {
			return is(true, "%s were not swept: %s", what, why)
		}
		return is(true, "%s were swept: %s", what, found)
	}
	noSeam := simple("no chunk seam loses needles while its sides keep them", func(r *reading) answer {
		if at, seam := r.Number(evidence.Shift, "seam"); seam {
			return is(false, "needles on the seam at %.0f are lost, beside it found", at)
		}
		return none(r, "seams", "none loses needles that its sides keep")
	})
	noModulus := simple("no residue of the length decides", func(r *reading) answer {
		if m, ok := r.Number(evidence.Shift, "modulus"); ok {
			return is(false, "lengths of one residue modulo %.0f fail, others do not", m)
		}
		return none(r, "residues", "none fails")
	})
	reachShare := func(words string, ok func(share float64) bool) clause {
		return clause{words, func(r *reading) answer {
			d, next, known := r.reach()
			if !known || r.edge == 0 {
				return answer{line: "how far back needles are found was not measured", p: 1}
			}
			return is(ok(next/r.edge), "found back to %.0f tokens from the end, lost at %.0f; the edge is %.0f tokens", d, next,
				r.edge)
		}}
	}
	copies := func(r *reading) group {
		return r.arms("eight copies, none in the tail", evidence.Repeats, "spread-no-tail")
	}
	verbatim := func(r *reading) group { return r.arms("asked in the needle's own words", evidence.Cue, "verbatim") }
	gap := func(r *reading) group { return r.arms("asked in other words", evidence.Cue, "paraphrase", "gap") }
	front := func(r *reading) group { return r.arms("at the very front", evidence.Depth, "depth-0") }
	refused := func(r *reading) group {
		return r.all("long prompts, alone", evidence.Length, func(a evidence.Arm) bool { return a.At > shortest })
	}
	return channel{
		name: "far", says: "text of long prompts is lost, cold and alone, while short prompts keep it", reads: deep,
		symptom: func(r *reading) answer {
			if c := r.cuts(); c.cut {
				return is(true, "prompt_tokens %.0f for a prompt of %.0f", c.reported, c.at)
			}
			if m, ok := r.Number(evidence.Shift, "modulus"); ok {
				return is(true, "needles are lost at lengths of one residue modulo %.0f", m)
			}
			if a := worse(r.near, r.far); a.state == yes {
				return a
			}
			if a := beyondLuck(refused(r), "too-long"); a.state == yes {
				return a
			}
			if a := worse(r.near, r.seams()); a.state == yes {
				return a
			}
			if a := worse(r.near, r.deep); a.state == yes {
				return a
			}
			return worse(r.near, r.beyond)
		},
		rules: []rule{
			{
				class: "prompt-not-seen", says: "long prompts are answered without having been read; prompt_tokens says so",
				certain: true, reads: []string{evidence.Accounting},
				when: []clause{{"prompt_tokens is a handful for a prompt of hundreds", func(r *reading) answer {
					c := r.cuts()
					return is(c.cut && c.reported <= 8 && c.at >= 256, "prompt_tokens %.0f for a prompt of %.0f", c.reported, c.at)
				}}},
				splitter: "the same prompt on one node without a prefill/decode split, or with a larger KV pool",
				next: Flag{
					SGLang:   "run one server without --disaggregation-mode",
					VLLM:     "run without --kv-transfer-config",
					LlamaCpp: "raise -c",
				},
			},
			{
				class: "head-cut", says: "the front of long prompts is cut off without an error", certain: true,
				beside: []string{"window-split"}, reads: []string{evidence.Accounting},
				when: []clause{
					{"prompt_tokens falls below what shorter prompts had", func(r *reading) answer {
						c := r.cuts()
						return is(c.cut && c.reported > 8 && (c.reported < 0.9*c.full || front(r).runs > 0 && front(r).rate() < 0.5),
							"prompt_tokens %.0f for a prompt of %.0f; up to %.0f it was whole", c.reported, c.at, c.full)
					}},
				},
				splitter: "over-limit probe: the code at the head is lost, the one at the tail is found; a larger context moves " +
					"the limit",
				next: Flag{
					SGLang:   "start without --allow-auto-truncate",
					VLLM:     "send no truncate_prompt_tokens, or raise --max-model-len",
					LlamaCpp: "raise -c and start with --no-context-shift",
				},
			},
			{
				class: "middle-cut", says: "the middle of long prompts is cut out without an error", certain: true,
				reads: []string{evidence.Accounting},
				when: []clause{
					{"prompt_tokens stays at the longest that passes whole", func(r *reading) answer {
						c := r.cuts()
						return is(c.cut && c.reported > 8 && c.reported >= 0.9*c.full,
							"prompt_tokens %.0f for a prompt of %.0f; up to %.0f it was whole", c.reported, c.at, c.full)
					}},
					{"a needle at the very front is not lost", func(r *reading) answer {
						g := front(r)
						if g.runs == 0 {
							return answer{line: "the front was not asked for", p: 1}
						}
						return is(g.rate() >= 0.5, "%s", g.with())
					}},
				},
				splitter: "over-limit probe: codes at head and tail are found, the one in the middle is lost",
				next: Flag{
					SGLang:   "start without --allow-auto-truncate",
					VLLM:     "raise --max-model-len",
					LlamaCpp: "raise -c and start with --no-context-shift",
				},
			},
			{
				class: "window-split", says: "prompts are refused or cut far below the window that the server shows", certain: true,
				reads: []string{
					evidence.OverLimit, evidence.Ladder,
				},
				when: []clause{
					{"prompts that fit the shown window are refused as too long, or cut at a share of it", func(r *reading) answer {
						if a := beyondLuck(refused(r), "too-long"); a.state == yes {
							return a
						}
						if a := beyondLuck(r.all("under the window", evidence.OverLimit, prefixed("under-")), "too-long"); a.state ==
							yes || r.Words[evidence.OverLimit+"/under"] == "refused" {
							a.state = yes
							return a
						}
						c := r.cuts()
						return answer{
							state: map[bool]state{true: unknown, false: no}[c.cut && c.reported > 8 && c.reported < 0.9*c.full],
							line:  "nothing below the window is refused",
							p:     1,
						}
					}},
				},
				splitter: "one request alone with the number of slots set to 1",
				next:     Flag{SGLang: "--max-running-requests 1", VLLM: "--max-num-seqs 1", LlamaCpp: "-np 1"},
			},
			{
				class: "phase", says: "codes from deep in the prompt come back slightly wrong at lengths of one residue",
				certain: true, reads: []string{evidence.Shift},
				when: []clause{{"exactly the lengths of one residue fail", func(r *reading) answer {
					m, ok := r.Number(evidence.Shift, "modulus")
					res, _ := r.Number(evidence.Shift, "residue")
					if !ok && r.LeftOut[evidence.Shift] != "" {
						return answer{line: "residues were not swept", p: 1}
					}
					return is(ok, "lengths of residue %.0f modulo %.0f fail, others do not", res, m)
				}}},
				splitter: "the same prompts with thinking on, or with another page size: the residue moves or goes",
				next:     Flag{SGLang: "--page-size 1", VLLM: "another --block-size", LlamaCpp: "-ub 256 instead of 512"},
				covers:   []string{"ladder", "ladder-shared", "warm", "fork", "turns"},
			},
			{
				class: "overflow-swallowed", says: "200 and no text from a length on", reads: []string{evidence.Depth},
				when:     []clause{tailWrong, wrongAre("the wrong answers are empty", 0.8, "empty"), whole},
				splitter: "the tail: the window-on-all-layers kind finds it, this one answers nothing at all",
				next:     Flag{SGLang: "raise --context-length", VLLM: "raise --max-model-len", LlamaCpp: "raise -c"},
			},
			{
				class: "chunk-seam", says: "which text is lost follows the boundaries of prefill chunks", reads: []string{
					evidence.Shift, evidence.Warm, evidence.Distance,
				},
				when: []clause{
					{
						"needles on a seam are lost and beside it found; or those before a seam are lost and behind it found, for two " +
							"seams; or the head is found and what stands before the question is lost; or what is lost at a fixed distance " +
							"from the end comes and goes with the length; or a warm prompt is right where the cold one is wrong", chunkSeam,
					},
					whole,
				},
				splitter: "another chunk size: the edge moves with it",
				next: Flag{
					SGLang:   "--chunked-prefill-size -1",
					VLLM:     "--max-num-batched-tokens above the prompt's length",
					LlamaCpp: "-b and -ub above the prompt's length",
				},
			},
			{
				class: "junk-cliff", says: "no language from the first token on, from a length on", beside: []string{"chunk-seam"},
				reads: []string{evidence.Depth},
				when: []clause{
					noLanguage("the wrong answers are no language", true), tailWrong, whole,
					wrongAreNot("they are not near misses", 0.5, "near-miss"),
					{"a warm prompt is no better", func(r *reading) answer { return chunkWarm(r).not() }},
				},
				splitter: "the needle beside the question: this fault loses it as well, a lost far path does not",
				next:     Flag{SGLang: "another --attention-backend", VLLM: "another VLLM_ATTENTION_BACKEND", LlamaCpp: "-fa off"},
			},
			{
				class: "wrong-prompt", says: "fluent answers to another part of the prompt; the question is ignored",
				reads: []string{evidence.Depth},
				when: []clause{
					tailWrong, noLanguage("the wrong answers are language", false), wrongAreNot("they are not empty", 0.5, "empty"),
					whole,
					{"the head is lost as well", func(r *reading) answer { return worse(r.near, r.head) }},
				},
				splitter: "put the question first: what is answered then is what was read",
				next: Flag{
					SGLang:   "--chunked-prefill-size -1",
					VLLM:     "--max-num-batched-tokens above the prompt's length",
					LlamaCpp: "--no-cache-prompt",
				},
			},
			{
				class: "coarse-kv", says: "near misses, the more the farther back", reads: []string{
					evidence.Depth, evidence.Distance,
				},
				when:     []clause{wrongAre("the wrong answers are near misses", 0.6, "near-miss"), tailRight, noModulus, whole},
				splitter: "the KV dtype: near misses go with a wider one",
				next:     Flag{SGLang: "--kv-cache-dtype auto", VLLM: "--kv-cache-dtype auto", LlamaCpp: "-ctk f16 -ctv f16"},
				covers:   []string{"ladder", "ladder-shared"},
			},
			{
				class: "sparse-selection", says: "far text is chosen, not read: what resembles the question is found, and copies " +
					"win the lottery", reads: []string{
					evidence.Cue, evidence.Repeats,
				},
				when: []clause{
					{"asked in the needle's own words it is found, in others not", func(r *reading) answer {
						a := worse(verbatim(r), gap(r))
						if v := verbatim(r); v.runs >= 4 && v.rate() < 0.5 {
							a.state = no
						}
						if a.state == unknown && verbatim(r).rate() >= 0.75 && gap(r).runs >= 4 && gap(r).rate() <= 0.5 &&
							copies(r).rate() >= 0.75 {
							a.state = yes // few runs: two contrasts that point the same way
						}
						return a
					}},
					{"eight copies without one in the tail are found", func(r *reading) answer {
						g := copies(r)
						if g.runs < 3 {
							return answer{line: g.with(), p: 1}
						}
						return is(g.rate() >= 0.6, "%s", g.with())
					}},
					tailRight, noSeam, whole, readable,
				},
				splitter: "eight copies without one in the tail, and the same distance in a shorter prompt: both found here",
				next: Flag{
					SGLang:   "index_topk doubled by --json-model-override-args",
					VLLM:     "index_topk doubled by --hf-overrides",
					LlamaCpp: "another build without sparse attention: no flag of its own",
				},
			},
			{
				class: "position-encoding", says: "recall falls with the distance from the end, from a native length on",
				reads: []string{
					evidence.Distance, evidence.Depth,
				},
				when: []clause{
					reachShare("needles are found about as far back as the edge is long", func(s float64) bool { return s > 0.55 }),
					{"it is a slope: some lengths or distances are right in part", func(r *reading) answer {
						n, of := r.mixed()
						if of < 8 {
							return answer{line: "too few arms of repeated runs", p: 1}
						}
						return is(n >= 3, "%d of %d arms are right in part", n, of)
					}},
					wrongAreNot("blank answers or near misses are not the rule", 0.5, "empty", "near-miss"), tailRight, noSeam, whole,
					{"asked in the needle's own words it is not found either", func(r *reading) answer {
						v := verbatim(r)
						if v.runs < 3 {
							return answer{line: v.with(), p: 1}
						}
						return is(v.rate() < 0.9, "%s", v.with())
					}},
				},
				splitter: "the whole length moved with the distance held: this fault follows the distance, a selection the length",
				next: Flag{
					SGLang:   "rope_scaling by --json-model-override-args",
					VLLM:     "rope_scaling by --hf-overrides",
					LlamaCpp: "--rope-scaling yarn with --yarn-orig-ctx",
				},
			},
			{
				class: "tail-only", says: "nothing is seen but the last tokens", beside: []string{"chunk-seam"}, reads: []string{
					evidence.Repeats, evidence.Cue, evidence.Depth,
				},
				when: []clause{
					{
						"eight copies are lost unless one is in the tail, or needles are lost from a sharp distance on",
						func(r *reading) answer {
							g := copies(r)
							with := r.arms("eight copies, one in the tail", evidence.Repeats, "spread-with-tail")
							a := worse(with, g)
							if a.state != yes && g.runs > 0 && g.rate() <= 0.5 && with.rate() >= 0.75 {
								a.state = yes
							}
							if a.state == no && r.far.share("empty") >= 0.5 {
								a.state = unknown
							}
							if n, of := r.mixed(); a.state == no && of >= 8 && n <= 2 {
								a.state = yes
								a.line += "; no arm between right and wrong"
							}
							return a
						},
					},
					{"asked in the needle's own words it is lost, too", func(r *reading) answer {
						v := verbatim(r)
						if v.runs == 0 {
							return answer{line: v.with(), p: 1}
						}
						return is(v.rate() <= 0.5, "%s", v.with())
					}},
					tailRight, noSeam, whole,
					wrongAreNot("the wrong answers are not near misses or junk", 0.5, "near-miss", "junk"),
					{
						"at a fixed distance from the end the length does not decide", func(r *reading) answer {
							return heldMixed(r).not()
						},
					},
				},
				splitter: "eight copies with none in the tail, and the verbatim cue: both are lost here, found where text is " +
					"chosen",
				next: Flag{
					SGLang:   "sliding_window null by --json-model-override-args",
					VLLM:     "--disable-sliding-window",
					LlamaCpp: "--swa-full",
				},
			},
		},
	}
}
