package diagnosis

import (
	"github.com/assay-suite/assay/fidelity/evidence"
)

// farChannel is text of long cold prompts that is lost.
func farChannel() channel {
	deep := []string{evidence.Length, evidence.Depth}
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
	whole := simple("prompt_tokens counts the whole prompt", func(r *reading) answer {
		c := r.cuts()
		if !c.known {
			return answer{line: "prompt_tokens of long prompts were not reported", p: 1}
		}
		return is(!c.cut, "prompt_tokens: at most %.0f of %.0f counted", c.reported, c.at)
	})
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
			if a := beyondLuck(refused(r), "too-long"); a.state == yes {
				return a
			}
			return r.misplaced()
		},
		prefer: func(r *reading, u rule) float64 { return r.likelihood(u) },
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
				class: "middle-cut", proven: true,
				says: "the middle of long prompts is cut out without an error", certain: true,
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
				class: "phase", proven: true,
				says: "prompts of one residue of the length fail", reads: []string{evidence.Shift},
				when:     []clause{fits("phase", "lengths of one residue fail, others do not")},
				splitter: "the same prompts with thinking on, or with another page size: the residue moves or goes",
				next:     Flag{SGLang: "--page-size 1", VLLM: "another --block-size", LlamaCpp: "-ub 256 instead of 512"},
				covers:   []string{"ladder", "ladder-shared", "warm", "fork", "turns", "evict", "decode", "long", "tools", "age"},
			},
			{
				class: "overflow-swallowed", model: "cliff", says: "200 and no text from a length on",
				reads: []string{evidence.Depth},
				when: []clause{
					fits("cliff", "everything is lost from a length on"), wrongAre("the wrong answers are empty", 0.8, "empty"), whole,
				},
				splitter: "the tail: the window-on-all-layers kind finds it, this one answers nothing at all",
				next:     Flag{SGLang: "raise --context-length", VLLM: "raise --max-model-len", LlamaCpp: "raise -c"},
			},
			{
				class: "chunk-seam", proven: true,
				says: "which text is lost follows the boundaries of prefill chunks", reads: []string{
					evidence.Shift, evidence.Warm, evidence.Distance,
				},
				when: []clause{
					{
						"what is lost stands beside boundaries of chunks, or in all chunks but one; or everything is lost from a " +
							"length on, and a warm prompt is right where the cold one is wrong", func(r *reading) answer {
							a := r.fits("chunk-seam")
							if c := r.fits("cliff"); c.state != no && a.state != yes {
								if w := chunkWarm(r); w.state == yes {
									return w
								}
							}
							return a
						},
					},
					whole,
				},
				splitter: "another chunk size: the edge moves with it",
				next: Flag{
					SGLang:   "--chunked-prefill-size -1",
					VLLM:     "--max-num-batched-tokens above the prompt's length",
					LlamaCpp: "-b and -ub above the prompt's length",
				},
				covers: []string{"ladder", "ladder-shared", "turns", "long"},
			},
			{
				class: "junk-cliff", model: "cliff", says: "no language from the first token on, from a length on",
				beside: []string{"chunk-seam"}, reads: []string{evidence.Depth},
				when: []clause{
					fits("cliff", "everything is lost from a length on"), noLanguage("the wrong answers are no language", true), whole,
					{"a warm prompt is no better", func(r *reading) answer { return chunkWarm(r).not() }},
				},
				splitter: "the needle beside the question: this fault loses it as well, a lost far path does not",
				next:     Flag{SGLang: "another --attention-backend", VLLM: "another VLLM_ATTENTION_BACKEND", LlamaCpp: "-fa off"},
			},
			{
				class: "wrong-prompt", model: "cliff",
				says:  "fluent answers to another part of the prompt; the question is ignored",
				reads: []string{evidence.Depth},
				when: []clause{
					fits("cliff", "everything is lost from a length on"), noLanguage("the wrong answers are language", false),
					wrongAreNot("they are not empty", 0.5, "empty"), whole,
				},
				splitter: "put the question first: what is answered then is what was read",
				next: Flag{
					SGLang:   "--chunked-prefill-size -1",
					VLLM:     "--max-num-batched-tokens above the prompt's length",
					LlamaCpp: "--no-cache-prompt",
				},
			},
			{
				class: "coarse-kv", says: "near misses, as often everywhere or more with distance", reads: []string{
					evidence.Depth, evidence.Distance,
				},
				when:     []clause{fits("coarse-kv", "near misses explain the wrong answers"), whole},
				splitter: "the KV dtype: near misses go with a wider one",
				next:     Flag{SGLang: "--kv-cache-dtype auto", VLLM: "--kv-cache-dtype auto", LlamaCpp: "-ctk f16 -ctv f16"},
				covers:   []string{"ladder", "ladder-shared", "warm", "turns", "evict"},
			},
			{
				class: "sparse-selection", says: "far text is chosen, not read: what resembles the question is found, and copies " +
					"win the lottery", reads: []string{
					evidence.Cue, evidence.Repeats,
				},
				when: []clause{
					fits("sparse-selection", "asked in the needle's own words it is found, in others not, and copies are found"),
					whole,
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
					fits("position-encoding", "recall falls with the distance from the end, as a slope and without an edge"), whole,
				},
				splitter: "the whole length moved with the distance held: this fault follows the distance, a selection the length",
				next: Flag{
					SGLang:   "rope_scaling by --json-model-override-args",
					VLLM:     "rope_scaling by --hf-overrides",
					LlamaCpp: "--rope-scaling yarn with --yarn-orig-ctx",
				},
			},
			{
				class: "tail-only", proven: true,
				says: "nothing is seen but the last tokens", reads: []string{evidence.Depth, evidence.Distance},
				when: []clause{
					fits("tail-only", "what stands farther from the end than some tokens is lost, an edge and no slope"), whole,
				},
				splitter: "eight copies with none in the tail, and the verbatim cue: both are lost here, found where text is " +
					"chosen",
				next: Flag{
					SGLang:   "sliding_window null by --json-model-override-args",
					VLLM:     "--disable-sliding-window",
					LlamaCpp: "--swa-full",
				},
			},
			{
				class: "middle-cut", proven: true,
				says: "a band of long prompts is lost, and prompt_tokens counts it", reads: []string{
					evidence.Depth,
				},
				when: []clause{
					fits("middle-cut", "what stands between head and tail, or in one part of the prompt, is lost"), whole,
				},
				splitter: "another attention backend or number of splits: the band moves",
				next: Flag{
					SGLang:   "another --attention-backend",
					VLLM:     "another VLLM_ATTENTION_BACKEND, then --max-num-batched-tokens above the prompt's length",
					LlamaCpp: "-fa off",
				},
			},
			{
				class: "tail-cut", says: "the head of long prompts is found, what stands behind it is lost", reads: []string{
					evidence.Depth,
				},
				when:     []clause{fits("tail-cut", "what stands behind some tokens from the start is lost"), whole},
				splitter: "another chunk size: where it follows the chunk it is a seam",
				next: Flag{
					SGLang:   "--chunked-prefill-size -1",
					VLLM:     "--max-num-batched-tokens above the prompt's length",
					LlamaCpp: "-b and -ub above the prompt's length",
				},
			},
		},
	}
}
