package probe

import (
	"context"
	"fmt"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/fidelity/internal/ask"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/needle"
)

// rung is one way of asking at once.
type rung struct{ prefix, size, answer string }

func rungs(b Budget) []rung {
	switch b {
	case Smoke:
		return []rung{{"unique", "unequal", "short"}, {"shared", "equal", "short"}}
	case Full:
		var out []rung
		for _, p := range []string{"unique", "shared"} {
			for _, s := range []string{"equal", "unequal"} {
				for _, a := range []string{"short", "long"} {
					out = append(out, rung{p, s, a})
				}
			}
		}
		return out
	}
	return []rung{
		{"unique", "equal", "short"},
		{"unique", "unequal", "short"},
		{"shared", "equal", "short"},
		{"unique", "equal", "long"},
	}
}

const (
	rungTokens = 256 // of an equal prompt; unequal ones have up to three times as many
	rungWords  = 80  // before the code of a long answer
)

// ladder asks for private codes by one client, two, four and, where allowed, up to 64 at once.
func ladder() probe {
	return probe{
		name: evidence.Ladder,
		cost: func(r *Runner) Cost {
			var c Cost
			for _, n := range r.s.clients {
				c = c.plus(asks(n*rounds(r, n)*len(rungs(r.o.Budget)), 2*rungTokens+2*rungWords))
			}
			return c
		},
		run: func(ctx context.Context, t *task) error {
			for _, n := range t.r.s.clients {
				for _, g := range rungs(t.r.o.Budget) {
					if n == 1 && (g.prefix == "shared" || g.size == "unequal") {
						continue // nobody to share with
					}
					var units []unit
					for i := range rounds(t.r, n) {
						units = append(units, t.rungUnit(n, g, i))
					}
					if _, err := t.take(ctx, units...); err != nil {
						return err
					}
				}
			}
			return nil
		},
	}
}

// plenty is how many answers of one rung are enough; two rounds there are always.
const plenty = 96

// rounds gives small rungs as many answers as large ones need to show a rate of one in twelve, and large ones no more
// than is plenty: they are most of a run's requests.
func rounds(r *Runner, clients int) int {
	switch {
	case clients <= 2:
		return 2 * r.s.rounds
	case clients > 4:
		return min((r.s.rounds+1)/2, max(2, (plenty+clients-1)/clients))
	}
	return r.s.rounds
}

func (t *task) rungUnit(n int, g rung, round int) unit {
	arm := fmt.Sprintf("n%d-%s-%s-%s", n, g.prefix, g.size, g.answer)
	u := unit{id: t.id("%s/%d", arm, round), together: true}
	for i := range n {
		u.steps = append(u.steps, step{
			arm:    arm,
			at:     float64(n),
			tokens: 2*rungTokens + 2*rungWords,
			make: func(_ context.Context, s salt) (query, error) {
				return t.r.rungAsk(s, n, i, g), nil
			},
		})
	}
	return u
}

func (r *Runner) rungAsk(s salt, n, i int, g rung) query {
	names := r.names(s, n)
	name, code := names[i%len(names)], s.code(itoa(i))
	var others []string
	for j := range n {
		if j != i {
			others = append(others, s.code(itoa(j)))
		}
	}
	tokens := rungTokens
	if g.size == "unequal" {
		tokens = rungTokens/2 + i%4*rungTokens*3/4
	}
	var text string
	if g.prefix == "shared" {
		text = s.word() + "." + r.sep() + r.filler(s, rungTokens) + r.sep() + needle.Sentence(name, code)
		if g.size == "unequal" {
			text += r.sep() + r.filler(s, tokens, itoa(i))
		}
	} else {
		text = r.private(s, tokens, name, code, itoa(i))
	}
	q := chat(text + r.asked(name))
	if g.answer == "long" {
		q = chat(fmt.Sprintf("%s%sWrite %d words about the sea, then the access code for %s.", text, r.sep(), rungWords,
			name))
		q.MaxTokens = 2 * ask.AnswerTokens
	}
	judge := recall(needle.Truth{Name: name, Code: code, Others: others})
	if g.answer == "long" {
		exact, plain := holds(code), judge
		judge = func(a endpoint.Answer) Verdict {
			if v := plain(a); v.Class == string(needle.OtherCode) {
				return v
			}
			return exact(a)
		}
	}
	return query{chat: q, judge: judge}
}
