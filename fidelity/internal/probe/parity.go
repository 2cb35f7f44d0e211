package probe

import (
	"context"
	"fmt"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/internal/endpoint"
)

// motley is a text of one to four bytes a character, quotes and digits: what streams cut in the wrong place.
const motley = "naïve Ärger über 数据 “quoted” – 3,141 € in Łódź; смотри 🙂 twice, {\"a\": " +
	"\"b\\n\"} and an end."

// parity asks for copies of one text, streamed and whole.
func parity() probe {
	reps := func(r *Runner) int { return min(4, max(2, r.s.reps)) }
	return probe{
		name: evidence.Parity,
		cost: func(r *Runner) Cost { return asks(2*reps(r), 250) },
		run: func(ctx context.Context, t *task) error {
			var units []unit
			for i := range reps(t.r) {
				u := unit{id: t.id("%d", i)}
				for _, arm := range []string{"whole", "stream"} {
					u.steps = append(u.steps, step{arm: arm, tokens: 250, make: func(_ context.Context, s salt) (query, error) {
						return copyAsk(s, arm == "stream"), nil
					}})
				}
				units = append(units, u)
			}
			rss, err := t.take(ctx, units...)
			differing, replaced := 0, 0.0
			for _, rs := range rss {
				if len(rs) != 2 {
					continue
				}
				if rs[0].Measured && rs[1].Measured && rs[0].Hash != rs[1].Hash {
					differing++
				}
				replaced += rs[0].Numbers["replaced"] + rs[1].Numbers["replaced"]
			}
			t.number("differing", float64(differing))
			t.number("replacement-characters", replaced)
			return err
		},
	}
}

// copyAsk begins with a word of its own for either arm: the second of two equal prompts would come from the cache.
func copyAsk(s salt, stream bool) query {
	text := s.word() + " " + motley + " " + s.code()
	q := chat("Copy the following text exactly:\n" + text)
	// The instruction would be a common beginning of all runs: a word of the run comes first.
	first := endpoint.Message{Role: "system", Content: s.word("system", fmt.Sprint(stream)) + "."}
	q.Messages = append([]endpoint.Message{first}, q.Messages...)
	q.Stream = stream
	judge := holds(text)
	return query{chat: q, judge: func(a endpoint.Answer) Verdict {
		v := judge(a)
		v.Numbers = map[string]float64{}
		if _, ok := a.Noted(endpoint.NoteReplaced); ok {
			v.Numbers["replaced"] = 1
		}
		return v
	}}
}
