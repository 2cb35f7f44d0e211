package probe

import (
	"bytes"
	"context"
	"encoding/base64"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"strings"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/fidelity/internal/ask"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/needle"
)

// fork asks two questions by turns behind one long prefix, then shows two pictures behind one text.
func fork() probe {
	return probe{
		name: evidence.Fork,
		cost: func(r *Runner) Cost { return asks(4*r.s.reps, 1024).plus(asks(4, 300)) },
		run: func(ctx context.Context, t *task) error {
			var units []unit
			for i := range t.r.s.reps {
				units = append(units, t.forkUnit(i))
			}
			rss, err := t.take(ctx, units...)
			replays := 0
			for _, rs := range rss {
				for i, v := range rs {
					if i%2 == 1 && len(rs) == 4 && v.Measured && !v.Right &&
						(v.Class == string(needle.OtherCode) || v.Hash == rs[i-1].Hash) {
						replays++
					}
				}
			}
			t.number("replays", float64(replays))
			if err != nil || t.r.o.Budget == Smoke {
				return err
			}
			_, err = t.take(ctx, t.pictures(0), t.pictures(1))
			return err
		},
	}
}

func (t *task) forkUnit(i int) unit {
	r := t.r
	n := r.under(1024)
	u := unit{id: t.id("%d", i)}
	for k, arm := range []string{"a1", "b1", "a2", "b2"} {
		u.steps = append(u.steps, step{arm: arm, tokens: n, make: func(_ context.Context, s salt) (query, error) {
			names := r.names(s, 2)
			codes := []string{s.code("a"), s.code("b")}
			var b strings.Builder
			b.WriteString(s.word() + "." + r.sep())
			for j, name := range names {
				b.WriteString(r.filler(s, n/4, itoa(j)) + r.sep() + needle.Sentence(name, codes[j]) + r.sep())
			}
			text := b.String() + r.filler(s, n/2, "end")
			tail := k % 2
			return query{
				chat:  chat(text + r.asked(names[tail])),
				judge: recall(needle.Truth{Name: names[tail], Code: codes[tail], Others: []string{codes[1-tail]}}),
			}, nil
		}})
	}
	return u
}

// pictures asks about a red and about a blue square behind one text: the answers must differ. A server without pictures
// refuses, which leaves the arms unmeasured.
func (t *task) pictures(i int) unit {
	u := unit{id: t.id("pictures-%d", i), settle: func(rs []Record) {
		same := rs[0].Hash == rs[1].Hash
		for k := range rs {
			if rs[k].Error != "" || rs[k].Text == "" {
				rs[1].Verdict = Verdict{Class: string(needle.Unmeasured)}
				return
			}
		}
		rs[1].Verdict = Verdict{Class: string(needle.Exact), Right: true, Measured: true}
		if same {
			rs[1].Verdict = Verdict{Class: string(needle.OtherCode), Measured: true}
		}
	}}
	for k, arm := range []string{"image-a", "image-b"} {
		u.steps = append(u.steps, step{arm: arm, tokens: 300, make: func(_ context.Context, s salt) (query, error) {
			c := color.RGBA{R: 255, A: 255}
			if k == 1 {
				c = color.RGBA{B: 255, A: 255}
			}
			url, err := square(c)
			if err != nil {
				return query{}, err
			}
			text := s.word() + ". " + t.r.filler(s, 200) + t.r.sep() + "What does the image show? Answer with its colour only."
			parts := []any{
				map[string]any{"type": "text", "text": text},
				map[string]any{"type": "image_url", "image_url": map[string]any{"url": url}},
			}
			body := t.exact("", ask.AnswerTokens, map[string]any{"temperature": 0})
			body["messages"] = []any{map[string]any{"role": "user", "content": parts}}
			return query{once: true, post: body, judge: func(a endpoint.Answer) Verdict {
				return Verdict{Class: string(needle.Exact), Right: a.Text != "", Measured: a.Text != ""}
			}}, nil
		}})
	}
	return u
}

// square is a picture of one colour as a data URL.
func square(c color.Color) (string, error) {
	img := image.NewRGBA(image.Rect(0, 0, 32, 32))
	draw.Draw(img, img.Bounds(), image.NewUniform(c), image.Point{}, draw.Src)
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		return "", err
	}
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes()), nil
}
