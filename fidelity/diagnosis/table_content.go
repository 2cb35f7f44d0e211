package diagnosis

import (
	"strings"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/internal/stat"
)

// answered counts measured answers that some test keeps.
func (r *reading) answered(keep func(a evidence.Answer) bool) []evidence.Answer {
	var out []evidence.Answer
	for _, a := range r.Answers {
		if a.Measured && a.Arm != "" && keep(a) {
			out = append(out, a)
		}
	}
	return out
}

// counts how many of some answers have a sign.
func counts(of []evidence.Answer, sign func(a evidence.Answer) bool) int {
	n := 0
	for _, a := range of {
		if sign(a) {
			n++
		}
	}
	return n
}

func isWrong(a evidence.Answer) bool { return !a.Right }

// company tells whether others were in flight beside an answer.
func inCompany(a evidence.Answer) bool {
	return a.Probe == evidence.Ladder && !strings.HasPrefix(a.Arm, "n1-") ||
		a.Probe == evidence.Aborts && a.Arm == "during" || a.Arm == "meet" || a.Arm == "together"
}

// contentChannel is what the texts of answers prove by themselves.
func contentChannel() channel {
	// A model that does not stop shows tags, or its right answers to short questions run to the cap.
	unstopped := func(r *reading) answer {
		lone := r.answered(func(a evidence.Answer) bool { return askedAlone(a) && a.Tokens <= 2*shortest })
		tags := counts(lone, func(a evidence.Answer) bool { return a.Tag })
		capped := counts(lone, func(a evidence.Answer) bool { return a.Right && a.Finish == "length" })
		a := is(len(lone) >= 8 && (5*tags >= len(lone) || 2*capped >= len(lone)),
			"of %d answers to short questions %d show tags of the chat template, and %d are right and run on to the cap",
			len(lone), tags, capped)
		a.runs = len(lone)
		return a
	}
	doubled := func(r *reading) answer {
		wrong := r.answered(isWrong)
		n := counts(wrong, func(a evidence.Answer) bool { return a.Stutter })
		if placed := r.misplaced(); placed.state == yes { // some prompts only
			placed.state = no
			return placed
		}
		return is(n >= 20 && 3*n >= len(wrong), "%d of %d wrong answers are right but for tokens that come twice", n,
			len(wrong))
	}
	filed := func(r *reading) answer {
		lone := r.answered(func(a evidence.Answer) bool { return askedAlone(a) })
		n := counts(lone, func(a evidence.Answer) bool { return a.Class == "empty" && a.Thoughts > 0 && a.Finish == "stop" })
		return is(n >= 3 && 2*n <= len(lone), "%d of %d lone answers are empty, with their text filed as reasoning", n,
			len(lone))
	}
	logs := func(r *reading) answer {
		found := r.Words[evidence.Logprobs+"/finding"]
		low, err := stat.LowerBound(r.wrongSpots, max(1, r.spots), 0.95)
		if found != "" && (err != nil || low > 0.05) {
			return answer{line: found + "; as are the answers", p: 1}
		}
		// Where tokens are wrong, what is said of them may be right.
		g := r.exacting().join(r.arms("", evidence.Parity, "whole"))
		if g.runs >= 8 && g.rate() < 0.5 {
			return answer{line: found + "; " + g.String(), p: 1}
		}
		return is(found != "", "%s", found)
	}
	// broken off: answers that nothing runs beside end within what was asked for, and say that they are finished.
	short := func(r *reading) answer {
		lone := r.answered(func(a evidence.Answer) bool {
			return !a.Right && (askedAlone(a) && a.Tokens >= trivial || a.Probe == evidence.Sampling ||
				a.Arm == "one-word")
		})
		n := counts(lone, func(a evidence.Answer) bool { return a.Early && !a.Tag })
		return is(n >= 8 && 2*n >= len(lone), "%d of %d wrong answers of requests alone break off within what was asked for",
			n, len(lone))
	}
	// Texts of all scripts are wrong and plain ones of the same length right.
	scripts := func(r *reading) answer {
		text := r.arms("copies of a text in several scripts", evidence.Parity, "whole")
		plain := r.exacting()
		return is(text.runs >= 4 && text.right == 0 && plain.runs >= 12 && plain.rate() >= 0.9 && r.lone().rate() >= 0.95,
			"%s; %s", text.with(), plain.String())
	}
	return channel{
		name: "content", says: "answers prove it by what they hold", reads: []string{evidence.Logprobs},
		symptom: anyOf(unstopped, doubled, filed, short, scripts, logs),
		rules: []rule{
			{
				class: "stop-ignored", says: "the token that ends an answer is not known: answers go on with tags and turns that " +
					"nobody asked for", certain: true, alone: true,
				when: []clause{{"short answers show tags of the template, or are right and run to the cap", unstopped}},
				splitter: "the end tokens of generation_config.json against those of the chat template; a stop string in the " +
					"request",
				next: Flag{
					SGLang:   "--stop-token-ids by the request, and the model's generation_config.json",
					VLLM:     "--generation-config auto with the model's own file",
					LlamaCpp: "--jinja with the model's own --chat-template-file",
				},
				covers: []string{"ladder", "ladder-shared", "tools", "long", "turns", "decode"},
			},
			{
				class: "speculation", says: "tokens are written twice", certain: true, alone: true,
				when:     []clause{{"wrong answers are right but for repeated tokens", doubled}},
				splitter: "speculative decoding off",
				next: Flag{
					SGLang:   "without --speculative-algorithm",
					VLLM:     "without --speculative-config",
					LlamaCpp: "without -md",
				},
				covers: everythingBut("content"), drowns: true,
			},
			{
				class: "cut-answer", says: "some answers end early and say that they are finished, also of requests that run alone",
				certain: true, alone: true, when: []clause{{"wrong answers break off within what was asked for", short}},
				splitter: "completion_tokens against the tokens of the text: the whole answer was made",
				next: Flag{
					SGLang:   "--stream-interval 1, and one tokenizer worker",
					VLLM:     "another front end (--api-server-count 1)",
					LlamaCpp: "ask the server directly, without a proxy",
				},
				covers: everythingBut("content"), drowns: true,
			},
			{
				class: "unicode-lost",
				says: "characters beyond plain letters and digits are lost or changed, in whole answers as " +
					"well as in streams", certain: true, alone: true,
				when:     []clause{{"a text in several scripts cannot be copied, and plain texts can", scripts}},
				splitter: "the ids of such a text by the tokenizer's route, and back",
				next: Flag{
					SGLang:   "another --tokenizer-mode",
					VLLM:     "another --tokenizer-mode",
					LlamaCpp: "a newly converted model: no flag of its own",
				},
				covers: []string{"tools", "stream", "far", "decode"},
			},
			{
				class: "filed-as-reasoning", says: "some answers are filed as reasoning, of requests that are like others",
				certain: true, alone: true,
				when:     []clause{{"some lone answers are empty and their text is in the reasoning", filed}},
				splitter: "the same request twice: now in the content, now in the reasoning",
				next: Flag{
					SGLang:   "without --reasoning-parser",
					VLLM:     "without --reasoning-parser",
					LlamaCpp: "--reasoning-format none",
				},
				covers: everythingBut("content"),
			},
			{
				class: "log-probabilities", proven: true,
				says: "the log-probabilities cannot be those of the answer's tokens", certain: true,
				alone: true, when: []clause{{"log-probabilities contradict themselves or the answer", logs}},
				splitter: "top_logprobs of one greedy answer, streamed and whole",
				next: Flag{
					SGLang:   "--disable-overlap-schedule, and no speculative decoding",
					VLLM:     "--logprobs-mode raw_logprobs",
					LlamaCpp: "another build: no flag of its own",
				},
			},
		},
	}
}

// shareChannel is a constant share of the requests that fails.
func shareChannel() channel {
	return channel{
		name: "share", says: "every n-th request fails, whatever it asks", reads: []string{evidence.Length, evidence.Alone},
		symptom: func(r *reading) answer { return r.misplaced("request-share") },
		rules: []rule{{
			class: "request-share", proven: true,
			says: "every n-th request fails, whatever it asks: one of several slots, ranks or " +
				"replicas, or a counter",
			when:     []clause{fits("request-share", "the requests that fail are every n-th")},
			splitter: "one replica, and one slot, asked directly",
			next: Flag{
				SGLang:   "--dp-size 1, then --max-running-requests 1",
				VLLM:     "-dp 1, then --max-num-seqs 1",
				LlamaCpp: "-np 1",
			},
			covers: everythingBut("share"), drowns: true,
		}},
	}
}
