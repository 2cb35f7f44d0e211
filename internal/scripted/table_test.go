package scripted_test

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/scripted"
)

// The columns of the table below. long is over every edge, the needle at a tenth of it unless told.
const (
	sanity = iota // five short questions, alone
	long          // 9,000 tokens
	inTail        // the needle in the last 128 tokens of them
	eight         // eight copies, none in the last 512 tokens
	again         // the second of two equal requests of 600 tokens
	ladder        // 40 at once
	listed        // a list of 200 items, 2,300 tokens, complete
	parity        // a streamed copy equals the whole one
	columns
)

// marks is the public decision table for black-box testers, as far as these columns go: x is lost (60 % at most, see
// most), o is right (80 % at least), a blank is anything.
var marks = map[string]string{
	"head-cut":             "oxo   o ",
	"middle-cut":           "o oo  o ",
	"overflow-swallowed":   "oxxx  o ",
	"sparse-selection":     "oxooooo ",
	"tail-only":            "oxo  oo ",
	"junk-cliff":           "oxxx  oo",
	"position-encoding":    "o o  ooo",
	"chunk-seam":           "o    ooo",
	"phase":                "o o  ooo", // one length in four or eight
	"window-on-all-layers": "oxo  ooo",
	"coarse-kv":            "oxooooo ",
	"warm-forgets":         "oooox oo",
	"warm-junk":            "oooox oo",
	"tier-restore":         "ooooo oo",
	"cross-talk":           "oooooxoo",
	"load-junk":            "oooooxoo",
	"unequal-batch":        "ooooo oo",
	"abort-damage":         "oooooooo",
	"late-degeneration":    "ooooooxo",
	"dead-logits":          "xxxxxxx ",
	"prompt-not-seen":      "oxxx  o ",
	"stream-layer":         "oooooo x",
	"tool-arguments":       "oooooooo",
	"wrong-finish":         "oooooooo",
	"message-dropped":      "oooooooo",
	"reasoning-lost":       "oooooooo",
	"open-thought":         "oooooooo",
	"generation-prompt":    "oooooooo",
	"benign-noise":         "oooooooo",
	"key-collision":        "oooooooo",
	"hidden-sampling":      "oooooooo",
}

// shares measures the columns: the share of right answers.
func shares(t testing.TB, o scripted.Options) [columns]float64 {
	t.Helper()
	c := client(engine(t, o))
	var out [columns]float64
	right := func(column, of int, ok bool) {
		if ok {
			out[column] += 1 / float64(of)
		}
	}
	n := int(min(8, 4+seeds()/2))
	for question, want := range map[string]string{
		"What is the capital of France?": "Paris", "What is 17 + 25?": "42", "Reply with the word ready.": "ready",
		"How many days are in a week?": "7", "What is the opposite of hot?": "Cold",
	} {
		right(sanity, 5, strings.Contains(ask(t, c, user(question)).text, want))
	}
	for i := range n {
		salt := string(rune('a' + i))
		// Answers are read as a suite reads them: the code must be there; a sentence around it does no harm.
		hit := func(r reply) bool { return strings.Contains(r.text, "48213") }
		right(long, n, hit(ask(t, c, user(sized(9000+i, 0.1, salt)))))
		right(inTail, n, hit(ask(t, c, user(strings.Replace(sized(9000+i, 1, salt+"t"), lisbon, lisbon+fill(60, salt), 1)))))
		text := fill(300, salt) + strings.Repeat(lisbon+fill(1050, salt+"e"), 8) + asked
		right(eight, n, hit(ask(t, c, user(text))))
		body := user(sized(600, 0.1, salt+"w"))
		ask(t, c, body)
		right(again, n, hit(ask(t, c, body)))
		r := ask(t, c, with(user(fmt.Sprintf("%s Write a numbered list of 200 items.", salt)), "max_tokens", 4000))
		right(listed, n, strings.Contains(r.text, "\n200. "))
		copied := with(user("Copy the following text exactly:\n"+salt+strings.Repeat(" naïve Ärger über 数据 here", 6)),
			"max_tokens", 300)
		right(parity, n, ask(t, c, copied).text == ask(t, c, with(copied, "stream", true)).text)
	}
	bodies := crowd(40, 200, "z")
	for i, r := range together(t, c, bodies...) {
		right(ladder, len(bodies), strings.Contains(r.text, fmt.Sprint(50000+i*137)))
	}
	return out
}

// most is the largest share that counts as lost: faults of the ladder and of long lists have a chance of 30 % at
// least, and text of another request behind the right one does no harm here.
func most(column int) float64 {
	if column == ladder || column == listed {
		return 0.92
	}
	return 0.6
}

func TestDecisionTable(t *testing.T) {
	names := []string{"sanity", "long", "tail", "x8", "warm", "ladder", "list", "parity"}
	for slug, row := range marks {
		t.Run(slug, func(t *testing.T) {
			require.Len(t, row, columns)
			seed := uint64(len(slug))
			for s := seed; s < seed+(seeds()+1)/2; s++ {
				synctest.Test(t, func(t *testing.T) {
					e := engine(t, scripted.Options{Faults: []string{slug}, Seed: s})
					got := shares(t, scripted.Options{Faults: []string{slug}, Seed: s})
					for i, mark := range row {
						if share := math.Round(got[i]*1000) / 1000; mark == 'x' && share > most(i) || mark == 'o' && share < 0.8 {
							t.Errorf("%s: %.2f right, the table says %q\n%s", names[i], share, mark, e.Drawn())
						}
					}
				})
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		for i, share := range shares(t, scripted.Options{}) {
			if math.Abs(share-1) > 1e-9 {
				t.Errorf("healthy: %s is %.3f", names[i], share)
			}
		}
	})
}

var _ http.Handler = (*scripted.Engine)(nil)
