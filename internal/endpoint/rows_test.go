package endpoint

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/wire"
)

// What the identity says decides, and no request is sent: the client has no server.
func TestFlushIsReadOffTheIdentity(t *testing.T) {
	c := newTest(t, func(r *http.Request) (*http.Response, error) {
		t.Errorf("a request to %s was sent", r.URL.Path)
		return nil, errors.New("no server")
	}, Limits{MaxTries: 1})
	for name, row := range map[string]struct {
		id   Identity
		want Capability
	}{
		"vllm, development": {Identity{Kind: KindVLLM, Paths: []string{"/reset_prefix_cache", "/version"}}, Supported},
		"vllm":              {Identity{Kind: KindVLLM, Paths: []string{"/version"}}, Unsupported},
		"vllm, hidden":      {Identity{Kind: KindVLLM}, Unknown},
		"sglang":            {Identity{Kind: KindSGLang, Paths: []string{"/flush_cache"}}, Supported},
		"llama.cpp":         {Identity{Kind: KindLlamaCPP, Routes: []string{"/props", "/slots"}}, Supported},
		"llama.cpp, hidden": {Identity{Kind: KindLlamaCPP, Routes: []string{"/props"}}, Unknown},
		"unknown, has one":  {Identity{Kind: KindUnknown, Paths: []string{"/flush_cache"}}, Supported},
		"unknown, has none": {Identity{Kind: KindUnknown, Paths: []string{"/v1/models"}}, Unsupported},
		"unknown":           {Identity{Kind: KindUnknown}, Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			if f := c.probeFlush(t.Context(), "n", row.id); f.State != row.want || f.Detail == "" {
				t.Errorf("got %+v, want %s", f, row.want)
			}
		})
	}
}

// The identity routes are read and nothing else is, whatever the server; each by GET.
func TestIdentifyOnlyReads(t *testing.T) {
	for _, f := range []wire.Flavour{wire.Plain, wire.VLLM, wire.SGLang, wire.LlamaCPP} {
		c, s := quirky(t, wire.Options{Flavour: f})
		_, err := c.Identify(t.Context())
		require.NoError(t, err)
		for _, r := range s.Requests() {
			if r.Method != http.MethodGet || strings.Contains(r.Path, "flush") || strings.Contains(r.Path, "reset") {
				t.Errorf("%s: %s %s", f, r.Method, r.Path)
			}
		}
		if n := len(s.Requests()); n != len(identityRoutes) {
			t.Errorf("%s: %d requests, want %d", f, n, len(identityRoutes))
		}
	}
}

// Without a server there is no identity; with one that knows no route there is an empty one.
func TestIdentifyFailsOnlyWhereNobodyIs(t *testing.T) {
	gone := newTest(t, func(*http.Request) (*http.Response, error) {
		return nil, &UnreachableError{Host: "h", Err: errors.New("refused")}
	}, Limits{MaxTries: 1})
	if _, err := gone.Identify(t.Context()); !IsUnreachable(err) {
		t.Errorf("got %v, want an unreachable server", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := gone.Identify(ctx); err == nil {
		t.Error("a cancelled look gave an identity")
	}
}

func TestUsageAnywhere(t *testing.T) {
	k := func(n int) Count { return Count{n, true} }
	for name, row := range map[string]struct {
		more string // beside the choices
		want Usage
	}{
		"top":          {`"usage":{"prompt_tokens":9,"completion_tokens":2}`, Usage{Prompt: k(9), Completion: k(2)}},
		"details null": {`"usage":{"prompt_tokens":9,"prompt_tokens_details":null}`, Usage{Prompt: k(9)}},
		"cached zero": {
			`"usage":{"prompt_tokens":9,"prompt_tokens_details":{"cached_tokens":0}}`, Usage{Prompt: k(9), Cached: k(0)},
		},
		"floats":            {`"usage":{"prompt_tokens":9.0}`, Usage{Prompt: k(9)}},
		"negative":          {`"usage":{"prompt_tokens":-1}`, Usage{}},
		"text":              {`"usage":{"prompt_tokens":"9","completion_tokens":2}`, Usage{Completion: k(2)}},
		"not an object":     {`"usage":7`, Usage{}},
		"false":             {`"usage":false`, Usage{}},
		"reasoning":         {`"usage":{"completion_tokens_details":{"reasoning_tokens":4}}`, Usage{Reasoning: k(4)}},
		"reasoning, beside": {`"usage":{"reasoning_tokens":4}`, Usage{Reasoning: k(4)}},
		"timings":           {`"timings":{"cache_n":128,"prompt_n":2}`, Usage{Cached: k(128)}},
		"timings, after": {
			`"usage":{"prompt_tokens_details":{"cached_tokens":5}},"timings":{"cache_n":128}`, Usage{Cached: k(5)},
		},
		"nothing": {`"id":7`, Usage{}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTest(t, func(*http.Request) (*http.Response, error) {
				return respond(200, nil, strings.NewReader(`{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}],`+
					row.more+`}`)), nil
			}, Limits{})
			a, err := c.Chat(t.Context(), hello())
			require.NoError(t, err)
			if d := cmp.Diff(row.want, a.Usage); d != "" {
				t.Errorf("usage (-want +got):\n%s", d)
			}
		})
	}
}

func TestRetryAfterForms(t *testing.T) {
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	for in, want := range map[string]time.Duration{
		"7": 7 * time.Second, " 0 ": 0, "Sun, 29 Nov 2026 12:01:30 GMT": 90 * time.Second, "Sun, 29 Nov 2026 11:00:00 GMT": 0,
		"": -1, "-3": -1, "soon": -1, "1e9": -1, "99999999999": -1,
	} {
		got, ok := retryAfter(in, now)
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: got %s, %v; want %s", in, got, ok, want)
		}
	}
}

// A prompt counted by any flavour has the words of the prompt, and by plain is not counted.
func TestTokenizeByFlavour(t *testing.T) {
	for flavour, want := range map[wire.Flavour][2]int{ // a text of 4 words; a chat of these, its role and 7 marks
		wire.VLLM: {4, 12}, wire.SGLang: {4, 12}, wire.LlamaCPP: {4, 5}, wire.Plain: {0, 0},
	} {
		t.Run(string(flavour), func(t *testing.T) {
			c, _ := quirky(t, wire.Options{Flavour: flavour})
			text, err := c.TokenizeText(t.Context(), "what is the code")
			require.NoError(t, err)
			chat, err := c.TokenizeChat(t.Context(), ask("what is the code"))
			require.NoError(t, err)
			known := flavour != wire.Plain
			if text.Supported != known || chat.Supported != known || text.Count != want[0] || chat.Count != want[1] ||
				len(text.IDs) != want[0] {
				t.Errorf("text %+v, chat %+v; want %v", text, chat, want)
			}
		})
	}
}

// Overload is counted apart from failure, over all requests.
func TestShedsAreCounted(t *testing.T) {
	c, _ := quirky(t, wire.Options{Quirks: []string{"overload=429"}})
	c.wire.limits.MaxTries = 1
	for range 3 {
		if _, err := c.Chat(t.Context(), hello()); !IsShed(err) {
			t.Errorf("got %v, want overload", err)
		}
	}
	if c.Sheds() != 3 || c.Requests() != 3 || c.Retries() != 0 {
		t.Errorf("%d shed of %d requests, %d retries", c.Sheds(), c.Requests(), c.Retries())
	}
}
