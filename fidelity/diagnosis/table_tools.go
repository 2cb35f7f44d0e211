package diagnosis

import (
	"fmt"
	"math"

	"github.com/assay-suite/assay/fidelity/evidence"
)

// toolsChannel is tool calls.
func toolsChannel() channel {
	whole := func(r *reading) group { return r.arms("whole calls", evidence.Tools, "copy-whole") }
	stream := func(r *reading) group { return r.arms("streamed calls", evidence.Tools, "copy-stream", "parallel") }
	// Calls come and what they hold is broken, while a copy of like text as an answer and plain arguments are right.
	damaged := func(r *reading) answer {
		w, plain := whole(r), r.arms("plain arguments", evidence.Tools, "parallel")
		text := r.arms("copies of such text as an answer", evidence.Parity, "whole")
		broken, _ := r.Number(evidence.Tools, "schema-errors")
		came, _ := r.Number(evidence.Tools, "rate")
		calls := came * float64(r.all("", evidence.Tools, func(a evidence.Arm) bool { return a.Name != "cut" }).runs)
		return is(w.runs >= 4 && w.rate() <= 0.25 && came >= 0.8 && text.runs >= 2 && text.rate() >= 0.75 &&
			w.share("near-miss") >= 0.8 && (plain.runs >= 2 && plain.rate() >= 0.75 || calls >= 8 && broken >= 0.9*calls),
			"%s; %s; %s; arguments of %.0f calls do not fit the schema", w.with(), plain.String(), text.String(), broken)
	}
	streamed := func(r *reading) answer {
		if w := whole(r); w.runs >= 4 && w.rate() >= 0.9 {
			if a := r.beyondOwn(stream(r), "near-miss"); a.state == yes {
				a.line = w.String() + "; " + a.line
				return a
			}
		}
		return worse(whole(r), stream(r))
	}
	held := func(r *reading) answer {
		if a := damaged(r); a.state == yes {
			return a
		}
		cut := r.arms("calls cut by the cap", evidence.Tools, "cut")
		return is(cut.runs >= 4 && cut.right == 0, "%s: none says that it was cut", cut.with())
	}
	parser := anyOf(held, streamed)
	lost := func(r *reading) answer {
		v, ok := r.Number(evidence.Tools, "rate")
		g := r.arms("calls asked for", evidence.Tools, "copy-whole", "copy-stream", "parallel")
		if !ok || g.runs < 4 {
			return answer{line: "tools were not asked", p: 1}
		}
		a := answer{
			state: no,
			line:  fmt.Sprintf("%.0f %% of the calls came; %s", 100*v, g.with()),
			runs:  g.runs,
			arms:  g.arms,
		}
		// A sound model leaves out one call in ten at most.
		if a.p = binomialTail(int(math.Round((1-v)*float64(g.runs))), g.runs, 0.1); a.p <= alpha {
			a.state = yes
		}
		return a
	}
	return channel{
		name: "tools", says: "tool calls do not come, or come damaged", reads: []string{evidence.Tools},
		symptom: func(r *reading) answer {
			if a := lost(r); a.state == yes {
				return a
			}
			return parser(r)
		},
		rules: []rule{
			{
				class: "tool-parser", proven: true,
				says: "what calls hold is damaged, or a cut call says that it is finished", alone: true,
				when:     []clause{{"calls come, and whole ones are wrong as streamed ones are; or a cut call is not told", held}},
				splitter: "the same text as an answer: right",
				next: Flag{
					SGLang:   "another --tool-call-parser",
					VLLM:     "another --tool-call-parser",
					LlamaCpp: "--jinja with the model's own --chat-template-file",
				},
			},
			{
				class: "tool-parser", says: "streamed calls lose characters",
				when:     []clause{{"streamed calls are wrong and whole ones right", streamed}},
				splitter: "the same calls without a stream: right",
				next: Flag{
					SGLang:   "another --tool-call-parser, and no stream",
					VLLM:     "another --tool-call-parser, and no stream",
					LlamaCpp: "--jinja with the model's own --chat-template-file",
				},
			},
			{
				class: "stream-layer", says: "streams of calls lose their end",
				when:     []clause{{"streamed calls are wrong and whole ones right", streamed}},
				splitter: "the same calls without a stream: right; and streamed text, piece by piece",
				next: Flag{
					SGLang:   "--stream-interval 1",
					VLLM:     "stream_options.include_usage off, then another front end",
					LlamaCpp: "ask the server directly, without a proxy",
				},
			},
			{
				class: "generation-prompt", says: "the template ends without the model's turn: it goes on with the user's text, " +
					"and calls do not come", reads: []string{evidence.Turns},
				when: []clause{
					{"calls do not come", lost},
					{"a turn with empty content is lost as well", func(r *reading) answer {
						return worse(r.arms("chats", evidence.Turns, "plain", "closed-think"),
							r.arms("a turn with empty content", evidence.Turns, "empty-content", "tool-only", "cut-think"))
					}},
				},
				splitter: "an earlier turn with empty content: lost here as well, and prompt_tokens differ",
				next: Flag{
					SGLang:   "another --chat-template",
					VLLM:     "another --chat-template, add_generation_prompt true",
					LlamaCpp: "--jinja with the model's own --chat-template-file",
				},
				covers: []string{"turns", "message"},
			},
			{
				class: "special-token-leak", says: "turn or tool tags end up in the content, then the answer ends",
				reads: []string{evidence.Ladder},
				when: []clause{
					{"calls do not come", lost},
					{"chats without tools are fine", func(r *reading) answer {
						return mostly(r.arms("a turn with empty content", evidence.Turns, "empty-content"), 0.8)
					}},
					{"answers in company are cut as well", func(r *reading) answer { return r.company() }},
					{"tags are shown", func(r *reading) answer {
						n := counts(r.answered(isWrong), func(a evidence.Answer) bool { return a.Tag })
						return is(n >= 2, "%d wrong answers show a tag", n)
					}},
				},
				splitter: "tools alone and company without tools: both are hurt here",
				next: Flag{
					SGLang:   "another --reasoning-parser and --tool-call-parser",
					VLLM:     "another --reasoning-parser and --tool-call-parser",
					LlamaCpp: "--reasoning-format none",
				},
				covers: []string{"ladder", "ladder-shared"},
			},
		},
	}
}
