package probe

import (
	"context"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/needle"
)

// turnTokens is the text that each turn adds.
const turnTokens = 120

func depth(r *Runner) int {
	n := map[Budget]int{Smoke: 4, Standard: 8, Full: 16}[r.o.Budget]
	if r.edge > 0 { // the history must stay short of the edge, or length would be measured
		n = min(n, max(2, r.edge*3/4/(turnTokens+40)))
	}
	return n
}

// histories are the variants of one earlier assistant turn.
var histories = []string{
	"reasoning-content", "reasoning", "open-think", "cut-think", "closed-think", "empty-content", "tool-only",
	"late-system",
}

// turns asks for facts of a growing chat, and of chats with one odd turn.
func turns() probe {
	return probe{
		name: evidence.Turns,
		cost: func(r *Runner) Cost {
			n := depth(r)
			return asks(n, n*(turnTokens+60)/2+200).times(ledgers(r)).plus(asks(len(histories), 5*turnTokens).times(ledgers(r)))
		},
		run: func(ctx context.Context, t *task) error {
			t.number("turns", float64(depth(t.r)))
			var units []unit
			for i := range ledgers(t.r) {
				units = append(units, t.ledgerUnit(i))
			}
			rss, err := t.take(ctx, units...)
			for i, rs := range rss {
				for k, v := range rs {
					t.r.grown[[2]int{i, k + 1}] = v.Prompt
					v.Arm, v.At = "turn-"+itoa(k+1), float64(k+1)
					t.count(v)
				}
			}
			if err != nil {
				return err
			}
			units = nil
			for i := range ledgers(t.r) {
				for _, h := range histories {
					units = append(units, one(t.id("%s/%d", h, i), step{
						arm:    h,
						tokens: 5 * turnTokens,
						make: func(_ context.Context, s salt) (query, error) {
							return t.history(s, h), nil
						},
					}))
				}
			}
			_, err = t.take(ctx, units...)
			return err
		},
	}
}

// ledgers is how many chats grow.
func ledgers(r *Runner) int { return max(2, r.s.reps*3/4) }

// book is the facts of a chat: a name and a code for each turn.
type book struct {
	names, codes []string
	texts        []string
}

func (r *Runner) book(s salt, n int) book {
	b := book{names: r.names(s, n)}
	for i, name := range b.names {
		code := s.code(itoa(i))
		b.codes = append(b.codes, code)
		b.texts = append(b.texts, r.filler(s, turnTokens, itoa(i))+r.sep()+needle.Sentence(name, code))
	}
	return b
}

// asks is which fact is asked for after k turns: the first by every other turn, else one on the way.
func (b book) asks(k int) int {
	if k%2 == 1 {
		return 0
	}
	return k / 2
}

func (b book) judge(i int) func(endpoint.Answer) Verdict {
	var others []string
	for j, c := range b.codes {
		if j != i {
			others = append(others, c)
		}
	}
	return recall(needle.Truth{Name: b.names[i], Code: b.codes[i], Others: others})
}

const noted = "Noted."

// ledgerUnit is one chat that grows by a turn and is asked after each: from the second on its beginning was seen
// before.
func (t *task) ledgerUnit(i int) unit {
	u := unit{id: t.id("plain/%d", i)}
	for k := range depth(t.r) {
		u.steps = append(u.steps, step{
			arm:    "plain",
			tokens: (k+1)*(turnTokens+40) + 60,
			make: func(_ context.Context, s salt) (query, error) {
				b := t.r.book(s, depth(t.r))
				q := chat("")
				q.Messages = []endpoint.Message{{Role: "system", Content: s.word() + ". Keep what you are told."}}
				for _, text := range b.texts[:k+1] {
					q.Messages = append(q.Messages, endpoint.Message{Role: "user", Content: text}, endpoint.Message{
						Role:    "assistant",
						Content: noted,
					})
				}
				j := b.asks(k + 1)
				q.Messages = append(q.Messages, endpoint.Message{Role: "user", Content: t.r.asked(b.names[j])[1:]})
				return query{chat: q, judge: b.judge(j)}, nil
			},
		})
	}
	return u
}

// history is a chat of three turns in which one is odd; the question is about what stands before or in it.
func (t *task) history(s salt, variant string) query {
	b := t.r.book(s, 3)
	q := chat("")
	odd := endpoint.Message{Role: "assistant", Content: noted}
	question, judge := t.r.asked(b.names[0])[1:], b.judge(0)
	code := s.code("odd")
	var after []endpoint.Message
	switch variant {
	case "reasoning-content", "reasoning":
		odd.Reasoning = "Step 2 of my plan is to open drawer " + code + "."
		odd.Field = endpoint.FieldReasoningContent
		if variant == "reasoning" {
			odd.Field = endpoint.FieldReasoning
		}
		question, judge = "What is step 2 of your plan?", holds(code)
	case "open-think":
		odd.Content = "<think>Let me note that"
	case "closed-think":
		odd.Content = "<think>Let me note that</think>" + noted
	case "cut-think":
		odd.Content, odd.Reasoning = "", "Let me note that"
	case "empty-content":
		odd.Content = ""
	case "tool-only":
		odd.Content = ""
		odd.ToolCalls = []endpoint.ToolCall{{ID: "call_1", Name: "reading", Arguments: "{}"}}
		after = []endpoint.Message{
			{Role: "tool", ToolCallID: "call_1", Content: "The reading of sensor Tunis is " + code + "."},
		}
		question, judge = "What is the reading of sensor Tunis? Answer with only the number.", holds(code)
	case "late-system":
		after = []endpoint.Message{{Role: "system", Content: "The number of the vault is " + code + "."}}
		question, judge = "What is the number of the vault? Answer with only the number.", holds(code)
	}
	q.Messages = []endpoint.Message{{Role: "user", Content: s.word() + ". " + b.texts[0]}, odd}
	q.Messages = append(q.Messages, after...)
	if variant == "late-system" || variant == "tool-only" {
		q.Messages = append(q.Messages, endpoint.Message{Role: "user", Content: question})
	} else {
		q.Messages = append(q.Messages, endpoint.Message{Role: "user", Content: b.texts[1]}, endpoint.Message{
			Role:    "assistant",
			Content: noted,
		}, endpoint.Message{Role: "user", Content: question})
	}
	return query{chat: q, judge: judge}
}
