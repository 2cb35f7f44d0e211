package probe

import (
	"strings"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/fidelity/internal/totals"
)

// formOf says what the totals make of an arm: how it was asked and for what. Ok is false where a sound model may be
// wrong or need not be asked: prompts beyond the window, chats whose facts a template may drop, kinds of needles that
// ask for more than a copy.
func formOf(probe, arm string, tokens int) (f totals.Form, task string, ok bool) {
	const needles = "needle"
	switch probe {
	case evidence.Sanity, evidence.Soak:
		return totals.Alone(tokens), "fact", true
	case evidence.SelfNoise, evidence.Alone, evidence.Sessions, evidence.Aborts:
		return totals.Alone(tokens), needles, arm != "during"
	case evidence.Length, evidence.Depth, evidence.Distance, evidence.Shift:
		return totals.Alone(tokens), needles, true
	case evidence.Cue:
		return totals.Alone(tokens), needles, strings.TrimPrefix(arm, "short-") == "verbatim"
	case evidence.OverLimit:
		return totals.Long, needles, strings.HasPrefix(arm, "under-")
	case evidence.Parity:
		if arm == "stream" {
			return totals.Streamed, "copy", true
		}
		return totals.Cold, "copy", true
	case evidence.Warm, evidence.Evict:
		switch arm {
		case "cold", "cold-long", "first-changed", "first":
			return totals.Cold, needles, true
		case "extended":
			return totals.Turns, needles, true
		}
		return totals.Warm, needles, true
	case evidence.Fork:
		if arm == "a1" {
			return totals.Cold, needles, true
		}
		if arm == "meet" {
			return totals.Concurrent, needles, true
		}
		return totals.Warm, needles, !strings.HasPrefix(arm, "image")
	case evidence.Ladder:
		if strings.HasPrefix(arm, "n1-") {
			return totals.Alone(tokens), arm[strings.LastIndexByte(arm, '-')+1:], true
		}
		return totals.Concurrent, arm[strings.LastIndexByte(arm, '-')+1:], true
	case evidence.Tools:
		return totals.Tools, probe, true
	case evidence.Turns, evidence.Flat:
		return totals.Turns, probe, arm == "plain" || strings.HasPrefix(arm, "flat")
	case evidence.LongAnswer, evidence.FirstToken, evidence.Sampling:
		return totals.Other, probe, true
	}
	return totals.Other, probe, false
}

// tally adds the answers of a unit to the totals.
func (t *task) tally(u unit, rs []Record) {
	for i, v := range rs {
		if v.Logs != nil {
			t.r.logs = t.r.logs.Plus(*v.Logs)
		}
		t.note(u.steps[i], v)
		tokens := u.steps[i].tokens
		if n, ok := v.Numbers["built"]; ok {
			tokens = int(n)
		}
		f, task, ok := formOf(t.probe, v.Arm, tokens)
		if v.Arm == "" || !ok {
			continue
		}
		a := totals.Answer{
			Form: f, Task: task, Tokens: tokens, Distance: 1 - u.steps[i].depth, Measured: v.Measured,
			Wrong: !v.Right, Conn: v.Conn, Reported: v.Prompt,
		}
		a.Order = v.order()
		t.r.answers = append(t.r.answers, a)
	}
}

// Logprobs says what is wrong with the log-probabilities of the run's answers; empty where nothing is.
func (r *Runner) Logprobs() string { return r.logs.Finding() }

// Answers are all answers of the run that the totals judge, after Run.
func (r *Runner) Answers() []totals.Answer { return r.answers }
