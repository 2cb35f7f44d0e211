package endpoint

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/wire"
)

// Prefill takes longer for longer prompts, and so does the wait for the first byte: one second for each KiB.
func TestFirstByteLimitGrowsWithThePrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTest(t, func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}, Limits{FirstByte: time.Minute})
		r := hello()
		r.Messages[0].Content = strings.Repeat("x", 100<<10)
		began := time.Now()
		a, err := c.Chat(t.Context(), r)
		want := time.Minute + time.Duration(len(a.Exchange.Request)/1024)*time.Second
		if got := time.Since(began); got != want || want < 160*time.Second {
			t.Errorf("gave up after %s, want %s", got, want)
		}
		if ClassOf(a, err) != Silent || a.Exchange.Tries != 1 {
			t.Errorf("class %q after %d tries: %v", ClassOf(a, err), a.Exchange.Tries, err)
		}
	})
}

// A finished answer that is kept alive for ever ends after Limits.Linger: comments are life for what is to come only.
func TestCommentsDoNotKeepAFinishedAnswerOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pieces := []string{`data: {"choices":[{"delta":{"content":"1"},"finish_reason":"stop"}]}` + "\n\n"}
		for range 1000 {
			pieces = append(pieces, ": still there\n\n")
		}
		c := newTest(t, func(r *http.Request) (*http.Response, error) {
			return respond(200, http.Header{"Content-Type": {"text/event-stream"}}, &drip{
				ctx:    r.Context(),
				pause:  time.Second,
				pieces: pieces,
			}), nil
		}, Limits{})
		r := hello()
		r.Stream = true
		began := time.Now()
		a, err := c.Chat(t.Context(), r)
		if got := time.Since(began); ClassOf(a, err) != OK || got != 6*time.Second {
			t.Errorf("class %q after %s (%v), want an answer after a second and five more", ClassOf(a, err), got, err)
		}
	})
}

