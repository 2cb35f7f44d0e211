package probe

import (
	"context"
	"fmt"
	"strings"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/fidelity/internal/ask"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/needle"
)

// tooDear is a window whose filling is left to the budget full.
const tooDear = 131072

// overLimit fills the window, just not and just too full: a sound server refuses, others cut without a word.
func overLimit() probe {
	return probe{
		name: evidence.OverLimit,
		cost: func(r *Runner) Cost {
			w := r.o.Survey.Window.N
			return asks(3, w).plus(asks(3, w)).plus(asks(3, 2*w)).plus(asks(3, w*2/5))
		},
		skip: func(r *Runner) string {
			switch w := r.o.Survey.Window; {
			case !w.Known:
				return "the server does not tell its window"
			case r.o.Budget == Smoke:
				return "not in budget smoke"
			case w.N > tooDear && r.o.Budget != Full:
				return fmt.Sprintf("a window of %d tokens is filled in budget full only", w.N)
			case r.o.Haystack.Units() < w.N:
				return fmt.Sprintf("the text of %d words is too short for the window of %d tokens: take the generated one",
					r.o.Haystack.Units(), w.N)
			}
			return ""
		},
		run: func(ctx context.Context, t *task) error {
			w := t.r.o.Survey.Window.N
			for _, size := range []struct {
				name   string
				tokens int
			}{{"under", w - 64 - ask.AnswerTokens}, {"over", w + 64}, {"twice", 2 * w}} {
				if t.r.o.Haystack.Units() < size.tokens {
					t.say(size.name, "left out: the text is too short")
					continue
				}
				if err := t.limit(ctx, size.name, size.tokens); err != nil {
					return err
				}
			}
			return t.share(ctx, w*2/5)
		},
	}
}

// share asks three prompts of two fifths of the window at once: each fits, and all together do where each has a window
// of its own.
func (t *task) share(ctx context.Context, tokens int) error {
	u := unit{id: t.id("together"), together: true}
	for i := range 3 {
		u.steps = append(u.steps, step{
			arm:    "together",
			at:     float64(tokens),
			tokens: tokens,
			make: func(ctx context.Context, s salt) (query, error) {
				n := t.r.spec(s, needle.Spec{Case: s.id + itoa(i), Length: tokens, Depth: 0.5})
				p, err := t.r.rough.Build(ctx, n)
				if err != nil {
					return query{}, err
				}
				return needleAsk(p, nil), nil
			},
		})
	}
	_, err := t.take(ctx, u)
	return err
}

func (t *task) limit(ctx context.Context, size string, tokens int) error {
	reported, said := -1, map[string]bool{}
	for _, part := range []struct {
		name  string
		depth float64
	}{{"head", 0.02}, {"middle", 0.5}, {"tail", 0.99}} {
		rss, err := t.take(ctx, one(t.id("%s-%s", size, part.name), t.limitStep(size, part.name, tokens, part.depth)))
		if err != nil {
			return err
		}
		v := rss[0][0]
		reported = max(reported, v.Prompt)
		switch {
		case v.Class == string(endpoint.TooLong):
			said["refused"] = true
		case v.Error != "":
			said["error"] = true
		case v.Text == "":
			said["empty"] = true
		default:
			said["answered"] = true
		}
		if said["refused"] && tokens > t.r.o.Survey.Window.N {
			break // sound, and the other parts would be refused as well
		}
	}
	var words []string
	for _, w := range []string{"answered", "refused", "empty", "error"} {
		if said[w] {
			words = append(words, w)
		}
	}
	t.say(size, strings.Join(words, ", "))
	if reported >= 0 {
		t.number(size+"-reported", float64(reported))
	}
	return nil
}

// limitStep is exact where the server counts tokens; else the size under the window keeps a twentieth of it free.
func (t *task) limitStep(size, part string, tokens int, depth float64) step {
	r := t.r
	return step{
		arm:    size + "-" + part,
		at:     float64(tokens),
		tokens: tokens,
		make: func(ctx context.Context, s salt) (query, error) {
			n := r.spec(s, needle.Spec{Length: tokens, Depth: depth})
			var ps []needle.Prompt
			var err error
			switch {
			case size != "twice" && r.counter == "tokenize":
				ps, err = r.rough.BuildExact(ctx, n, tokens)
			default:
				if size == "under" {
					n.Length = tokens * 19 / 20
				}
				ps = make([]needle.Prompt, 1)
				ps[0], err = r.rough.Build(ctx, n)
			}
			if err != nil {
				return query{}, err
			}
			q := needleAsk(ps[0], nil)
			q.once = true // four times the budget would not fit
			return q, nil
		},
	}
}
