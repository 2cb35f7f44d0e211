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
		cost: func(r *Runner) Cost {
			return asks(4*r.s.reps, 1024).plus(asks(12, 300)).plus(asks(meeting*r.s.reps, longShared(r)))
		},
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
			units = nil
			for i := range t.r.s.reps {
				units = append(units, t.meetUnit(i))
			}
			if _, err = t.take(ctx, units...); err != nil {
				return err
			}
			_, err = t.take(ctx, t.pictures(0), t.pictures(1), t.pictures(2), t.pictures(3))
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

// meeting is how many requests with one new beginning are sent at one moment.
const meeting = 4

// longShared is a prefix that takes a server more than one step to compute, where the edge leaves room for it.
func longShared(r *Runner) int { return r.under(6144) }

// meetUnit asks several questions behind one long prefix that nobody sent before, all at one moment: those that come
// while it is being computed must not read what is not yet there.
func (t *task) meetUnit(i int) unit {
	r := t.r
	n := longShared(r)
	u := unit{id: t.id("meet/%d", i), together: true}
	for k := range meeting {
		ask := func(_ context.Context, s salt) (query, error) {
			names := r.names(s, meeting)
			var b strings.Builder
			b.WriteString(s.word() + "." + r.sep())
			var others []string
			for j, name := range names {
				b.WriteString(r.filler(s, n/(meeting+1), itoa(j)) + r.sep() + needle.Sentence(name, s.code(itoa(j))) + r.sep())
				if j != k {
					others = append(others, s.code(itoa(j)))
				}
			}
			return query{
				chat:  chat(b.String() + r.filler(s, n/(meeting+1), "end") + r.asked(names[k])),
				judge: recall(needle.Truth{Name: names[k], Code: s.code(itoa(k)), Others: others}),
			}, nil
		}
		u.steps = append(u.steps, step{arm: "meet", at: meeting, tokens: n, make: ask})
	}
	return u
}

// pictures asks about a red and about a blue square behind one text, or before it: the answers must differ, and the
// second must not be about the first. A third question shows the blue one beside another text: where that is answered
// like the first, the model does not see pictures, and nothing is measured. A server without pictures refuses.
func (t *task) pictures(i int) unit {
	u := unit{id: t.id("pictures-%d", i), settle: seenApart}
	for k, arm := range []string{"image-a", "image-b", "image-other"} {
		u.steps = append(u.steps, step{arm: arm, tokens: 300, make: func(_ context.Context, s salt) (query, error) {
			c := color.RGBA{B: 255, A: 255}
			if k == 0 {
				c = color.RGBA{R: 255, A: 255}
			}
			url, err := square(c)
			if err != nil {
				return query{}, err
			}
			var text string
			if k < 2 {
				text = s.word() + ". " + t.r.filler(s, 200)
			} else {
				text = s.word("other") + ". " + t.r.filler(s, 200, "other")
			}
			text += t.r.sep() + "What does the image show? Answer with its colour only."
			words := map[string]any{"type": "text", "text": text}
			picture := map[string]any{"type": "image_url", "image_url": map[string]any{"url": url}}
			parts := []any{words, picture}
			if i%2 == 1 {
				parts = []any{picture, words}
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

// seenApart judges the answers about two pictures behind one text by each other.
func seenApart(rs []Record) {
	blind := rs[0].Hash == rs[2].Hash
	for _, v := range rs {
		blind = blind || v.Error != "" || v.Text == ""
	}
	if blind {
		for k := range rs {
			rs[k].Verdict = Verdict{Class: string(needle.Unmeasured)}
		}
		return
	}
	red := func(v Record) bool { return strings.Contains(strings.ToLower(v.Text), "red") }
	if rs[1].Hash == rs[0].Hash || red(rs[0]) && red(rs[1]) && !red(rs[2]) {
		rs[1].Verdict = Verdict{Class: string(needle.OtherCode), Measured: true}
	}
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
