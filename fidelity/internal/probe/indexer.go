package probe

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/needle"
)

// questionRows is how many of the last rows are kept: the question's, and no more.
const questionRows = 16

// indexer reads SGLang's own selections: does the question's last token choose the needle?
func indexer() probe {
	return probe{
		name: evidence.Indexer,
		cost: func(r *Runner) Cost { return asks(1, 80).plus(asks(r.s.reps, r.s.longest)) },
		skip: func(r *Runner) string {
			if r.o.Survey.State("indexer-topk") != endpoint.Supported {
				return "the server does not return its selections (SGLang: --enable-return-indexer-topk)"
			}
			return ""
		},
		run: indexerRun,
	}
}

func indexerRun(ctx context.Context, t *task) error {
	var l layout
	rss, err := t.take(ctx, one(t.id("units"), step{tokens: 80, make: func(_ context.Context, s salt) (query, error) {
		text := s.word() + ". " + t.r.filler(s, 40)
		return query{once: true, native: func(ctx context.Context, c *endpoint.Client) (Verdict, endpoint.Exchange, error) {
			all, n, x, err := t.selections(ctx, c, text, -1)
			if err != nil {
				return Verdict{}, x, err
			}
			count, err := c.TokenizeText(ctx, text)
			if err != nil || !count.Supported {
				return Verdict{}, x, errors.Join(err, errors.New("the units cannot be proven without a tokenize route"))
			}
			// One token is generated: rows are the prompt's tokens.
			p, err := prove(all, count.Count)
			if err != nil {
				return Verdict{}, x, fmt.Errorf("%d entries: %w", n, err)
			}
			return Verdict{Class: string(endpoint.OK), Right: true, Measured: true, Numbers: map[string]float64{
				"layers": float64(p.layers), "topk": float64(p.topk), "unit": float64(p.unit),
			}}, x, nil
		}}, nil
	}}))
	if err != nil {
		return err
	}
	n := rss[0][0].Numbers
	if l = (layout{int(n["layers"]), int(n["topk"]), int(n["unit"])}); l.layers == 0 {
		return fmt.Errorf("unmeasured: %s", rss[0][0].Error)
	}
	t.number("units", float64(l.unit))
	t.number("layers", float64(l.layers))
	t.number("topk", float64(l.topk))
	var units []unit
	for i := range t.r.s.reps {
		units = append(units, one(t.id("%d", i), t.selected(l)))
	}
	rss, err = t.take(ctx, units...)
	for _, rs := range rss {
		for _, v := range rs {
			for k := range l.layers {
				rows, hits := int(v.Numbers["rows"]), int(v.Numbers["layer-"+itoa(k)])
				for row := range rows {
					class := needle.Exact
					if row >= hits {
						class = needle.Denial
					}
					t.r.set.Count(t.probe, "layer-"+itoa(k), float64(k), string(class), row < hits, true, "")
				}
			}
		}
	}
	return err
}

// selected is a prompt with a needle, and how often each layer selects it from the question.
func (t *task) selected(l layout) step {
	n := t.r.over()
	return step{tokens: n, make: func(ctx context.Context, s salt) (query, error) {
		p, err := t.r.rough.Build(ctx, t.r.spec(s, needle.Spec{Length: n, Depth: 0.3}))
		if err != nil {
			return query{}, err
		}
		at := p.Copies[0].Byte
		end := at + len(needle.Sentence(p.Truth.Name, p.Truth.Code))
		return query{once: true, native: func(ctx context.Context, c *endpoint.Client) (Verdict, endpoint.Exchange, error) {
			var from [2]int
			for i, text := range []string{p.Text[:at], p.Text[:min(end, len(p.Text))]} {
				count, err := c.TokenizeText(ctx, text)
				if err != nil {
					return Verdict{}, endpoint.Exchange{}, err
				}
				from[i] = count.Count
			}
			rows, _, x, err := t.selections(ctx, c, p.Text, questionRows*l.layers*l.topk)
			if err != nil {
				return Verdict{}, x, err
			}
			v := Verdict{Class: string(endpoint.OK), Right: true, Measured: true, Numbers: map[string]float64{}}
			hits, seen := l.member(rows, from[0], from[1])
			v.Numbers["rows"] = float64(seen)
			for k, h := range hits {
				v.Numbers["layer-"+itoa(k)] = float64(h)
			}
			return v, x, nil
		}}, nil
	}}
}

func (t *task) selections(ctx context.Context, c *endpoint.Client, text string, keep int) ([]int32, int,
	endpoint.Exchange, error,
) {
	var out []int32
	total := 0
	x, err := c.PostStream(ctx, "/generate", map[string]any{
		"text": text, "return_indexer_topk": true, "sampling_params": map[string]any{"max_new_tokens": 1, "temperature": 0},
	}, func(r io.Reader) error {
		var err error
		if out, total, err = readSelections(r, keep); err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, r)
		return err
	})
	return out, total, x, err
}
