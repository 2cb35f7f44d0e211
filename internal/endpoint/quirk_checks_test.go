package endpoint

import (
	"strings"
	"testing"

	"github.com/assay-suite/assay/internal/wire"
)

// What rows of TestEveryQuirk check beside class, text and notes.

func usageUnknown(t *testing.T, a Answer, _ error) {
	t.Helper()
	if a.Usage != (Usage{}) {
		t.Errorf("usage %+v, want all unknown", a.Usage)
	}
}

func cachedUnknown(t *testing.T, a Answer, _ error) {
	t.Helper()
	if a.Usage.Cached.Known || !a.Usage.Prompt.Known {
		t.Errorf("usage %+v, want cached unknown and the rest known", a.Usage)
	}
}

func reasoningFound(t *testing.T, a Answer, _ error) {
	t.Helper()
	if a.Reasoning != wire.Reasoning {
		t.Errorf("reasoning %q, want %q", a.Reasoning, wire.Reasoning)
	}
}

func message(part string) func(*testing.T, Answer, error) {
	return func(t *testing.T, _ Answer, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v, want one with %q", err, part)
		}
	}
}

func twoCalls(t *testing.T, a Answer, _ error) {
	t.Helper()
	if len(a.ToolCalls) != 2 {
		t.Errorf("%d tool calls, want 2: %+v", len(a.ToolCalls), a.ToolCalls)
		return
	}
	for i, want := range []string{`{"city":"Zürich"}`, `{"city":"Bern"}`} {
		if c := a.ToolCalls[i]; c.Name != "find" || c.Arguments != want || !c.Valid {
			t.Errorf("tool call %d is %+v, want find with %s", i, c, want)
		}
	}
}

func overflow(prompt, completion, window bool) func(*testing.T, Answer, error) {
	return func(t *testing.T, _ Answer, err error) {
		t.Helper()
		o, ok := OverflowOf(err)
		if !ok || o.Prompt.Known != prompt || o.Completion.Known != completion || o.Window.Known != window {
			t.Errorf("overflow %+v, %v of %v", o, ok, err)
		}
		if window && o.Window.N != 64 || completion && o.Completion.N != 32 {
			t.Errorf("overflow %+v, want a window of 64 and 32 tokens asked for", o)
		}
	}
}

func tries(n, sheds int) func(*testing.T, Answer, error) {
	return func(t *testing.T, a Answer, _ error) {
		t.Helper()
		if a.Exchange.Tries != n || a.Exchange.Sheds != sheds {
			t.Errorf("%d tries of which %d shed, want %d and %d", a.Exchange.Tries, a.Exchange.Sheds, n, sheds)
		}
	}
}

func shape(want Shape) func(*testing.T, Answer, error) {
	return func(t *testing.T, a Answer, _ error) {
		t.Helper()
		if a.Shape != want || (want == ShapeContent || want == ShapeLegacy) != (len(a.Tokens) > 0) {
			t.Errorf("shape %q with %d tokens, want %q", a.Shape, len(a.Tokens), want)
		}
		if want == ShapeLegacy && (a.Tokens[0].Text != "The" || a.Tokens[0].Logprob != -0.125 || len(a.Tokens[0].Top) != 5) {
			t.Errorf("first token %+v", a.Tokens[0])
		}
	}
}

func loadingForEver(t *testing.T, a Answer, err error) {
	t.Helper()
	tries(121, 121)(t, a, err) // ten minutes, a look each 5 s
	message("still loading its model after 10m0s")(t, a, err)
}

func noKeyHint(t *testing.T, _ Answer, err error) {
	t.Helper()
	if err == nil || strings.Contains(err.Error(), "OPENAI_API_KEY") || !strings.Contains(err.Error(), "logprobs") {
		t.Errorf("error %v, want one about logprobs and not about the key", err)
	}
}

func sentField(with, without string) func(*testing.T, Answer, error) {
	return func(t *testing.T, a Answer, _ error) {
		t.Helper()
		body := string(a.Exchange.Request)
		if !strings.Contains(body, `"`+with+`"`) || strings.Contains(body, `"`+without+`"`) {
			t.Errorf("sent %s, want %s and not %s", body, with, without)
		}
	}
}

func commented(t *testing.T, a Answer, _ error) {
	t.Helper()
	if a.Exchange.Comments < 400 || a.Exchange.Total < 400*pause || len(a.Exchange.Response) > 1<<16 {
		t.Errorf("%d comments in %s, %d bytes kept", a.Exchange.Comments, a.Exchange.Total, len(a.Exchange.Response))
	}
}

func late(t *testing.T, a Answer, _ error) {
	t.Helper()
	if a.Exchange.Wait != pause || a.Exchange.Tries != 1 {
		t.Errorf("first byte after %s at try %d, want %s at the first", a.Exchange.Wait, a.Exchange.Tries, pause)
	}
}

// neutral is checked where it was not asked for: the fields are the caller's choice, because strict servers refuse
// them.
func neutral(t *testing.T, a Answer, _ error) {
	t.Helper()
	if strings.Contains(string(a.Exchange.Request), "top_k") {
		t.Errorf("top_k was sent unasked: %s", a.Exchange.Request)
	}
}