// A stream is one by what it holds, where the server does not name its type.
func TestStreamWithoutItsType(t *testing.T) {
	const body = `data: {"choices":[{"delta":{"content":"12"},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	for name, row := range map[string]struct {
		kind, body string
		stream     bool
	}{
		"no type":        {"", body, true},
		"text":           {"text/plain", body, true},
		"comments first": {"text/plain", ": hello\n\n" + body, true},
		"byte order":     {"text/event-stream", "\ufeff" + body, true},
		"not streamed":   {"application/json", plainAnswer, false},
		"with blanks":    {"", "\n" + plainAnswer, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTest(t, func(*http.Request) (*http.Response, error) {
				return respond(200, http.Header{"Content-Type": {row.kind}}, strings.NewReader(row.body)), nil
			}, Limits{})
			r := hello()
			r.Stream = true
			a, err := c.Chat(t.Context(), r)
			require.NoError(t, err)
			if a.Text != "12" || a.Exchange.Stream != row.stream ||
				len(a.Exchange.Response) != len(row.body) && name != "byte order" {
				t.Errorf("text %q, stream %v, %d of %d bytes kept", a.Text, a.Exchange.Stream, len(a.Exchange.Response),
					len(row.body))
			}
		})
	}
}

// A stream is read to its end, so that its connection serves the next request.
func TestStreamsShareAConnection(t *testing.T) {
	h, err := wire.New(wire.Options{})
	require.NoError(t, err)
	var opened atomic.Int64
	srv := httptest.NewUnstartedServer(h)
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			opened.Add(1)
		}
	}
	srv.Start()
	defer srv.Close()
	c, err := New(Options{BaseURL: srv.URL, Model: "wire"})
	require.NoError(t, err)
	for i := range 10 {
		_, err := c.Chat(t.Context(), ChatRequest{
			Messages: ask("What is the code?"),
			Sampling: Sampling{MaxTokens: 32, Stream: i%2 == 0},
		})
		require.NoError(t, err)
	}
	if n := opened.Load(); n != 1 {
		t.Errorf("%d connections for 10 requests in a row, want 1", n)
	}
}

// A connection that is lost at once is tried again; one that is lost during prefill is not.
func TestLostDuringPrefillIsNotAskedAgain(t *testing.T) {
	for name, row := range map[string]struct {
		after time.Duration
		tries int
	}{"at once": {0, 4}, "after a minute": {time.Minute, 1}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newTest(t, func(*http.Request) (*http.Response, error) {
					time.Sleep(row.after)
					return nil, &net.OpError{Op: "read", Err: io.EOF}
				}, Limits{})
				a, err := c.Chat(t.Context(), hello())
				if ClassOf(a, err) != Dropped || a.Exchange.Tries != row.tries {
					t.Errorf("class %q after %d tries, want truncated after %d", ClassOf(a, err), a.Exchange.Tries, row.tries)
				}
			})
		})
	}
}

func TestClassesOfErrors(t *testing.T) {
	for name, row := range map[string]struct {
		err  error
		want Class
	}{
		"unreachable":      {&UnreachableError{Host: "h", Err: io.EOF}, Unreached},
		"silence":          {&SilenceError{Phase: "idle"}, Silent},
		"cut":              {&TruncatedError{}, Dropped},
		"nothing":          {&TruncatedError{Nothing: true}, Failing},
		"large":            {&TooLargeError{}, Large},
		"cancelled":        {context.Canceled, Cancelled},
		"deadline":         {context.DeadlineExceeded, Cancelled},
		"redirect":         {&StatusError{Status: 302, Where: "status"}, Refused},
		"404":              {&StatusError{Status: 404, Where: "status"}, Refused},
		"500":              {&StatusError{Status: 500, Where: "status"}, Failing},
		"500, a 400":       {&StatusError{Status: 500, Code: 400, Where: "status"}, Refused},
		"500, loading":     {&StatusError{Status: 500, Message: "Loading model", Where: "status"}, Shed},
		"500, kernels":     {&StatusError{Status: 500, Message: "loading of the kernel failed", Where: "status"}, Failing},
		"503":              {&StatusError{Status: 503, Where: "status"}, Shed},
		"200, 429 inside":  {&StatusError{Status: 200, Code: 429, Where: "body"}, Shed},
		"200, an error":    {&StatusError{Status: 200, Where: "stream"}, Failing},
		"anything else":    {errors.New("what"), Malformed},
		"a history":        {&HistoryError{&StatusError{Status: 400, Where: "status"}}, History},
		"too long, in 400": {&StatusError{Status: 400, Message: "prompt is too long", Where: "status"}, TooLong},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ClassOf(Answer{}, row.err); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

// Each form of an empty assistant turn is refused by the servers that refuse it and by no other; the reasoning of the
// turn satisfy the servers that ask for them.
func TestHistoryForms(t *testing.T) {
	forms := map[string]ContentForm{"no-null": AsNull, "no-empty": AsText, "no-absent": AsAbsent}
	chat := func(t *testing.T, quirk string, turn Message) Class {
		t.Helper()
		turn.Role, turn.ToolCalls = "assistant", []ToolCall{{ID: "c", Name: "find", Arguments: "{}"}}
		c, _ := quirky(t, wire.Options{Quirks: []string{quirk}})
		a, err := c.Chat(t.Context(), ChatRequest{
			Messages: []Message{{Role: "user", Content: "a"}, turn, {Role: "tool", Content: "b", ToolCallID: "c"}},
			Sampling: Sampling{MaxTokens: 32},
		})
		return ClassOf(a, err)
	}
	for server := range forms {
		for sent, form := range forms {
			want := OK
			if server == sent {
				want = History
			}
			if got := chat(t, "assistant-content="+server, Message{Form: form}); got != want {
				t.Errorf("server %s, form %s: %q, want %q", server, sent, got, want)
			}
		}
	}
	for _, row := range []struct {
		quirk string
		turn  Message
		want  Class
	}{
		{"history-needs-reasoning", Message{}, History},
		{"history-needs-reasoning", Message{Reasoning: "t"}, OK},
		{"reasoning-field=history-reasoning", Message{Reasoning: "t", Field: FieldReasoning}, OK},
		{"reasoning-field=history-reasoning", Message{Reasoning: "t", Field: FieldReasoningContent}, History},
		{"reasoning-field=history-reasoning-content", Message{Reasoning: "t", Field: FieldReasoning}, History},
		{"reasoning-field=history-reasoning-content", Message{Reasoning: "t"}, OK},
	} {
		if got := chat(t, row.quirk, row.turn); got != row.want {
			t.Errorf("%s, %+v: %q, want %q", row.quirk, row.turn, got, row.want)
		}
	}
}

// With every field sent, a checkpoint's sampling defaults change nothing.
func TestNeutralSamplingLeavesNothingToTheServer(t *testing.T) {
	for neutral, want := range map[bool]string{true: wire.Text, false: wire.Looped} {
		c, _ := quirky(t, wire.Options{Quirks: []string{"defaults"}})
		a, err := c.Chat(t.Context(), ChatRequest{
			Messages: ask("What is the code?"),
			Sampling: Sampling{MaxTokens: 32, Neutral: neutral},
		})
		require.NoError(t, err)
		assert.Equal(t, want, a.Text, "neutral %v", neutral)
	}
}

// A server that fails with log-probabilities alone still answers, and the table says which of the two fails.
func TestPreflightWithFailingLogprobs(t *testing.T) {
	for quirk, want := range map[string]Capability{
		"logprobs=500": Failed, "logprobs=400": Unsupported, "logprobs=null": Unsupported, "logprobs=infinity": Supported,
	} {
		c, _ := quirky(t, wire.Options{Flavour: wire.VLLM, Quirks: []string{quirk}})
		p, err := c.Preflight(t.Context(), "n")
		require.NoError(t, err, quirk)
		if p.State("logprobs") != want || p.State("chat") != Supported {
			t.Errorf("%s: logprobs %s, chat %s; want %s and supported", quirk, p.State("logprobs"), p.State("chat"), want)
		}
	}
}

// Whatever a server sends, the reader ends with an answer or an error, and does not panic.
func FuzzAnswers(f *testing.F) {
	f.Add([]byte(plainAnswer))
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"content\":\"\\ud83d\"},\"finish_reason\":\"stop\"}]}\n\ndata: " +
		"[DONE]\n\n"))
	f.Add([]byte(":\n\nevent: error\ndata: {}\n\n"))
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":-1,\"function\":[]},{}]}}]}\ndata: " +
		"{\"usage\":{\"prompt_tokens\":-1}}\n"))
	f.Add([]byte("{\"choices\":[{\"message\":{\"content\":[{\"text\":1}]},\"logprobs\":{\"tokens\":[\"a\"]," +
		"\"content\":[{}]}}]}"))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, kind := range []string{"application/json", "text/event-stream"} {
			c := newTest(t, func(*http.Request) (*http.Response, error) {
				return respond(200, http.Header{"Content-Type": {kind}}, bytes.NewReader(body)), nil
			}, Limits{MaxTries: 1})
			a, err := c.Chat(t.Context(), hello())
			if class := ClassOf(a, err); class == Unreached || class == Cancelled || class == Silent {
				t.Errorf("class %q for a body that was read: %v", class, err)
			}
		}
	})
}
