package probe

import (
	"context"

	"github.com/assay-suite/assay/fidelity/evidence"
)

// flood is what pushes a prefix out of the pool: a quarter more than the pool, or what a small pool holds.
func flood(r *Runner) int {
	if r.o.Known.Pool > 0 {
		return r.o.Known.Pool * 5 / 4
	}
	return map[Budget]int{Smoke: 32768, Standard: 131072, Full: 524288}[r.o.Budget]
}

// floodTokens is one prompt of the flood.
const floodTokens = 2048

// evictReturn asks for a sentinel, floods the KV pool, and comes back to it twice.
func evictReturn() probe {
	reps := func(r *Runner) int { return max(2, r.s.reps/2) }
	return probe{
		name: evidence.Evict,
		cost: func(r *Runner) Cost {
			return asks(3, 1024).plus(asks(flood(r)/floodTokens+1, floodTokens)).times(reps(r))
		},
		run: func(ctx context.Context, t *task) error {
			t.number("flood-tokens", float64(flood(t.r)))
			var returned, again float64
			for i := range reps(t.r) { // one flood at a time
				rss, err := t.take(ctx, t.evictUnit(i))
				if err != nil {
					return err
				}
				rs := rss[0]
				returned = max(returned, float64(rs[len(rs)-2].Cached))
				again = max(again, float64(rs[len(rs)-1].Cached))
			}
			t.number("returned-cached", returned)
			t.number("again-cached", again)
			return nil
		},
	}
}

func (t *task) evictUnit(i int) unit {
	r := t.r
	n := r.under(1024)
	u := unit{id: t.id("%d", i)}
	sentinel := func(arm string) {
		u.steps = append(u.steps, step{arm: arm, tokens: n, make: func(_ context.Context, s salt) (query, error) {
			name, code := r.names(s, 1)[0], s.code()
			return query{chat: chat(r.private(s, n, name, code) + r.asked(name)), judge: recall(truth(name, code))}, nil
		}})
	}
	sentinel("first")
	for k := range flood(r)/floodTokens + 1 {
		u.steps = append(u.steps, step{tokens: floodTokens, make: func(_ context.Context, s salt) (query, error) {
			name, code := r.names(s, 2)[1], s.code(itoa(k))
			q := chat(r.private(s, floodTokens, name, code, "flood", itoa(k)) + r.asked(name))
			q.MaxTokens = 8
			return query{chat: q, once: true}, nil
		}})
	}
	sentinel("returned")
	sentinel("again")
	return u
}
