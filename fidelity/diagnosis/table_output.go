package diagnosis

import (
	"strings"

	"github.com/assay-suite/assay/fidelity/evidence"
)

// alwaysChannel is a server that is wrong from the first short question on.
func alwaysChannel() channel {
	sane := func(r *reading) group { return r.all("short questions, cold, one at a time", evidence.Sanity, nil) }
	broken := func(r *reading) answer {
		g := sane(r)
		if g.runs < 4 {
			return answer{line: g.with(), p: 1}
		}
		if facts := r.lone(); facts.runs >= 16 && facts.rate() > 0.6 {
			return is(false, "%s; %s", g.with(), facts.String())
		}
		return is(g.rate() <= 0.5, "%s", g.with())
	}
	return channel{
		name: "always", says: "short questions are wrong, cold and alone", reads: []string{evidence.Sanity}, symptom: broken,
		rules: []rule{
			{
				class: "dead-logits", proven: true,
				says: "the output does not depend on the input", reads: []string{
					evidence.Logprobs, evidence.Length,
				},
				when: []clause{
					{"every short question is wrong, without language", func(r *reading) answer {
						g := sane(r)
						return is(g.right == 0 && g.share("junk", "cut-off", "empty", "budget") >= 0.75, "%s", g.with())
					}},
					{"every token has the same log-probability", func(r *reading) answer {
						return r.number(evidence.Logprobs, "spread", below(1e-3), "log-probabilities differ by %.3g nats over an answer")
					}},
				},
				splitter: "log-probabilities along one answer: constant here",
				next: Flag{
					SGLang:   "--disable-cuda-graph, then another --quantization or --attention-backend",
					VLLM:     "--enforce-eager, then another --quantization",
					LlamaCpp: "-ngl 0",
				},
				covers: everythingBut("always"), drowns: true,
			},
			{
				class: "generation-prompt", says: "the model's own turn is not begun: it ends at once, or goes on as the user",
				reads: []string{evidence.Accounting},
				when: []clause{
					{"the model's own turn begins with no tokens", func(r *reading) answer {
						return r.number(evidence.Accounting, "answer-head", below(1), "the model's own turn begins with %.0f tokens")
					}},
					{"answers end by themselves, empty or after some words", func(r *reading) answer {
						short, all := 0, 0
						for _, a := range r.Answers {
							if a.Probe != evidence.Sanity || a.Right || !a.Measured || !strings.HasPrefix(a.Arm, "q") {
								continue
							}
							all++
							if a.Finish == "stop" && a.Completion >= 0 && a.Completion <= 12 && a.Class != "junk" {
								short++
							}
						}
						return is(all >= 3 && short == all, "%d of %d wrong answers end by themselves within 12 tokens", short, all)
					}},
				},
				splitter: "add_generation_prompt true in the request; the prompt as the server renders it",
				next: Flag{
					SGLang:   "another --chat-template",
					VLLM:     "another --chat-template, add_generation_prompt true",
					LlamaCpp: "--jinja with the model's own --chat-template-file",
				},
				covers: everythingBut("always"), drowns: true,
			},
			{
				class: "always-broken", says: "wrong at any length, alone and cold",
				when: []clause{
					{"short questions are wrong", broken},
					{"log-probabilities move", func(r *reading) answer {
						return r.number(evidence.Logprobs, "spread", atLeast(1e-3),
							"log-probabilities differ by %.3g nats over an answer")
					}},
				},
				splitter: "the same questions on another backend",
				next:     Flag{SGLang: "another --attention-backend", VLLM: "--enforce-eager", LlamaCpp: "-ngl 0"},
				covers:   everythingBut("always"), drowns: true,
			},
		},
	}
}

