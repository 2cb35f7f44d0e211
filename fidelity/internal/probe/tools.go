package probe

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/fidelity/internal/ask"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/needle"
)

// nasty is a value with everything that parsers of arguments trip over.
const nasty = `{"a": "x\"y", "path": "C:\\tmp\\new", "list": [1, {"b": null}], "text": "naïve 数据"}`

// saveTool is a tool with one string.
func saveTool() []any {
	return []any{map[string]any{"type": "function", "function": map[string]any{
		"name": "save", "description": "Saves a value.", "parameters": map[string]any{
			"type": "object", "properties": map[string]any{"value": map[string]any{"type": "string"}},
			"required": []string{"value"},
		},
	}}}
}

// tools has values copied into arguments, streamed and whole, two calls at once, and a call that the cap cuts.
func tools() probe {
	calls := func(r *Runner) int { return map[Budget]int{Standard: 6, Full: 50}[r.o.Budget] }
	return probe{
		name: evidence.Tools,
		skip: notIn(Smoke),
		cost: func(r *Runner) Cost { return asks(2*calls(r)+2*r.s.reps, 300) },
		run: func(ctx context.Context, t *task) error {
			var units []unit
			add := func(arm string, n int) {
				for i := range n {
					units = append(units, one(t.id("%s/%d", arm, i), step{
						arm:    arm,
						tokens: 300,
						make: func(_ context.Context, s salt) (query, error) {
							return toolAsk(s, arm), nil
						},
					}))
				}
			}
			add("copy-whole", calls(t.r))
			add("copy-stream", calls(t.r))
			add("parallel", t.r.s.reps)
			add("cut", t.r.s.reps)
			rss, err := t.take(ctx, units...)
			var asked, came, broken float64
			for _, rs := range rss {
				for _, v := range rs {
					if v.Measured && v.Arm != "cut" {
						asked++
						came += v.Numbers["came"]
						broken += v.Numbers["broken"]
					}
				}
			}
			if asked > 0 {
				t.number("rate", came/asked)
				t.number("schema-errors", broken)
			}
			return err
		},
	}
}

func toolAsk(s salt, arm string) query {
	values := []string{nasty[:len(nasty)-1] + `, "id": "` + s.code() + `"}`}
	text := "Call save with exactly `" + values[0] + "`."
	if arm == "parallel" {
		values = []string{"first " + s.code("1"), "second " + s.code("2")}
		text = "Call save twice: with `" + values[0] + "` and with `" + values[1] + "`."
	}
	q := chat(text)
	q.Messages = append([]endpoint.Message{{Role: "system", Content: s.word() + "."}}, q.Messages...)
	q.Tools = saveTool()
	q.Stream = arm != "copy-whole"
	if arm == "cut" {
		q.MaxTokens = 12
		return query{once: true, chat: q, judge: cutJudge}
	}
	q.MaxTokens = 2 * ask.AnswerTokens
	return query{chat: q, judge: func(a endpoint.Answer) Verdict { return callsJudge(a, values) }}
}

func callsJudge(a endpoint.Answer, want []string) Verdict {
	v := Verdict{Class: string(needle.Exact), Measured: true, Numbers: map[string]float64{}}
	if len(a.ToolCalls) == 0 {
		class := needle.Classify(answerOf(a), needle.Truth{Code: nowhere})
		if v.Class = string(class); class == needle.CutOff {
			v.Measured = false
		}
		return v
	}
	v.Numbers["came"] = 1
	var got []string
	for _, c := range a.ToolCalls {
		var args map[string]any
		value, ok := "", false
		if json.Unmarshal([]byte(c.Arguments), &args) == nil && c.Name == "save" {
			value, ok = args["value"].(string)
		}
		if !ok || len(args) != 1 {
			v.Numbers["broken"] = 1
		}
		got = append(got, value)
	}
	if v.Right = strings.Join(got, "\x00") == strings.Join(want, "\x00"); !v.Right {
		v.Class = string(needle.NearMiss)
	}
	return v
}

// cutJudge wants the cap to be told: a call that cannot be used must not look finished.
func cutJudge(a endpoint.Answer) Verdict {
	broken := false
	for _, c := range a.ToolCalls {
		broken = broken || !c.Valid
	}
	switch {
	case a.Finish == "length":
		return Verdict{Class: string(needle.Exact), Right: true, Measured: true}
	case broken:
		return Verdict{Class: string(endpoint.Cut), Measured: true}
	}
	return Verdict{Class: string(needle.Unmeasured)} // the answer was short enough after all
}
