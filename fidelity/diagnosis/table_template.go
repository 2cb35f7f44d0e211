package diagnosis

import (
	"fmt"

	"github.com/assay-suite/assay/fidelity/evidence"
)

// dropped asks whether a text added in one place costs less than half of what it costs in a user message.
func dropped(name string) func(r *reading) answer {
	return func(r *reading) answer {
		text, ok := r.Number(evidence.Accounting, "text")
		if !ok || text <= 0 {
			return answer{line: "prompt_tokens were not reported", p: 1}
		}
		return r.number(evidence.Accounting, name, below(text/2),
			fmt.Sprintf("a text of %.0f tokens costs %%.0f as %s", text, name))
	}
}

// anyOf is yes when one is, no when all are.
func anyOf(fs ...func(r *reading) answer) func(r *reading) answer {
	return func(r *reading) answer {
		out := answer{state: no, p: 1}
		for _, f := range fs {
			switch a := f(r); {
			case a.state == yes:
				return a
			case a.state == unknown:
				out = a
			case out.line == "":
				out.line = a.line
			}
		}
		return out
	}
}

// templateChannel is what the chat template does to a request, by counts of tokens.
func templateChannel() channel {
	sliced := func(r *reading) answer {
		at, _ := r.Number(evidence.Flat, "chat-share-at")
		return r.number(evidence.Flat, "chat-share", below(0.75),
			fmt.Sprintf("a chat of %.0f turns takes %%.2f of the tokens of the same facts in one message", at))
	}
	result := func(r *reading) answer {
		a := dropped("tool-result")(r)
		if t := dropped("tools")(r); a.state == yes && t.state != no {
			a.state = no // a template without tools
		}
		return a
	}
	message := anyOf(dropped("developer"), dropped("late-system"), dropped("system"), result)
	history := anyOf(dropped("first-user"), sliced)
	// Thoughts that cost nothing under either name are dropped on purpose: R1's and Qwen3's templates do, and those of
	// models that do not reason. A tag without its text, or one name that is known beside one that is not, is no design.
	kept := func(r *reading, name string) (cost, text float64, ok bool) {
		text, _ = r.Number(evidence.Accounting, "text")
		cost, ok = r.Number(evidence.Accounting, name)
		return cost, text, ok && text > 0
	}
	thoughts := func(r *reading) answer {
		a, text, ok := kept(r, "reasoning-content")
		b, _, ok2 := kept(r, "reasoning")
		if !ok || !ok2 {
			return answer{line: "thoughts of earlier turns were not counted", p: 1}
		}
		return is(min(a, b) < text/2 && max(a, b) >= 1,
			"a text of %.0f tokens costs %.0f as reasoning_content and %.0f as reasoning", text, a, b)
	}
	byDesign := func(r *reading) answer {
		a, text, ok := kept(r, "reasoning-content")
		b, _, ok2 := kept(r, "reasoning")
		return is(ok && ok2 && a < 1 && b < 1, "a text of %.0f tokens costs nothing as earlier thoughts", text)
	}
	noTools := func(r *reading) answer {
		cost, ok := r.Number(evidence.Accounting, "tools")
		return is(ok && cost < 1, "a tool costs %.0f tokens", cost)
	}
	bos := func(r *reading) answer {
		raw, _ := r.Number(evidence.Accounting, "raw-tokenize")
		if v, _ := r.Number(evidence.Accounting, "head-twice"); v == 1 {
			return is(true, "the ids of a chat begin with one id twice")
		}
		return r.number(evidence.Accounting, "tokenize", func(v float64) bool { return (v == 1 || v == -1) && raw == 0 },
			"the chat route counts %+.0f tokens beside its own tokenizer, the text route "+fmt.Sprintf("%+.0f", raw))
	}
	return channel{
		name: "template", says: "prompt_tokens does not add up", reads: []string{evidence.Accounting},
		symptom: anyOf(history, message, thoughts, bos, byDesign, noTools),
		rules: []rule{
			{
				class: "message-dropped", proven: true,
				says: "the template leaves earlier turns of a chat out", certain: true,
				reads: []string{evidence.Flat},
				when: []clause{
					{"the first message costs no tokens, or a long chat fewer than its texts in one message", history},
				},
				splitter: "prompt_tokens of a chat as it grows",
				next: Flag{
					SGLang:   "another --chat-template",
					VLLM:     "another --chat-template",
					LlamaCpp: "--jinja with the model's own --chat-template-file",
				},
				covers: []string{"message", "turns", "long"}, alone: true,
			},
			{
				class: "message-dropped", proven: true,
				says: "the template leaves a message or the tools out", certain: true, alone: true,
				when: []clause{
					{
						"the text of a system, developer or tool message costs no tokens", message,
					},
				},
				splitter: "prompt_tokens with and without that message",
				next: Flag{
					SGLang:   "another --chat-template",
					VLLM:     "another --chat-template",
					LlamaCpp: "--jinja with the model's own --chat-template-file",
				},
				covers: []string{"message"},
			},
			{
				class: "reasoning-lost", proven: true,
				says:    "thoughts of earlier turns are not in the prompt, and tags or another name of them are",
				certain: true, alone: true, when: []clause{
					{"earlier thoughts leave an empty tag, or count under one name only", thoughts},
				},
				splitter: "the other field name of the thoughts, and the template's own rule for them",
				next: Flag{
					SGLang:   "--reasoning-parser of the model",
					VLLM:     "--reasoning-parser of the model, and the field reasoning",
					LlamaCpp: "--reasoning-format deepseek",
				},
				covers: []string{"message"},
			},
			{
				class:   "thoughts-dropped",
				says:    "thoughts of earlier turns are not in the prompt, as some templates mean it: no fault",
				certain: true, alone: true, note: true, when: []clause{
					{"earlier thoughts cost no tokens under either name", byDesign},
				},
				splitter: "the template's own rule for earlier thoughts",
				next: Flag{
					SGLang:   "another --chat-template",
					VLLM:     "another --chat-template",
					LlamaCpp: "--jinja with the model's own --chat-template-file",
				},
			},
			{
				class: "tools-ignored", says: "the template has no tools: those that are sent are not in the prompt; no fault " +
					"unless the model's own template has them",
				certain: true, alone: true, note: true, when: []clause{
					{"a tool costs no tokens", noTools},
				},
				splitter: "the model's own chat template, whether it renders tools",
				next: Flag{
					SGLang:   "another --chat-template, and --tool-call-parser",
					VLLM:     "another --chat-template, and --enable-auto-tool-choice",
					LlamaCpp: "--jinja with the model's own --chat-template-file",
				},
				covers: []string{"tools"},
			},
			{
				class: "bos", proven: true,
				says: "the chat route begins with one token too many or too few", certain: true, alone: true,
				when: []clause{
					{"chat counts one token more or less than the tokenizer, raw text none", bos},
				},
				splitter: "the raw completions route: right",
				next: Flag{
					SGLang:   "another --chat-template",
					VLLM:     "another --chat-template",
					LlamaCpp: "--override-kv tokenizer.ggml.add_bos_token=bool:false",
				},
			},
		},
	}
}