// streamChannel is streams that differ from whole answers.
func streamChannel() channel {
	differ := func(r *reading) answer {
		w := r.arms("whole", evidence.Parity, "whole")
		s := r.arms("streamed", evidence.Parity, "stream")
		d, ok := r.Number(evidence.Parity, "differing")
		if !ok || s.runs < 2 {
			return answer{line: "streams were not compared", p: 1}
		}
		repl, _ := r.Number(evidence.Parity, "replacement-characters")
		noise, _ := r.Number(evidence.SelfNoise, "distinct-texts")
		// None is like the whole, of a server that repeats itself.
		apart := d >= 3 && int(d) == s.runs && noise == 1 && w.right == w.runs
		a := is(d >= 2 && s.right == 0 && w.right == w.runs || repl >= 1 && w.right == w.runs && s.right < s.runs || apart,
			"%s; %s; %.0f pairs differ, %.0f with replacement characters", w.String(), s.with(), d, repl)
		if a.state == no && noise > 1 {
			a.line += "; the server differs from itself as well"
		}
		return a
	}
	return channel{
		name: "stream", says: "streamed text is not the whole answer's", reads: []string{evidence.Parity}, symptom: differ,
		rules: []rule{{
			class: "stream-layer", proven: true,
			says:    "deltas are lost or characters are split in the stream; the whole answer is right",
			certain: true,
			when: []clause{
				{"streamed copies are wrong and whole ones right, or all streams differ from the whole answers", differ},
			},
			splitter: "the same request without a stream: right",
			next: Flag{
				SGLang:   "--stream-interval 1",
				VLLM:     "stream_options.include_usage off, then another front end",
				LlamaCpp: "ask the server directly, without a proxy",
			},
			covers: []string{"tools"},
		}},
	}
}

// samplingChannel is what happens to sampling fields.
func samplingChannel() channel {
	ignored := func(r *reading) answer {
		n, ok := r.Number(evidence.Sampling, "distinct-at-1")
		of, _ := r.Number(evidence.Sampling, "asked")
		if !ok || of < 4 {
			return answer{line: "temperature 1 was not asked often enough", p: 1}
		}
		if v, _ := r.Number(evidence.Sampling, "thoughts-default"); v > shortCap/2 {
			return answer{line: "the texts at temperature 1 were all thoughts", p: 1}
		}
		return is(n == 1, "%.0f different texts of %.0f at temperature 1", n, of)
	}
	greedy := func(r *reading) answer {
		n, ok := r.Number(evidence.Sampling, "distinct-omitted")
		one, ok1 := r.Number(evidence.Sampling, "distinct-at-1")
		of, _ := r.Number(evidence.Sampling, "asked")
		if !ok || !ok1 || of < 4 {
			return answer{line: "omitted fields were not asked often enough", p: 1}
		}
		if v, _ := r.Number(evidence.Sampling, "thoughts-default"); v > shortCap/2 {
			return answer{line: "the texts with the fields left out were all thoughts", p: 1}
		}
		return is(n == 1 && one >= of/2, "%.0f different texts of %.0f with the fields left out, %.0f at temperature 1", n,
			of, one)
	}
	penalty := func(r *reading) answer {
		sent := r.arms("codes with repeated digits, every field sent", evidence.Sampling, "explicit")
		left := r.arms("fields left out", evidence.Sampling, "omitted")
		a := worse(sent, left)
		if a.state == unknown && sent.runs >= 4 && sent.right == sent.runs {
			// Such codes are no harder than others: all facts with every field sent can stand beside.
			r.calm().into(&sent)
			sent.what += ", and other facts"
			a = worse(sent, left)
		}
		return a
	}
	return channel{
		name: "sampling", says: "temperature or omitted fields do not do what they should",
		reads: []string{evidence.Sampling},
		symptom: func(r *reading) answer {
			for _, f := range []func(*reading) answer{ignored, greedy, penalty} {
				if a := f(r); a.state == yes {
					return a
				}
			}
			return ignored(r)
		},
		rules: []rule{
			{
				class: "hidden-sampling", says: "left-out fields get other defaults than the protocol's: greedy, or a penalty",
				certain: true, alone: true,
				when: []clause{
					{
						"left-out fields give one text where temperature 1 gives many, or spoil repeated digits",
						func(r *reading) answer {
							if a := greedy(r); a.state == yes {
								return a
							}
							a := penalty(r)
							if a.state != yes && ignored(r).state == yes { // greedy whatever is sent: left out or not cannot be told
								a.state = unknown
							}
							return a
						},
					},
				},
				splitter: "send every field",
				next: Flag{
					SGLang:   "--sampling-defaults openai",
					VLLM:     "--generation-config vllm",
					LlamaCpp: "--temp 1 --top-k 0 --repeat-penalty 1",
				},
			},
			{
				class: "speculation", says: "temperature is ignored", certain: true, beside: []string{"hidden-sampling"},
				when:     []clause{{"all texts at temperature 1 are one", ignored}},
				splitter: "speculative decoding off: the texts differ",
				next: Flag{
					SGLang:   "without --speculative-algorithm",
					VLLM:     "without --speculative-config",
					LlamaCpp: "without -md",
				},
			},
		},
	}
}

