package probe

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/needle"
)

// countTo is how far the model counts: a list whose every item is known, so that its first wrong one is.
func countTo(r *Runner) int {
	if r.o.Budget == Full {
		return 999
	}
	return 400
}

// longAnswer has the model count, after a short and after a long prompt.
func longAnswer() probe {
	reps := func(r *Runner) int { return max(3, r.s.reps) }
	after := func(r *Runner) int { // prompt and answer must fit
		n := 4096
		if w := r.o.Survey.Window; w.Known {
			n = min(n, w.N-5*countTo(r)-128)
		}
		return r.under(n)
	}
	return probe{
		name: evidence.LongAnswer,
		skip: notIn(Smoke),
		cost: func(r *Runner) Cost { return asks(reps(r), 5*countTo(r)).plus(asks(reps(r), after(r)+5*countTo(r))) },
		run: func(ctx context.Context, t *task) error {
			n := countTo(t.r)
			t.number("asked", float64(n))
			var units []unit
			for i := range reps(t.r) {
				for _, arm := range []string{"alone", "after-long-prompt"} {
					tokens := 60
					if arm != "alone" {
						tokens = after(t.r)
					}
					units = append(units, one(t.id("%s/%d", arm, i), step{
						arm:    arm,
						tokens: tokens + 5*n,
						make: func(_ context.Context, s salt) (query, error) {
							text := s.word() + ". "
							if arm != "alone" {
								text += t.r.filler(s, tokens-60) + t.r.sep()
							}
							q := chat(fmt.Sprintf("%sCount from 1 to %d, one number a line, and write nothing else.", text, n))
							q.MaxTokens = 5 * n
							return query{chat: q, once: true, judge: func(a endpoint.Answer) Verdict { return counted(a, n) }}, nil
						},
					}))
				}
			}
			rss, err := t.take(ctx, units...)
			t.long(rss, n)
			return err
		},
	}
}

func (t *task) long(rss [][]Record, n int) {
	onset := math.Inf(1)
	sums := map[string]float64{"loops": 0, "foreign-script": 0, "skipped": 0, "early-end": 0}
	for _, rs := range rss {
		for _, v := range rs {
			if !v.Measured || v.Error != "" {
				continue
			}
			for name := range sums {
				sums[name] += v.Numbers[name]
			}
			if !v.Right {
				onset = math.Min(onset, v.Numbers["onset"])
			}
		}
	}
	for name, v := range sums {
		t.number(name, v)
	}
	if onset <= float64(n) {
		t.number("onset", onset)
	}
}

// counted reads a list of numbers: how many are right before the first that is not, and how it goes wrong.
func counted(a endpoint.Answer, n int) Verdict {
	text := needle.Visible(a.Text)
	v := Verdict{Measured: true, Numbers: map[string]float64{}}
	seen := map[int]bool{}
	onset, straight := 0, true
	for line := range strings.SplitSeq(text, "\n") {
		k, err := strconv.Atoi(strings.Trim(strings.TrimSpace(line), ".,"))
		if err != nil {
			straight = straight && strings.TrimSpace(line) == ""
			continue
		}
		seen[k] = true
		if straight = straight && k == onset+1; straight {
			onset = k
		}
	}
	v.Numbers["onset"] = float64(onset)
	for _, r := range text {
		if unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) {
			v.Numbers["foreign-script"] = 1
		}
	}
	if onset == n && v.Numbers["foreign-script"] == 0 {
		v.Class, v.Right = string(needle.Exact), true
		return v
	}
	switch {
	case loops(text):
		v.Numbers["loops"] = 1
		v.Class = string(needle.Junk)
	case seen[n]:
		v.Numbers["skipped"] = 1
		v.Class = string(needle.NearMiss)
	case a.Finish == "length":
		v.Class = string(needle.CutOff)
		v.Measured = onset == 0 || !straight // a right list that was cut says nothing
	default:
		v.Numbers["early-end"] = 1
		v.Class = string(needle.CutOff)
	}
	return v
}

// loops says that a text ends in one short phrase again and again.
func loops(text string) bool {
	text = strings.TrimSpace(text)
	const least = 5
	for period := 1; period <= 80; period++ {
		if n := least * period; n <= len(text) && n >= 20 {
			tail := text[len(text)-n:]
			if tail[period:] == tail[:n-period] {
				return true
			}
		}
	}
	return false
}