// turnsChannel is chats that lose what one message keeps.
func turnsChannel() channel {
	good := func(r *reading) group {
		g := r.arms("closed thoughts, and the same in one message", evidence.Turns, "closed-think")
		r.take(&g, evidence.Flat, "flat")
		return g
	}
	open := func(r *reading) answer {
		a := worse(r.arms("closed thoughts", evidence.Turns, "closed-think", "late-system", "plain"),
			r.arms("thoughts left open or cut", evidence.Turns, "open-think", "cut-think"))
		return a
	}
	grow := func(r *reading) answer { return worse(good(r), r.arms("growing chats", evidence.Turns, "plain")) }
	return channel{
		name: "turns", says: "chats lose what one message keeps", reads: []string{evidence.Turns, evidence.Flat},
		symptom: anyOf(open, grow),
		rules: []rule{
			{
				class: "open-thought", says: "an earlier thought that is not closed hides the turns around it", when: []clause{
					{"chats with an open or cut thought lose facts, with a closed one they keep them", open},
				},
				splitter: "the same chat with the tag closed: right",
				next: Flag{
					SGLang:   "--reasoning-parser of the model, so that thoughts are split off",
					VLLM:     "--reasoning-parser of the model, so that thoughts are split off",
					LlamaCpp: "--reasoning-format deepseek",
				}, alone: true,
			},
			{
				class: "warm-forgets", says: "the reused part of a chat is not seen", when: []clause{
					{"growing chats lose what one message keeps", grow},
					{"repeats with a proven hit are wrong", func(r *reading) answer { return worse(r.cold(), r.warm()) }},
				},
				splitter: "the first character changed: right again",
				next: Flag{
					SGLang:   "--disable-radix-cache",
					VLLM:     "--no-enable-prefix-caching",
					LlamaCpp: "cache_prompt false in the request",
				},
			},
		},
	}
}
