package probe

import (
	"context"

	"github.com/assay-suite/assay/fidelity/evidence"
)

// sessions asks the same kind of things on fresh connections: routers keep a connection on one replica. Eighteen of
// them miss one bad replica of four in 0.6 % of runs.
func sessions() probe {
	n := func(r *Runner) int { return map[Budget]int{Standard: 18, Full: 32}[r.o.Budget] }
	return probe{
		name: evidence.Sessions,
		cost: func(r *Runner) Cost { return asks(4*n(r), 400) },
		skip: func(r *Runner) string {
			if r.o.Fresh == nil {
				return "no fresh connections are to be had"
			}
			return notIn(Smoke)(r)
		},
		run: func(ctx context.Context, t *task) error {
			var units []unit
			for k := range n(t.r) {
				units = append(units, t.sessionUnit(k))
			}
			rss, err := t.take(ctx, units...)
			good, bad, mixed := 0, 0, 0
			for _, rs := range rss {
				switch share, runs := rate([][]Record{rs}); {
				case runs == 0:
				case share >= 0.75:
					good++
				case share <= 0.25:
					bad++
				default:
					mixed++
				}
			}
			switch {
			case good > 0 && bad > 0 || bad == 0 && good > 0 && mixed > 1:
				t.number("groups", 2)
			case good+bad+mixed > 0:
				t.number("groups", 1)
			}
			return err
		},
	}
}

func (t *task) sessionUnit(k int) unit {
	r := t.r
	arm := "session-" + itoa(k)
	u := unit{id: t.id("%d", k)}
	c, cerr := r.o.Fresh()
	add := func(tokens int, m func(s salt) query) {
		u.steps = append(u.steps, step{
			arm:    arm,
			at:     float64(k),
			tokens: tokens,
			make: func(_ context.Context, s salt) (query, error) {
				if cerr != nil {
					return query{}, cerr
				}
				q := m(s)
				q.client = c
				return q, nil
			},
		})
	}
	// Needles at the front of prompts of some hundred tokens: what a replica loses, it loses there. The first words are
	// new to each session, the last question comes back to its first prompt.
	for i := range 4 {
		add(500, func(s salt) query {
			name, code := r.names(s, 4)[i], s.code(itoa(i))
			return query{
				chat: chat(s.word(itoa(i)) + ". " + sentence(name, code) + r.sep() + r.filler(s, r.under(480), itoa(i)) +
					r.asked(name)),
				judge: recall(truth(name, code)),
			}
		})
	}
	return u
}
