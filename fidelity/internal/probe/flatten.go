package probe

import (
	"context"
	"strings"

	"github.com/assay-suite/assay/fidelity/evidence"
)

// flatten asks for the ledger's facts in one message, cold: what fails there as well is no matter of turns.
func flatten() probe {
	return probe{
		name: evidence.Flat,
		cost: func(r *Runner) Cost { return asks(depth(r), depth(r)*(turnTokens+40)/2+200).times(ledgers(r)) },
		run: func(ctx context.Context, t *task) error {
			var units []unit
			for i := range ledgers(t.r) {
				for k := range depth(t.r) {
					units = append(units, one(t.id("%d/%d", i, k+1), step{
						arm:    "flat",
						tokens: (k+1)*(turnTokens+40) + 60,
						make: func(_ context.Context, s salt) (query, error) {
							b := t.r.book(s, depth(t.r))
							j := b.asks(k + 1)
							return query{
								chat:  chat(s.word() + ". " + strings.Join(b.texts[:k+1], t.r.sep()) + t.r.asked(b.names[j])),
								judge: b.judge(j),
							}, nil
						},
					}))
				}
			}
			rss, err := t.take(ctx, units...)
			least := 0.0
			for i, rs := range rss {
				for _, v := range rs {
					// The same facts in a chat take the same tokens and the frames of the turns.
					chat := t.r.grown[[2]int{i / depth(t.r), i%depth(t.r) + 1}]
					if share := float64(chat) / float64(v.Prompt); chat > 0 && v.Prompt > 0 && (least == 0 || share < least) {
						least = share
						t.number("chat-share", share)
						t.number("chat-share-at", float64(i%depth(t.r)+1))
					}
					k := i%depth(t.r) + 1
					v.Arm, v.At = "flat-"+itoa(k), float64(k)
					t.count(v)
				}
			}
			return err
		},
	}
}
