package endpoint

import (
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
func TestPairsOfQuirksNeverFalsifyAnAnswer(t *testing.T) {
	var all []string
	for _, q := range wire.Quirks() {
		for _, v := range q.Variants {
			all = append(all, q.Slug+"="+v)
		}
	}
	var pairs [][2]string
	for i, a := range all {
		for _, b := range all[i+1:] {
			if strings.Split(a, "=")[0] != strings.Split(b, "=")[0] {
				pairs = append(pairs, [2]string{a, b})
			}
		}
	}
	if budget, _ := os.LookupEnv("ASSAY_BUDGET"); budget != "full" {
		rng := rand.New(rand.NewPCG(5, 28))
		rng.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
		pairs = pairs[:400]
	}
	classes := map[Class]int{}
	for _, p := range pairs {
		synctest.Test(t, func(t *testing.T) {
			for _, stream := range []bool{false, true} {
				c, _ := quirky(t, wire.Options{Quirks: p[:]})
				s := Sampling{MaxTokens: 32, TopLogprobs: 5, Stream: stream}
				a, err := c.Chat(t.Context(), ChatRequest{Messages: ask("What is the code?"), Sampling: s})
				classes[ClassOf(a, err)]++
				whole(t, p, a, err)
				a, err = c.Complete(t.Context(), CompletionRequest{Prompt: "The code", Sampling: s})
				classes[ClassOf(a, err)]++
				whole(t, p, a, err)
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

func whole(t *testing.T, pair [2]string, a Answer, err error) {
	t.Helper()
	if ClassOf(a, err) != OK {
		return
	}
	text := a.Text
	if _, there := a.Noted(NoteReplaced); there { // not to be mended without the tokens' bytes, and said
		text = strings.NewReplacer("Z\ufffd\ufffdr", "Zür", "\ufffd\ufffd", "🙂").Replace(text)
	}
	if text != wire.Text && text != wire.Looped {
		t.Errorf("%v: answer %q, notes %+v", pair, a.Text, a.Notes)
	}
	if u := a.Usage; u.Completion.Known && u.Completion.N > 32 || u.Cached.Known && u.Cached.N > u.Prompt.N {
		t.Errorf("%v: usage %+v", pair, u)
	}
}

// Over sockets the classes are those of the memory transport.
func TestQuirksOverSockets(t *testing.T) {
	for _, name := range []string{"", "usage-without-choices", "comments", "no-done=closed", "dropped=middle", "dropped=before-headers", "late-headers", "error-in-stream", "overload=retry-after"} {
		t.Run(name, func(t *testing.T) {
			var quirks []string
			if name != "" {
				quirks = []string{name}
			}
			srv, err := wire.New(wire.Options{Quirks: quirks, Pause: 1})
			require.NoError(t, err)
			c, stop := overSocket(t, srv)
			defer stop()
			got := map[bool]Class{}
			for _, stream := range []bool{false, true} {
				a, err := c.Chat(t.Context(), ChatRequest{Messages: ask("What is the code?"), Sampling: Sampling{MaxTokens: 32, Stream: stream}})
				got[stream] = ClassOf(a, err)
			}
			want := map[bool]Class{false: OK, true: OK}
			switch name {
			case "dropped=middle", "dropped=before-headers":
				want = map[bool]Class{false: Dropped, true: Dropped}
			case "error-in-stream":
				want[true] = Failing
			case "overload=retry-after": // one try only, and the third request is let in
				want = map[bool]Class{false: Shed, true: Shed}
			}
			for _, stream := range []bool{false, true} {
				if got[stream] != want[stream] {
					t.Errorf("stream %v: class %q, want %q", stream, got[stream], want[stream])
				}
			}
		})
	}
}
