package endpoint

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/wire"
)

// Any two quirks together, from both routes, whole and streamed: the request ends, in a class, and what is called
// an answer is the whole answer. A part of it, a doubled text or a thought in the text would be a false verdict.
// By default one pair of variants for each pair of quirks; with the full budget all of them.
func TestPairsOfQuirksNeverFalsifyAnAnswer(t *testing.T) {
	var pairs [][2]string
	rng := rand.New(rand.NewPCG(5, 28))
	budget, _ := os.LookupEnv("ASSAY_BUDGET")
	all := wire.Quirks()
	for i, a := range all {
		for _, b := range all[i+1:] {
			one, two := rng.IntN(len(a.Variants)), rng.IntN(len(b.Variants))
			for j, v := range a.Variants {
				for k, w := range b.Variants {
					if budget == "full" || j == one && k == two {
						pairs = append(pairs, [2]string{a.Slug + "=" + v, b.Slug + "=" + w})
					}
				}
			}
		}
	}
	classes := map[Class]int{}
	for _, p := range pairs {
		synctest.Test(t, func(t *testing.T) {
			for _, stream := range []bool{false, true} {
				c, _ := quirky(t, wire.Options{Quirks: p[:]})
				s := Sampling{MaxTokens: 32, TopLogprobs: 5, Stream: stream}
				chat, err := c.Chat(t.Context(), ChatRequest{Messages: ask("What is the code?"), Sampling: s})
				class := ClassOf(chat, err)
				complete, err := c.Complete(t.Context(), CompletionRequest{Prompt: "The code", Sampling: s})
				classes[class]++
				classes[ClassOf(complete, err)]++
				for _, a := range []Answer{chat, complete} {
					if why := falsified(a); why != "" {
						t.Errorf("%v, stream %v: %s", p, stream, why)
					}
				}
			}
		})
	}
	t.Logf("%d pairs: %v", len(pairs), classes)
	for _, c := range []Class{OK, Failing, Shed, Dropped, NullContent, Refused, Budget} {
		if classes[c] == 0 {
			t.Errorf("no pair ended as %q: the sample shows too little", c)
		}
	}
}

// falsified says what is wrong with an answer that is not empty.
func falsified(a Answer) string {
	if a.Text == "" {
		return ""
	}
	text := a.Text
	if _, there := a.Noted(NoteReplaced); there { // not to be mended without the tokens' bytes, and said
		text = strings.NewReplacer("Z\ufffd\ufffdr", "Zür", "\ufffd\ufffd", "🙂").Replace(text)
	}
	if text != wire.Text && text != wire.Looped {
		return fmt.Sprintf("answer %q, notes %+v", a.Text, a.Notes)
	}
	if u := a.Usage; u.Completion.N > 32 || u.Cached.N > u.Prompt.N {
		return fmt.Sprintf("usage %+v", u)
	}
	return ""
}

func TestFalsifiedSeesPlantedAnswers(t *testing.T) {
	for name, row := range map[string]struct {
		in  Answer
		bad bool
	}{
		"right":   {Answer{Text: wire.Text}, false},
		"nothing": {Answer{}, false},
		"split, and said": {
			Answer{Text: strings.Replace(wire.Text, "ü", "\ufffd\ufffd", 1), Notes: []Note{{NoteReplaced, ""}}},
			false,
		},
		"split in silence": {Answer{Text: strings.Replace(wire.Text, "ü", "\ufffd\ufffd", 1)}, true},
		"doubled":          {Answer{Text: wire.Text + wire.Text}, true},
		"a part":           {Answer{Text: wire.Text[:9]}, true},
		"a thought":        {Answer{Text: wire.Reasoning + wire.Text}, true},
		"usage counted up": {Answer{Text: wire.Text, Usage: Usage{Completion: Count{33, true}}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if why := falsified(row.in); (why != "") != row.bad {
				t.Errorf("got %q", why)
			}
		})
	}
}

// Over sockets the classes are those of the memory transport.
func TestQuirksOverSockets(t *testing.T) {
	both := func(c Class) [2]Class { return [2]Class{c, c} }
	for name, want := range map[string][2]Class{ // whole, streamed
		"":                       both(OK),
		"usage-without-choices":  both(OK),
		"comments":               both(OK),
		"no-done=closed":         both(OK),
		"late-headers":           both(OK),
		"dropped=middle":         both(Dropped),
		"dropped=before-headers": both(Dropped),
		"error-in-stream":        {OK, Failing},
		"overload=retry-after":   both(Shed), // one try only
	} {
		t.Run(name, func(t *testing.T) {
			var quirks []string
			if name != "" {
				quirks = []string{name}
			}
			srv, err := wire.New(wire.Options{Quirks: quirks, Pause: 1})
			require.NoError(t, err)
			c, stop := overSocket(t, srv)
			defer stop()
			for i, stream := range []bool{false, true} {
				a, err := c.Chat(t.Context(), ChatRequest{
					Messages: ask("What is the code?"),
					Sampling: Sampling{MaxTokens: 32, Stream: stream},
				})
				if got := ClassOf(a, err); got != want[i] {
					t.Errorf("stream %v: class %q (%v), want %q", stream, got, err, want[i])
				}
			}
		})
	}
}