// oneWord pools answers of one word.
func (r *reading) oneWord() group {
	g := r.arms("answers of one word", evidence.FirstToken, "one-word")
	r.take(&g, evidence.Sanity, "q0", "q2", "q4")
	return g
}

// decodeChannel is first tokens that are right and later ones that are not.
func decodeChannel() channel {
	late := func(r *reading) answer {
		one := r.oneWord()
		if a := worse(one, r.arms("a code behind many words", evidence.FirstToken, "late")); a.state == yes {
			return a
		}
		few := r.lone()
		if few.runs < 16 {
			return answer{line: few.String(), p: 1}
		}
		one.into(&few)
		few.what = "answers of a few tokens"
		return worse(few, r.exacting())
	}
	// second asks whether the first token is right whatever becomes of facts, which are some tokens long.
	second := func(r *reading) bool {
		one := r.oneWord()
		return one.runs >= 8 && one.right == one.runs
	}
	// spared asks whether short facts are right, so that what comes late is all that is wrong.
	spared := func(r *reading) answer {
		g := r.lone()
		a := is(true, "%s; %s", r.oneWord(), g)
		if g.runs >= 16 && g.rate() < 0.97 && !second(r) {
			a.state = unknown
		}
		return a
	}
	hurt := func(r *reading) answer {
		a := spared(r)
		if a.state == yes {
			a.state = unknown
		} else {
			a.state = yes
		}
		return a
	}
	rescored := func(r *reading) answer {
		if found := r.Words[evidence.Logprobs+"/finding"]; found != "" {
			return answer{line: found, p: 1}
		}
		return r.number(evidence.Logprobs, "prefill-decode-difference", atLeast(rescoreNats),
			"decoded tokens scored again as a prompt differ by up to %.3g nats")
	}
	either := func(r *reading) answer {
		if g := r.lone(); g.runs >= 16 && g.rate() < 0.6 {
			return is(false, "%s: no matter of later tokens", g.String())
		}
		if a := rescored(r); a.state == yes {
			return a
		}
		return late(r)
	}
	return channel{
		name: "decode", says: "the first token is right and later ones are not", reads: []string{
			evidence.FirstToken, evidence.Logprobs,
		}, symptom: either,
		rules: []rule{{
			class: "decode-path", says: "decoding goes wrong on a context that prefill reads right", when: []clause{
				{"one word is right, a code behind many words wrong; or re-scoring disagrees", either},
				{"long lists do not loop instead", func(r *reading) answer {
					n, ok := r.Number(evidence.LongAnswer, "loops")
					g := r.all("", evidence.LongAnswer, nil)
					if !ok {
						return is(true, "long lists were not asked for")
					}
					return is(n < 0.3*float64(max(1, g.runs)), "%.0f of %d long lists loop", n, g.runs)
				}},
				{"no other script and no thoughts are behind it", func(r *reading) answer {
					n, _ := r.Number(evidence.LongAnswer, "foreign-script")
					return is(n < 2, "%.0f long lists with another script", n)
				}},
				{"short facts asked alone are right, or wrong where one word is right", spared},
			},
			splitter: "answers of one word are right here, lost where far text is",
			next: Flag{
				SGLang:   "one server without --disaggregation-mode, then --sampling-backend pytorch",
				VLLM:     "without --kv-transfer-config, then VLLM_USE_FLASHINFER_SAMPLER=0",
				LlamaCpp: "-fa off",
			},
			covers: []string{"tools", "ladder", "ladder-shared", "long", "aborts", "sampling", "age", "turns", "far"},
		}, {
			class: "speculation", says: "tokens are wrong at a rate, in short answers and more in longer ones", when: []clause{
				{"one word is right, a code behind many words wrong; or re-scoring disagrees", either},
				{"of short facts asked alone some are wrong as well", hurt},
			},
			splitter: "speculative decoding off",
			next: Flag{
				SGLang:   "without --speculative-algorithm",
				VLLM:     "without --speculative-config",
				LlamaCpp: "without -md",
			},
			covers: []string{"tools", "ladder", "ladder-shared", "long", "aborts", "sampling", "age", "turns"},
		}},
	}
}

// rescoreNats is twice the smallest drop of a margin that the golden gate acts on, and far above what two orders of
// summing the same products in bf16 give.
const rescoreNats = 0.5
