package probe

import (
	"strings"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/needle"
)

// Marks are signs in an answer's text that its class does not tell.
type Marks struct {
	Tag     bool `json:"tag,omitempty"`     // a tag of the chat template is shown
	Stutter bool `json:"stutter,omitempty"` // right but for repeated tokens
	Early   bool `json:"early,omitempty"`   // breaks off within the code, and says that it is finished
}

// tags are what chat templates wrap turns in; no answer shows one.
var tags = []string{
	"<|im_start|>", "<|im_end|>", "<|eot_id|>", "<|start_header_id|>", "<|end_header_id|>", "<|endoftext|>", "<|user|>",
	"<|assistant|>", "<|end|>", "<start_of_turn>", "<end_of_turn>", "<｜User｜>", "<｜Assistant｜>",
	"<｜end▁of▁sentence｜>", "<|eom_id|>", "<|return|>",
}

// marked looks for the signs in an answer; want is the code that was asked for, empty where there is none.
func marked(a endpoint.Answer, want string) Marks {
	var m Marks
	for _, t := range tags {
		m.Tag = m.Tag || strings.Contains(a.Content, t) || strings.Contains(a.Text, t)
	}
	if want == "" {
		return m
	}
	text := needle.Visible(a.Text)
	if strings.Contains(text, want) {
		return m
	}
	once := squeeze(text)
	m.Stutter = once != text && strings.Contains(once, squeeze(want))
	if end := strings.TrimRight(text, " \n*`."); a.Finish == "stop" && end != "" {
		for n := len(want) - 1; n >= 1; n-- {
			if strings.HasSuffix(end, want[:n]) && (len(end) == n || end[len(end)-n-1] == ' ' || end[len(end)-n-1] == '*') {
				m.Early = true
				break
			}
		}
	}
	return m
}

// squeeze writes each run of an equal character once.
func squeeze(s string) string {
	var b strings.Builder
	var last rune
	for _, r := range s {
		if r != last {
			b.WriteRune(r)
		}
		last = r
	}
	return b.String()
}

// anEpoch is more requests than a run sends: those of a resumed run stand in no order with those before.
const anEpoch = 1 << 24

func (v Record) order() int {
	if v.Order == 0 {
		return 0
	}
	return v.Epoch*anEpoch + v.Order
}

// note keeps an answer with what may explain it.
func (t *task) note(st step, v Record) {
	a := evidence.Answer{
		Probe: t.probe, Arm: v.Arm, Class: v.Class, Right: v.Right, Measured: v.Measured, Tokens: v.Prompt,
		Before: int(v.Numbers["before"]), FromEnd: int(v.Numbers["from-end"]), Completion: v.Completion, Finish: v.Finish,
		Thoughts: v.Thoughts, Cached: v.Cached, Order: v.order(), Conn: v.Conn, Tag: v.Tag, Stutter: v.Stutter,
		Early: v.Early,
	}
	if a.Tokens <= 0 {
		a.Tokens = st.tokens
		if n := int(v.Numbers["built"]); n > 0 {
			a.Tokens = n
		}
	}
	t.r.set.Answers = append(t.r.set.Answers, a)
}
