package probe

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/internal/endpoint"
)

// cutAfter is how many events of a stream are read before it is left.
const cutAfter = 20

// errLeft ends the reading of a stream on purpose.
var errLeft = errors.New("the stream was left on purpose")

// aborts leaves streams in their middle and asks beside and after them.
func aborts() probe {
	reps := func(r *Runner) int { return max(4, r.s.reps) }
	return probe{
		name: evidence.Aborts,
		cost: func(r *Runner) Cost { return asks(8*reps(r), 400) },
		run: func(ctx context.Context, t *task) error {
			var before, rest []unit
			for i := range reps(t.r) {
				before = append(before, unit{id: t.id("before/%d", i), steps: []step{t.survivor("before")}})
				rest = append(rest,
					unit{
						id:       t.id("during/%d", i),
						together: true,
						steps:    []step{t.leaver(0), t.leaver(1), t.survivor("during"), t.survivorOf("during", "b")},
					},
					unit{id: t.id("after/%d", i), steps: []step{t.leaver(0), t.survivor("after"), t.survivorOf("after", "b")}})
			}
			if _, err := t.take(ctx, before...); err != nil {
				return err
			}
			for _, u := range rest { // each alone: who is beside whom is the question
				if _, err := t.take(ctx, u); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func (t *task) survivor(arm string) step { return t.survivorOf(arm, "a") }

func (t *task) survivorOf(arm, which string) step {
	return step{arm: arm, tokens: 250, make: func(_ context.Context, s salt) (query, error) {
		name, code := t.r.names(s, 1)[0], s.code(which)
		return query{chat: chat(t.r.private(s, 200, name, code, which) + t.r.asked(name)), judge: recall(truth(name, code))},
			nil
	}}
}

// leaver is a stream that is cut.
func (t *task) leaver(i int) step {
	return step{tokens: 400, make: func(_ context.Context, s salt) (query, error) {
		body := t.exact(s.word("leave", itoa(i))+". Write 300 words about the sea.", 400, map[string]any{
			"temperature": 0, "stream": true,
		})
		return query{once: true, leave: body}, nil
	}}
}

// leaveStream sends a request and leaves its stream after some events.
func leaveStream(ctx context.Context, c *endpoint.Client, body map[string]any) (endpoint.Answer, error) {
	x, err := c.PostStream(ctx, "/v1/chat/completions", body, func(r io.Reader) error {
		buf, events := make([]byte, 4096), 0
		for {
			n, err := r.Read(buf)
			if events += bytes.Count(buf[:n], []byte("data:")); events >= cutAfter {
				return errLeft
			}
			if err != nil {
				if errors.Is(err, io.EOF) {
					return nil
				}
				return err
			}
		}
	})
	if errors.Is(err, errLeft) {
		err = nil
	}
	return endpoint.Answer{Exchange: x}, err
}
