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
	message := anyOf(dropped("developer"), dropped("late-system"), dropped("tools"), dropped("system"))
	thoughts := anyOf(dropped("reasoning-content"), dropped("reasoning"))
	bos := func(r *reading) answer {
		raw, _ := r.Number(evidence.Accounting, "raw-tokenize")
		return r.number(evidence.Accounting, "tokenize", func(v float64) bool { return (v == 1 || v == -1) && raw == 0 },
			"the chat route counts %+.0f tokens beside its own tokenizer, the text route "+fmt.Sprintf("%+.0f", raw))
	}
	return channel{
		name: "template", says: "prompt_tokens does not add up", reads: []string{evidence.Accounting},
		symptom: anyOf(message, thoughts, bos),
		rules: []rule{
			{
				class: "message-dropped", says: "the template leaves a message or the tools out", certain: true, alone: true,
				when: []clause{
					{"the text of a developer, late system or tool message costs no tokens", message},
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
				class: "reasoning-lost", says: "thoughts of earlier turns are not in the prompt (some templates mean to drop them)",
				certain: true, alone: true, when: []clause{
					{"the same text costs no tokens as earlier thoughts", thoughts},
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
				class: "bos", says: "the chat route begins with one token too many or too few", certain: true, alone: true,
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
